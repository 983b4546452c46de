"""Folding the hooks of a point: each sees the value as updated so far."""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen
from attrs.exceptions import FrozenInstanceError
from returns.result import Failure, Success

from loopcore.frozen import (
    EMPTY,
    UNSET,
    FrozenDict,
    Json,
    NotJson,
    clean,
    evolve,
    freeze,
)
from loopcore.hooks.merge import later
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks, Need
from loopcore.hooks.updates import Update, rules
from loopcore.hooks.views import Found, View, ViewChanged
from loopcore.inputs import ServiceError
from loopcore.messages import ModelError
from loopcore.state import State


@frozen(weakref_slot=False)
class Fault:
    """A hook failed: who, where, and a sentence about it."""

    hook: str
    point: str
    sentence: str
    error: str = ""

    @property
    def alone(self) -> str:
        """The sentence without what becomes of the run, for where there is none."""
        said = self.sentence.removesuffix(f" {ONE_CALL}")
        return said.removesuffix(f" {ALL_OVER}")


class HookFault(Exception):
    """What is wrong with a hook, as whoever wraps its function has found out.

    It is said as it stands, after the hook's name.
    """


@frozen(weakref_slot=False)
class Folded:
    """What the hooks of a point decided together.

    `view` is as the next hook would see it, `update` all they wrote, `wrote` who wrote
    what in order, `writers` who last wrote each field. `fault` or `need` tell why the fold
    ended early, and `guarded` whether a hook that fails closed then did not have its say.
    """

    view: Any
    update: Any
    wrote: tuple[tuple[str, Update], ...] = ()
    writers: FrozenDict[str] = EMPTY
    fault: Fault | None = None
    need: tuple[str, Need] | None = None
    guarded: bool = False

    @property
    def memos(self) -> dict[str, Json]:
        """The memories that were written."""
        return {n: u.memo for n, u in self.wrote if u.memo is not UNSET}


Said: TypeAlias = Update | Need | Fault | None


def fold(hooks: tuple[Hooks, ...], point: PointName, view: View) -> Folded:
    """Ask each hook in order; stop at a verdict that ends the chain, a need or a fault.

    `view` carries no memory or answers; each hook is given its own.
    """
    folded = Folded(view, NOTHING_WRITTEN[point])
    for place, hook in enumerate(hooks):
        said = _ask(hook, point, folded.view)
        match said:
            case None:
                continue
            case Update():
                folded = _took(folded, point, hook.name, said)
            case Need():
                return evolve(
                    folded,
                    need=(hook.name, said),
                    guarded=_guards(hooks[place:], point, view),
                )
            case Fault():
                return evolve(
                    folded, fault=said, guarded=_guards(hooks[place:], point, view)
                )
        if POINTS[point].over(folded.view):
            break
    return folded


NOTHING_WRITTEN: Final = {name: point.update() for name, point in POINTS.items()}


def _guards(rest: Iterable[Hooks], point: PointName, view: View) -> bool:
    return any(hook.fail_closed and hook.at(point, view) for hook in rest)


def _took(folded: Folded, point: PointName, name: str, update: Update) -> Folded:
    merged = folded.update | update if folded.wrote else update
    changed = [f for f in update.written if _changed(f, folded.update, merged)]
    return evolve(
        folded,
        view=POINTS[point].show(folded.view, update),
        update=merged,
        wrote=(*folded.wrote, (name, update)),
        writers=FrozenDict({**folded.writers, **dict.fromkeys(changed, name)}),
    )


def _changed(name: str, old: Update, new: Update) -> bool:
    """Whether the field is this update's now: a verdict that lost is not.

    An equal value is still the later writer's: identity is not the same after a reload.
    """
    if name == "memo":
        return False
    is_value = rules(type(new))[name] is later
    return is_value or getattr(old, name) is not getattr(new, name)


def _ask(hook: Hooks, point: PointName, view: View) -> Said:
    function = hook.at(point, view)
    if function is None:
        return None
    state = view.state
    seen = evolve(
        view,
        memo=_memo_of(view, hook),
        answers=view.answers or (answers(state, hook.name) if state.known else EMPTY),
    )
    try:
        returned = function(seen)
    except Exception as error:  # noqa: BLE001  # a hook's failure is a value here
        return _raised(hook.name, point, view, function, error)
    return _read(hook.name, point, view, function, returned)


