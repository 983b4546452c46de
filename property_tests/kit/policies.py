"""What each ready-made policy promises, as a law of one's own, and a loop to try it in."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import field, frozen

from loopcore import (
    AssistantMessage,
    CallModel,
    FollowUp,
    Message,
    ModelError,
    Prompt,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    SystemMessage,
    ToolOutput,
    ToolResultMessage,
    UserMessage,
)
from loopcore.events import MessageAdded
from loopcore.policies import (
    ask_before,
    compact,
    limits,
    nudge,
    redact,
    retry,
    sliding_window,
    truncate_results,
)
from loopcore.testing.invariants import Law, Moment, hold
from property_tests.kit.loops import ADD, DONE, PAY, Loop, call, config, says

SECRET: Final = "hunter2"  # noqa: S105  # it opens nothing


def requests(moment: Moment) -> list[CallModel]:
    """What the run's own model is asked in this step."""
    asked = [e for e in moment.effects.perform if isinstance(e, CallModel)]
    return [effect for effect in asked if ".model." in effect.id]


@frozen
class Windowed:
    """The task, system messages and the newest message are always shown."""

    def see(self, moment: Moment) -> "Windowed":
        stored: list[Message] = list(moment.after.transcript)
        users = [m for m in stored if isinstance(m, UserMessage)]
        pinned = [m for m in stored if isinstance(m, SystemMessage)]
        for effect in requests(moment):
            for wanted in (*users[:1], *pinned, *stored[-1:]):
                hold(wanted in effect.messages, "{} is not shown", wanted)
        return self


MOST: Final = 6


@frozen
class Short:
    """No result is stored that is longer than the limit."""

    def see(self, moment: Moment) -> "Short":
        for result in results(moment.after):
            hold(len(result.text) <= MOST, "{} is stored", result.text)
        return self


def results(state: State) -> list[ToolResultMessage]:
    """The results that are stored."""
    return [m for m in state.transcript if isinstance(m, ToolResultMessage)]


@frozen
class Limited:
    """A run makes two requests if it wants more, and each run as many as another."""

    def see(self, moment: Moment) -> "Limited":
        after = moment.after
        hold(after.requests <= 2, "{} requests were made", after.requests)
        stop = after.stop
        early = stop and stop.reason == "limit" and after.requests < 2
        hold(not early, "the run ended after {} requests", after.requests)
        return self


@frozen
class Repeated:
    """A call may fail twice in a row, and the second failure ends the run."""

    def see(self, moment: Moment) -> "Repeated":
        failed, last = 0, ""
        for text, result in called(moment.after):
            again = failed + 1 if text == last else 1
            failed, last = (again, text) if result.is_error else (0, "")
        stop = moment.after.stop
        hold(failed < 2 or stop, "a call failed {} times", failed)
        limited = stop is not None and stop.reason == "limit"
        hold(failed == 2 or not limited, "{} failures ended the run", failed)
        return self


def called(state: State) -> Iterator[tuple[str, ToolResultMessage]]:
    """The one call of each reply, as the model wrote it, and its result."""
    replies = [m for m in state.transcript if isinstance(m, AssistantMessage)]
    calls = (reply.calls[0].text for reply in replies if reply.calls)
    return zip(calls, results(state), strict=False)


@frozen
class Retried:
    """Only what may pass is tried again, twice on each model, after the service's pause."""

    failed: ModelError | None = None
    attempts: dict[str, int] = field(factory=dict[str, int])

    def see(self, moment: Moment) -> "Retried":
        value = getattr(moment.given, "value", None)
        failed = value if isinstance(value, ModelError) else self.failed
        naps = [e for e in moment.effects.perform if isinstance(e, Sleep)]
        for nap in naps:
            self.pause(nap, failed)
        attempts = dict(self.attempts)
        for effect in requests(moment):
            attempts[effect.model] = attempts.get(effect.model, 0) + 1
            tries = attempts[effect.model]
            hold(tries <= 2, "{} is asked {} times", effect.model, tries)
            fine = tries == 1 or (failed is not None and failed.retryable)
            hold(fine, "{} is tried again", failed)
        return Retried(failed, attempts)

    def pause(self, nap: Sleep, failed: ModelError | None) -> None:
        """It is as long as the service wants."""
        wanted = (failed.retry_after or 0.0) if failed else 0.0
        elsewhere = nap.seconds == 0.0
        hold(elsewhere or nap.seconds >= wanted, "{} s, of {} s", nap.seconds, wanted)


@frozen
class Agreed:
    """Nothing is paid unless a person agreed to it."""

    agreed: frozenset[str] = frozenset()

    def see(self, moment: Moment) -> "Agreed":
        asked = moment.answered
        agreed = self.agreed
        if isinstance(asked, RequestApproval):
            agreed |= {asked.id.replace(".ask.", ".run.")}
        for effect in moment.effects.perform:
            paid = isinstance(effect, RunTool) and effect.spec.name == "pay"
            hold(not paid or effect.id in agreed, "{} is run", effect)
            needless = isinstance(effect, RequestApproval) and effect.spec.name == "add"
            hold(not needless, "{} is asked about", effect)
        return Agreed(agreed)


@frozen
class Hidden:
    """No secret is stored in a result, and no model is shown one."""

    def see(self, moment: Moment) -> "Hidden":
        for result in results(moment.after):
            hold(SECRET not in repr(result), "{} is stored", result)
        for effect in requests(moment):
            hold(SECRET not in effect.system, "{} is the system prompt", effect.system)
            shown = [m for m in effect.messages if SECRET in repr(m)]
            hold(not shown, "{} is shown", shown)
        return self


