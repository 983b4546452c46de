"""The pytest plug-in of loopcore: fixtures, and failures that can be read.

Whoever has loopcore installed has it in each of their test runs, so it imports nothing but
pytest until a test needs it.
"""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from loopcore.testing import EffectScript, ScriptedModel
    from loopcore.testing.plugin import RunLog

LOG: Final = pytest.StashKey["RunLog"]()
ENDED_EARLY: Final = pytest.StashKey[bool]()


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Say where two of loopcore's values differ: states, results, effects, transcripts."""
    if op != "==" or not (_is_ours(left) or _is_ours(right)):
        return None
    from loopcore.testing.plugin import compared  # noqa: PLC0415  # not before it is needed

    return compared(left, right, whole=config.get_verbosity() > 1)


def _is_ours(value: Any) -> bool:  # noqa: ANN401  # anything may be compared
    """Whether it is one of loopcore's records, or a list of them."""
    if value.__class__.__name__ in ("tuple", "list", "PythonPVector"):
        return len(value) > 0 and _is_ours(value[0])
    return str(value.__class__.__module__).partition(".")[0] == "loopcore"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what `run_log` heard, and what was found, if the test failed."""
    report = yield
    if not report.passed:  # it failed, as expected or not, or was skipped from within
        item.stash[ENDED_EARLY] = True
    if report.failed:
        report.sections += [("loopcore found", text) for text in _found(call)]
        log = item.stash.get(LOG, None)
        if log is not None and log.events and report.when == "call":
            report.sections.append(("loopcore runs", str(log)))
    return report


def _found(call: pytest.CallInfo[Any]) -> list[str]:
    """The counterexamples that the test that failed has in hand, whole."""
    if call.excinfo is None:
        return []
    held = call.excinfo.traceback[-1].frame.f_locals.values()
    ours = [value for value in held if _is_ours(value)]
    return [repr(value) for value in ours if getattr(value, "counterexample", None)]


@pytest.fixture
def run_log(request: pytest.FixtureRequest) -> "RunLog":
    """An inspector that hears of every event; what it heard is shown if the test fails."""
    from loopcore.testing.plugin import RunLog  # noqa: PLC0415  # as above

    log = RunLog()
    request.node.stash[LOG] = log
    return log


@pytest.fixture
def scripted_model(
    request: pytest.FixtureRequest,
) -> "Generator[Callable[..., ScriptedModel]]":
    """Make scripted models; each has to be complete when the test is over."""
    from loopcore.testing import ScriptedModel  # noqa: PLC0415  # as above

    yield from _complete(request, ScriptedModel)


@pytest.fixture
def effect_script(
    request: pytest.FixtureRequest,
) -> "Generator[Callable[..., EffectScript]]":
    """Make scripts of effects; each has to be complete when the test is over."""
    from loopcore.testing import EffectScript  # noqa: PLC0415  # as above

    yield from _complete(request, EffectScript)


def _complete(
    request: pytest.FixtureRequest, kind: Callable[..., Any]
) -> Generator[Callable[..., Any]]:
    """What makes these; of a test that failed or was skipped nothing more is asked."""
    made: list[Any] = []

    def make(*given: Any, **named: Any) -> Any:  # noqa: ANN401  # what the double takes
        made.append(kind(*given, **named))
        return made[-1]

    yield make
    if request.node.stash.get(ENDED_EARLY, False):
        return
    for double in made:
        problem = _lacks(double)
        if problem:
            pytest.fail(problem, pytrace=False)


def _lacks(double: Any) -> str:  # noqa: ANN401  # a double
    """Why it is not complete, if it is not."""
    try:
        double.assert_complete()
    except AssertionError as problem:
        return str(problem)
    return ""
