"""check_hooks: what hooks reach beside their views, and what they may."""

import getpass
import io
import locale
import os
import sys
import sysconfig
from collections.abc import Callable
from cProfile import Profile
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from loopcore.hooks import Hooks
from loopcore.runtime.purity import Lookout
from loopcore.testing import check_hooks
from tests import impure_hooks as impure
from tests.odd_hooks import ODD

FEW = 5


def failure(function: Callable[[Any], Any]) -> str:
    """What is said of this hook."""
    with pytest.raises(AssertionError) as caught:
        check_hooks(Hooks("h", should_stop_after_turn=function), examples=FEW)
    return str(caught.value).split("\n\n")[0]


@pytest.mark.parametrize("function", impure.CALLS, ids=lambda f: f.__name__)
def test_what_a_hook_reaches_of_the_world_is_named(
    function: Callable[[Any], Any],
) -> None:
    said = failure(function)

    assert impure.CALLS[function] in said
    assert " at impure_hooks.py:" in said


@pytest.mark.parametrize("function", impure.CHANGES, ids=lambda f: f.__name__)
def test_what_a_hook_keeps_is_named(function: Callable[[Any], Any]) -> None:
    said = failure(function)

    assert said.startswith("Hook 'h' remembers something outside of the run at ")
    assert f"It changes {impure.CHANGES[function]} at " in said


@pytest.mark.parametrize(
    ("function", "what", "how"),
    [
        (impure.since_start, "reads the clock", "calls time.time()"),
        (impure.by_setting, "reads the environment", "reads os.environ"),
    ],
)
def test_what_is_behind_a_cache_is_seen_where_nothing_is_cached_yet(
    function: Callable[[Any], Any], what: str, how: str
) -> None:
    said = failure(function)

    assert said.startswith(f"Hook 'h' {what} at ")
    assert f"the first time it is asked in a process. It {how} at impure_" in said


def test_a_time_without_a_zone_is_told_what_to_write() -> None:
    """Machines are set to other zones, and a run goes on elsewhere."""
    said = failure(impure.day)

    assert said.startswith("Hook 'h' reads the machine's time zone at ")
    assert said.endswith(
        " Say which is meant, as in `datetime.fromtimestamp(view.now or 0, UTC)`."
    )


@pytest.mark.parametrize("name", ["acme_importlib", "acme_logging_rules"])
def test_a_module_is_not_taken_for_one_whose_name_it_contains(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What imports modules may read their files, and what logs does output."""
    file = tmp_path / f"{name}.py"
    file.write_text("import time\ndef hook(view):\n    assert time.time()\n")
    module = ModuleType(name)
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(file.read_text(), str(file), "exec"), vars(module))  # noqa: S102

    said = failure(module.hook)

    assert said.startswith("Hook 'h' reads the clock at should_stop_after_turn. ")
    assert f"It calls time.time() at {name}.py:3. Use the seed and the time" in said


def test_under_a_profiler_it_is_told_that_calls_are_not_seen() -> None:
    """On Pythons whose profiler is one of `sys.setprofile`."""
    hook = Hooks("h", should_stop_after_turn=impure.there)
    with Profile():
        is_blind = sys.getprofile() is not None
        if is_blind:
            with pytest.warns(UserWarning, match="a profiler is running"):
                unchecked = check_hooks(hook, examples=FEW).unchecked
        else:
            with pytest.raises(AssertionError):
                check_hooks(hook, examples=FEW)
            unchecked = ("a profiler is running",)

    assert any("a profiler is running" in said for said in unchecked)


ASKS: Final[dict[str, Callable[[Any], Any]]] = {
    "reads os.environ": lambda _: os.environ.get("HOME"),
    "calls os.getenv()": lambda _: os.getenv("HOME"),
    "calls pathlib.Path.cwd()": lambda _: Path.cwd(),
    "calls getpass.getuser()": lambda _: getpass.getuser(),
    "calls locale.getlocale()": lambda _: locale.getlocale(),
}


@pytest.mark.parametrize("how", ASKS)
def test_a_hook_that_asks_what_the_environment_is_is_told_so(how: str) -> None:
    """Unlike a library that looks at it on its own account."""
    ask = ASKS[how]
    said = failure(lambda view: ask(view) is ask)

    assert said.startswith("Hook 'h' reads the environment at should_stop_after_turn. ")
    assert f"It {how} at test_check_hooks_pure.py:" in said


def test_a_helper_in_the_package_of_the_hook_is_its_own(tmp_path: Path) -> None:
    """Also where that package is installed among the libraries."""
    package = Path(sysconfig.get_path("purelib"), tmp_path.name, "rules.py")
    helper = Path(sysconfig.get_path("purelib"), tmp_path.name, "settings.py")
    settings: dict[str, Any] = {"__name__": "acme_rules.settings"}
    rules: dict[str, Any] = {"__name__": "acme_rules.rules", "settings": settings}
    reads = "import os\ndef mode():\n    return os.environ.get('ACME')\n"
    hook = "def hook(view):\n    assert not settings['mode']()\n"
    exec(compile(reads, str(helper), "exec"), settings)  # noqa: S102
    exec(compile(hook, str(package), "exec"), rules)  # noqa: S102

    said = failure(rules["hook"])

    assert said.startswith("Hook 'h' reads the environment at should_stop_after_turn. ")


class Page:
    """Holds a stream in memory, and one that is not."""

    def __init__(self) -> None:
        self.text, self.out = StringIO(), sys.stderr


TEXT: Final = StringIO()
STREAM: Final = sys.stderr
PAGE: Final = Page()


def to_page(view: Any) -> None:
    """Prints to what an object holds."""
    page = Page()
    print(view.turn, file=page.text)


IN_MEMORY: Final[dict[str, Callable[[Any], Any]]] = {
    "a call of io.StringIO": lambda _: print("x", file=io.StringIO()),
    "a call of StringIO": lambda v: print(v.turn, 1, file=StringIO(), sep="|"),
    "an attribute": to_page,
}
NOT_IN_MEMORY: Final[dict[str, Callable[[Any], Any]]] = {
    "none": lambda _: print(StringIO("x").read(), end=""),  # noqa: T201
    "a stream": lambda _: print(StringIO("x").read(), end="", file=sys.stderr),  # noqa: T201
    "a named one": lambda _: print(TEXT.getvalue(), end="", file=STREAM),
    "an attribute": lambda _: print(TEXT.getvalue(), end="", file=PAGE.out),
}


@pytest.mark.parametrize("name", IN_MEMORY)
def test_a_print_into_memory_is_no_output(name: str) -> None:
    hook = Hooks("h", should_stop_after_turn=IN_MEMORY[name])

    assert check_hooks(hook, examples=FEW).unchecked == ()


@pytest.mark.parametrize("name", NOT_IN_MEMORY)
def test_a_print_elsewhere_is_output_though_something_in_memory_is_printed(
    name: str,
) -> None:
    with Lookout(NOT_IN_MEMORY[name]) as watch:
        NOT_IN_MEMORY[name](None)

    assert [("I/O", "calls print()")] == [(r.world, r.how) for r in watch.found]


@pytest.mark.parametrize("name", ODD)
def test_hooks_that_are_right_and_odd_are_fine(name: str) -> None:
    hook = Hooks("odd", should_stop_after_turn=ODD[name])

    assert check_hooks(hook, examples=FEW).unchecked == ()