NUDGE: Final = "Say something."


@frozen
class Nudged:
    """An empty reply is nudged once in a row, and no other reply is."""

    empty: bool = False
    nudges: int = 0

    def see(self, moment: Moment) -> "Nudged":
        law = self
        for event in moment.told(MessageAdded):
            match event.message:
                case AssistantMessage() as reply:
                    silent = not reply.text and not reply.calls
                    law = Nudged(silent, law.nudges if silent else 0)
                case UserMessage() as said if said.text == NUDGE:
                    hold(law.empty, "a reply that says something is nudged")
                    law = Nudged(law.empty, law.nudges + 1)
                    hold(law.nudges <= 1, "it is nudged {} times", law.nudges)
                case _:
                    pass
        due = law.empty and law.nudges == 0 and moment.after.stop is not None
        hold(not due, "the run ended with an empty reply, and was not nudged")
        return law


@frozen
class Summarised:
    """Each part is summarised once, and what is shown has no more than the limit."""

    seen: frozenset[str] = frozenset()

    def see(self, moment: Moment) -> "Summarised":
        asked = [e for e in moment.effects.perform if ".compact." in e.id]
        law = self
        for effect in asked:
            assert isinstance(effect, CallModel)
            said = effect.messages[0].text.splitlines()
            lines = {line for line in said if '"calls":' in line}
            again = law.seen & lines
            hold(not again, "{} is summarised again", again)
            law = Summarised(law.seen | lines)
        for effect in requests(moment):
            hold(len(effect.messages) <= 6, "{} messages", len(effect.messages))
        return law


def counting(request: CallModel) -> AssistantMessage:
    """A call that is never the same."""
    turn, _, _ = request.id.rsplit(".", 3)[1:]
    return says(call("add", int(turn)))


@frozen
class Promise:
    """A policy, a law, and a loop in which it must hold."""

    law: Law
    loop: Loop


BUSY: Final = ModelError("busy", "overloaded", retry_after=9.0)
DENIED: Final = ModelError("no", "auth")
LEAK: Final = ToolOutput(f"no {SECRET}", outcome="error", details={"key": SECRET})
MORE: Final = (FollowUp("one"), FollowUp("two"))

PROMISES: Final = {
    "sliding_window": Promise(
        Windowed(),
        Loop(
            config(sliding_window(2)),
            [says(call("add", 1), call("add", 2), call("add", 3)), DONE],
            {"add": ["2"]},
            MORE,
        ),
    ),
    "truncate_results": Promise(
        Short(),
        Loop(
            config(truncate_results(5, marker="…")),
            [says(call("add", 1)), DONE],
            {"add": ["123456789", "123"]},
        ),
    ),
    "truncate_results, tail": Promise(
        Short(),
        Loop(
            config(truncate_results(5, tail=2, marker="…")),
            [says(call("add", 1)), DONE],
            {"add": ["123456789", "123456", "12345"]},
        ),
    ),
    "limits": Promise(
        Limited(),
        Loop(config(limits(turns=2)), [counting], {"add": ["2"]}, (Prompt("again"),)),
    ),
    "limits, tool calls": Promise(
        Limited(),
        Loop(
            config(limits(tool_calls=2)),
            [counting],
            {"add": ["2"]},
            (Prompt("again"),),
        ),
    ),
    "limits, repeats": Promise(
        Repeated(),
        Loop(
            config(limits(repeats=2)),
            [*(says(call("add", n)) for n in (1, 2, 1, 1)), DONE],
            {"add": ["2", OSError("no")]},
        ),
    ),
    "retry": Promise(
        Retried(),
        Loop(
            config(retry(2, delay=1.0, fallback="test:other")),
            [BUSY, BUSY, BUSY, BUSY, DONE],
        ),
    ),
    "retry, denied": Promise(
        Retried(),
        Loop(config(retry(3, delay=1.0)), [DENIED, DONE]),
    ),
    "ask_before": Promise(
        Agreed(),
        Loop(
            config(ask_before("pay"), tools=[ADD, PAY]),
            [says(call("pay", 1), call("add", 2)), DONE],
            {"add": ["2"], "pay": ["paid"]},
        ),
    ),
    "redact": Promise(
        Hidden(),
        Loop(
            config(redact(SECRET), tools=[ADD]),
            [says(call("add", 1)), DONE],
            {"add": [f"it is {SECRET}", LEAK, OSError(SECRET)]},
            (Prompt(f"use {SECRET}", system=f"Never say {SECRET}."),),
        ),
    ),
    "nudge": Promise(
        Nudged(),
        Loop(config(nudge(NUDGE)), [says(), says(), DONE, says()], {}, MORE),
    ),
    "compact": Promise(
        Summarised(),
        Loop(
            config(compact(5, keep=2)),
            [*[counting] * 8, DONE],
            {"add": ["2"]},
            (),
            {"services": {"compact": ["in short"]}},
        ),
    ),
}
"""A loop for each policy, and what the policy promises there."""

RULES: Final[dict[str, Callable[[], Any]]] = {
    "sliding_window": lambda: sliding_window(3),
    "sliding_window, turns": lambda: sliding_window(1, unit="turns"),
    "truncate_results": lambda: truncate_results(5, tail=2),
    "limits": lambda: limits(turns=3, tool_calls=4, repeats=2, unknown_tools=2),
    "retry": lambda: retry(2, fallback="test:other"),
    "ask_before": lambda: ask_before("add"),
    "redact": lambda: redact(SECRET),
    "nudge": lambda: nudge(NUDGE),
    "compact": lambda: compact(5, keep=2),
}
"""The policies as rules, for `check_hooks`."""