def _memo_of(view: View, hook: Hooks) -> Json:
    """Its memory; in a test of hooks, the one that the view was made with."""
    if view.memo is not None:
        return view.memo
    return view.state.memos.get(hook.name, hook.memo)


def answers(state: State, hook: str) -> Mapping[str, Found]:
    """The answers that this hook asked for at this point."""
    mine = [k for k in state.known if k.hook == hook and k.value is not UNSET]
    return FrozenDict({k.key: _found(k.value) for k in mine})


def _found(value: Any) -> Found:  # noqa: ANN401  # JSON, a reply or an error
    failed = isinstance(value, ModelError | ServiceError)
    return Failure(value) if failed else Success(value)


def _read(
    name: str, point: PointName, view: View, function: object, returned: object
) -> Said:
    """What a hook returned, as an update; a bare value is what its point is about."""
    kind = POINTS[point]
    if returned is None or type(returned) is Need:
        return returned
    try:
        if type(returned) is not kind.update and isinstance(returned, kind.bare):
            make: Any = kind.update
            returned = make(returned)
        if type(returned) is kind.update:
            return _taken(name, point, view, function, returned)
    except NotJson as problem:
        return _bad_memo(name, point, view, function, problem)
    except Exception as problem:  # noqa: BLE001  # whatever its values do
        text = f"returned {_short(returned)} at {point}"
        said = _short_text(problem).removesuffix(".")
        return _fault(name, point, f"{text} {_at(function, view)}: {said}.")
    return _wrong(name, point, view, function, returned)


def _taken(
    name: str, point: PointName, view: View, function: object, update: Update
) -> Said:
    problem = POINTS[point].problem(update)
    if problem:
        return _fault(name, point, f"at {point} {_at(function, view)} {problem}")
    return _with_memo(update)


def _with_memo(update: Update) -> Update | None:
    if update.memo is UNSET:
        return update if update.written else None
    return evolve(update, memo=freeze(update.memo, "memo"))


def _wrong(
    name: str, point: PointName, view: View, function: object, returned: object
) -> Fault:
    kind = POINTS[point]
    choices = ", ".join(filter(None, (f"a {kind.update.__name__}", kind.takes, "Need")))
    hint = ""
    if point == "before_tool_call" and type(returned) is str:
        hint = f' Did you mean `Block("{returned[:20]}…")`?'
    return _fault(
        name,
        point,
        f"returned {_short(returned)} at {point} {_at(function, view)}. "
        f"Return {choices} or None.{hint}",
    )


def _bad_memo(
    name: str, point: PointName, view: View, function: object, problem: NotJson
) -> Fault:
    return _fault(
        name,
        point,
        f"wrote a memo that is not JSON at {point} {_at(function, view)}: {problem}. A memo "
        "is saved, forked and replayed with the run, so it must be JSON (for a set, use a "
        "sorted list).",
    )


def _raised(
    name: str, point: PointName, view: View, function: object, error: Exception
) -> Fault:
    where = _at(function, view, error)
    if isinstance(error, HookFault):
        return _fault(name, point, str(error))
    if isinstance(error, ViewChanged):
        field_name = str(error)
        kind = POINTS[point].update.__name__
        return _fault(
            name,
            point,
            f"tried to set {field_name} {where}. Views cannot be changed; return what "
            f"should change: `{kind}(...)`.",
        )
    tried = _tried(error)
    if tried:
        kind = POINTS[point].update.__name__
        return _fault(
            name,
            point,
            f"{tried} {where}. What a view holds cannot be changed; return what should "
            f"change: `{kind}(...)`.",
        )
    what = f"{type(error).__name__}: {_short_text(error)}"
    after = ONE_CALL if point == "prepare_tool_call" else ALL_OVER
    return _fault(name, point, f"raised {what} at {point} {where}. {after}", what)


