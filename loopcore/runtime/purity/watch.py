"""Watching a function: which of its calls reach the world, and what it leaves changed."""

import builtins
import dis
import gc
import inspect
import random
import sys
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, Final, Self

from attrs import frozen

from loopcore.hooks.code import base, code_of, package_of
from loopcore.runtime.purity.around import Print, Root, changed, prints
from loopcore.runtime.purity.places import is_own
from loopcore.runtime.purity.printing import is_in_memory
from loopcore.runtime.purity.world import (
    SETTINGS,
    World,
    called_as,
    keeps_to_itself,
    named_as,
    world_of_builtin,
    world_of_code,
)


@frozen
class Reach:
    """What a function reached beside its arguments: of which world, how, where."""

    world: World
    how: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.how} at {base(self.file)}:{self.line}"


class Lookout:
    """While it is entered, whatever this function reaches beside its arguments is noted.

    `found` has each once, in the order of their places.

    Args:
        function: what is watched.
        around: whether it is also seen what is left changed in globals and closures.
    """

    def __init__(self, function: Callable[..., object], *, around: bool = True) -> None:
        self._function, self._around = function, around
        self._file = getattr(code_of(function), "co_filename", "")
        self._reached: dict[str, Reach] = {}
        self._made: list[random.Random] = []
        self._passed: dict[
            int, object
        ] = {}  # by their ids, and kept, so that these stay
        self._old: Any = sys.getprofile()

    @property
    def found(self) -> tuple[Reach, ...]:
        """What was reached."""
        return tuple(self._reached.values())

    @property
    def is_blind(self) -> bool:
        """Whether calls are not seen: a profiler in C is there, and could not be put back."""
        return self._old is not None and not callable(self._old)

    def __enter__(self) -> Self:
        self._before = self._prints()
        here = inspect.currentframe()
        self._old, self._outer = sys.getprofile(), here.f_back if here else None
        self._collects = gc.isenabled()
        gc.disable()  # what it calls back is not the function's own
        if not self.is_blind:
            sys.setprofile(self._event)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.is_blind:
            sys.setprofile(self._old)
        if self._collects:
            gc.enable()
        for root in changed(self._before, self._prints()):
            self._note(_left(root))
        del self._before, self._outer

    def _prints(self) -> dict[Root, Print]:
        return prints(self._function) if self._around else {}

    def _event(self, frame: FrameType, event: str, called: Any) -> None:  # noqa: ANN401  # as sys.setprofile gives it
        """What happens most is passed first: a watched call takes several times as long."""
        if event == "call":
            if id(frame.f_code) not in self._passed:
                self._called(frame)
        elif event == "c_call":
            owner: Any = getattr(called, "__self__", None)
            if owner.__class__ not in VALUES and id(called) not in self._passed:
                self._built_in(frame, called)

    def _built_in(self, frame: FrameType, called: Any) -> None:  # noqa: ANN401  # as above
        if frame is self._outer:
            return
        world = world_of_builtin(called, lambda: _arguments(frame))
        if world and not (self._is_its_own(called) or is_in_memory(called, frame)):
            self._reach(world, frame, called_as(called))
        elif getattr(called, "__self__", None) is builtins and not world:
            self._passed[id(called)] = called

    def _called(self, frame: FrameType) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        world = world_of_code(module, frame.f_code)
        if world:
            self._reach(world, frame)
        elif module == "random" and frame.f_code.co_qualname == "Random.seed":
            self._seeded(frame)
        else:
            self._passed[id(frame.f_code)] = frame.f_code

    def _seeded(self, frame: FrameType) -> None:
        """A generator that is given a seed here is as pure as that; one without may draw."""
        seeded = frame.f_locals["self"]
        self._made = [made for made in self._made if made is not seeded]
        if seeded is SHARED:
            self._reach("randomness", frame)
        elif frame.f_locals.get("a") is not None:
            self._made.append(seeded)

    def _is_its_own(self, called: Any) -> bool:  # noqa: ANN401  # a built-in function
        owner = getattr(called, "__self__", None)
        return any(owner is made for made in self._made)

    def _reach(self, world: World, frame: FrameType, called: str = "") -> None:
        """Note it, at the innermost line that is the function's own."""
        inner: FrameType | None = None
        for one in self._within(frame):
            top = package_of(one)
            own = is_own(one.f_code.co_filename)
            if (top in READERS and not own) or keeps_to_itself(top, world):
                return
            if own or one.f_code.co_filename == self._file:
                self._reach_from(one, world, inner, called)
                return
            inner = one

    def _reach_from(
        self, frame: FrameType, world: World, inner: FrameType | None, called: str
    ) -> None:
        """Note it at this line, which called `inner` or else what is written in C."""
        if world in SETTLED and not _is_asked(frame, inner):
            return
        how = _how(named_as(inner) if inner else called)
        self._note(Reach(world, how, frame.f_code.co_filename, frame.f_lineno))

    def _within(self, frame: FrameType) -> Iterator[FrameType]:
        """The frame and those around it, as far as the function that is watched."""
        one: FrameType | None = frame
        while one is not None and one is not self._outer:
            yield one
            one = one.f_back

    def _note(self, reach: Reach) -> None:
        """Note it; one call counts once, by what it reached first."""
        self._reached.setdefault(str(reach), reach)


def _is_asked(caller: FrameType, called: FrameType | None) -> bool:
    """Whether the function asks for that: by a library that is for it, or by itself.

    What stands at the head of a module that it imports is read where it is made.
    """
    if caller.f_code.co_name == "<module>":
        return False
    return called is None or package_of(called) in {package_of(caller), *SETTINGS}


SETTLED: Final = frozenset(("environment", "time zone"))
"""What a program may read as it is made, and libraries on their own account."""

SHARED: Final[object] = getattr(random.seed, "__self__", None)
"""The generator of the whole program: whoever seeds it changes what others draw."""


VALUES: Final = frozenset(
    (list, dict, tuple, set, frozenset, str, bytes, int, float, type(None))
)
"""Classes of values whose own functions reach nothing."""

READERS: Final = frozenset(
    (
        *("importlib", "_frozen_importlib", "_frozen_importlib_external"),
        *("zipimport", "linecache"),
    )
)
"""Packages that read the files of programs, and give the same every time."""


def _how(named: str) -> str:
    for part, said in SAID:
        if part in named:
            return said
    return f"calls {named}()"


SAID: Final = (
    ("random.seed", "seeds the generator that all share, by random.seed()"),
    ("_Environ.", "reads os.environ"),
    ("collections.abc.Mapping", "reads os.environ"),
)


def _left(root: Root) -> Reach:
    how = f"changes {root}"
    return Reach("global state", how, root.code.co_filename, root.line)


def _arguments(frame: FrameType) -> int:
    """How many arguments the call has that this frame is at."""
    op = frame.f_code.co_code[frame.f_lasti]
    known = dis.opname[op] in CALLS
    return frame.f_code.co_code[frame.f_lasti + 1] if known else UNKNOWN


CALLS: Final = frozenset(
    ("CALL", "CALL_KW", "PRECALL", "CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_KW")
)
UNKNOWN: Final = 9
"""Arguments that are handed on, `f(*these)`: all that there may be."""
