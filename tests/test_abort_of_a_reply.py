"""An abort while a hook has not let a reply pass yet: the reply had arrived."""

from loopcore import Abort, AssistantMessage, Usage
from loopcore.events import TurnEnd
from loopcore.hooks import Hooks, Need
from tests.driving import Run, Spy, begin, call, config

NEED = Need.service("k", "policy")


def aborted(*, fail_closed: bool) -> Run:
    """A run that was aborted while a hook needed something to judge its reply."""
    run = begin(
        config(Hooks("judge", after_model_call=Spy(NEED), fail_closed=fail_closed))
    )
    return run.says("secret", call("a"), usage=Usage(1, 2)).give(Abort())


def test_a_reply_that_had_arrived_is_kept_as_an_aborted_one() -> None:
    """D24, D25: what arrived is kept, its calls are truncated, it is paid for once."""
    run = aborted(fail_closed=False)
    (reply,) = [m for m in run.state.new if isinstance(m, AssistantMessage)]

    assert run.reason == "aborted"
    assert (reply.text, reply.finish) == ("secret", "aborted")
    assert run.outcomes == {"a": "truncated"}
    assert [event.message for event in run.events(TurnEnd)] == [reply]
    assert run.state.usage == Usage(1, 2)


def test_a_reply_that_had_arrived_is_withheld_if_its_hook_fails_closed() -> None:
    """Architecture 7: if it fails, what it guards is withheld."""
    run = aborted(fail_closed=True)

    assert run.script == ["user: go", "assistant: [withheld: hook 'judge' failed]"]