def _tried(error: Exception) -> str:
    """What a hook tried to change, if its error says so: what is frozen in its view."""
    said = _short_text(error)
    match error:
        case FrozenInstanceError():
            return "tried to set a field of a record"
        case AttributeError(obj=tuple(), name=name) if name in CHANGES:
            return f"called {name}(...) on a list that is frozen (a tuple)"
        case TypeError() if said.startswith("a FrozenDict cannot be changed"):
            return "tried to change an object that is frozen (a FrozenDict)"
        case TypeError() if ITEM.search(said):
            return "tried to change an item of a list that is frozen"
        case _:
            return ""


CHANGES: Final = frozenset(dir(list)) - frozenset(dir(tuple))
ITEM: Final = re.compile(r"'(tuple|PythonPVector)' object does(n't| not) support item")

ONE_CALL: Final = "This call was not run."
ALL_OVER: Final = (
    "What was ready is stored, open calls are answered, and the run stopped; "
    "`result.state` has everything."
)


def _fault(name: str, point: str, sentence: str, error: str = "") -> Fault:
    return Fault(name, point, f"Hook {name!r} {sentence}", error)


def _at(function: object, view: Any, error: Exception | None = None) -> str:  # noqa: ANN401  # a view of any point
    """Where, for people: file and line, call, turn."""
    call = getattr(view, "call", None)
    known = f"{call.id} " if call and call.id else ""
    named = f"call {known}{call.name!r}" if call else ""
    places = (_line(function, error), named, f"turn {view.turn}")
    return f"({', '.join(filter(None, places))})"


def _line(function: object, error: Exception | None) -> str:
    code = code_of(function)
    if code is None:
        return ""
    lines = [line for file, line in _frames(error) if file == code.co_filename]
    file = str(code.co_filename).replace("\\", "/").rsplit("/", 1)[-1]
    return f"{file}:{lines[-1] if lines else code.co_firstlineno}"


def code_of(function: Any) -> Any:  # noqa: ANN401  # a code object or None
    """The code of a function, of what a partial calls, or of an object's call."""
    try:
        return _code_of(function)
    except Exception:  # noqa: BLE001  # whatever reading its attributes does
        return None


def _code_of(function: Any) -> Any:  # noqa: ANN401  # a code object or None
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__code__"):
        function = getattr(function.__class__, "__call__", None)  # noqa: B004
    return getattr(function, "__code__", None)


def _frames(error: Exception | None) -> Iterator[tuple[str, int]]:
    trace = error.__traceback__ if error else None
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


def _short_text(error: Exception) -> str:
    """What an exception says, without addresses: a replay must say the same."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # its own __str__ may fail
        text = "(it cannot be printed)"
    return clean(ADDRESS.sub("", text)[:500])


def _short(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeiou' else 'a'} {name}"


@frozen(weakref_slot=False)
class Applied:
    """What some hooks decide together about one view; for tests.

    Args:
        view: as the next hook would see it.
        update: all they wrote, of the class of the point: a ToolCallUpdate where a call
            is judged. A field that none of them wrote is UNSET.
        writers: who last wrote each field.
    """

    view: Any
    update: Any
    writers: Mapping[str, str]


def apply(
    hooks: Iterable[Hooks],
    view: Any,  # noqa: ANN401  # any kind of view
    point: PointName | None = None,
) -> Applied:
    """What these hooks decide together, for tests of hooks.

    `point` is the first point of this kind of view that one of them cares about, unless
    given. The view's memo and answers, if it has them, are given to each hook. A fault or
    a need is raised as an error that says so.
    """
    chosen = tuple(hooks)
    found = point or _point_of(chosen, view)
    folded = fold(chosen, found, view)
    if folded.fault:
        raise ValueError(folded.fault.alone)
    if folded.need:
        name, need = folded.need
        message = f"Hook {name!r} needs {need.key!r} at {found}; put it in view.answers"
        raise ValueError(message)
    return Applied(folded.view, folded.update, folded.writers)


def _point_of(hooks: tuple[Hooks, ...], view: Any) -> PointName:  # noqa: ANN401  # a view of any point
    points: list[PointName] = [n for n, p in POINTS.items() if isinstance(view, p.view)]
    if not points:
        message = (
            f"{view!r} is no view; take one of loopcore.hooks, such as ToolCallView"
        )
        raise TypeError(message)
    for point in points:
        if any(hook.at(point, view) for hook in hooks):
            return point
    return points[0]
