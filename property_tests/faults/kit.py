"""Which test of the proving kit catches each fault, and by which law.

The tests are those of `property_tests/test_kit.py`: users can write the like of them.
"""

from typing import Final

from attrs import frozen

KIT: Final = "property_tests/test_kit.py"
ORDERS: Final = f"{KIT}::test_no_order_breaks_a_law"
PROMISES: Final = f"{KIT}::test_a_policy_keeps_its_promise_in_every_order"
RULES: Final = f"{KIT}::test_a_policy_keeps_the_laws_of_hooks"
MACHINE: Final = f"{KIT}::TestGates"


@frozen
class Caught:
    """The test that catches a fault, and the law that it names."""

    test: str
    law: str


def order(loop: str, law: str) -> Caught:
    """By `explore`: in some order of this loop the law is broken."""
    return Caught(f"{ORDERS}[{loop}]", law)


def promise(policy: str, law: str) -> Caught:
    """By `explore` and a law of one's own about a policy."""
    return Caught(f"{PROMISES}[{policy}]", law)


def rule(policy: str, law: str) -> Caught:
    """By `check_hooks`."""
    return Caught(f"{RULES}[{policy}]", law)


PAIRS: Final = "3: every call has exactly one result"
GATES: Final = "4: a call that is blocked, rejected or cancelled never starts"
CHAINS: Final = "6: hooks are asked in order"
REQUESTS: Final = "7: a request shows the settings"
QUEUES: Final = "8: queued messages are conserved"
BALANCE: Final = "11: starts and ends balance"
SAVED: Final = "12: what is encoded and decoded again is equal"
WAITS: Final = "13: what waits is exactly what was asked"
TOGETHER: Final = (
    "A batch runs one by one if its configuration or one of its tools says so"
)
RESULTS: Final = "A result is its output as shaped by the hooks"
TOKENS: Final = "What a run used is what the replies to it and to all inside it used"
ENDS: Final = "A run ends for the first reason that hooks, models or people gave"
RETRIES: Final = "A failed attempt that is tried again is not stored"
OUTPUTS: Final = "A run that wants an output ends done only with one"
MEMORIES: Final = "A hook remembers what it last wrote in a pass that was kept"
SHOWN: Final = "The task, system messages and the newest message are always shown"
SHORT: Final = "No result is stored that is longer than the limit"
LIMITED: Final = "A run makes two requests if it wants more"
RETRIED: Final = "Only what may pass is tried again, twice on each model"
HIDDEN: Final = "No secret is stored in a result, and no model is shown one"
NUDGED: Final = "An empty reply is nudged once in a row, and no other reply is"

CAUGHT: Final = {
    "what a request shows is stored": order("settings", PAIRS),
    "a Continue resets the settings": order("settings", REQUESTS),
    "a Prompt keeps the settings of the run before": order("settings", REQUESTS),
    "a failed attempt that is tried again is stored": order("retries", RETRIES),
    "a hook's wish to try again beats another's to give up": order(
        "retries, budget", ENDS
    ),
    "a fallback model stays after its turn": order("retries", REQUESTS),
    "the calls of a reply cut by its length run": order("cut", TOGETHER),
    "results are stored backwards": order("batch", PAIRS),
    "a tool that is sequential runs with the others": order("one by one", TOGETHER),
    "every batch runs one by one": order("batch", TOGETHER),
    "one result that terminates ends the run": order("batch", RESULTS),
    "after_tool_call is asked about blocked calls": order("gates", RESULTS),
    "what a failed guard should hold back is stored": order("guards, closed", RESULTS),
    "the tokens of a nested run are counted twice": order("nested", TOKENS),
    "the timer of a nested run goes on after its end": order("nested", SAVED),
    "what a nested run waits for is not told": order("nested", WAITS),
    "a Block is lifted by a later Allow": order("gates", GATES),
    "a Block does not end its chain": order("gates", CHAINS),
    "a tool that needs approval runs without": order("approvals", GATES),
    "an Allow does not lift a tool's need of approval": order("gates", GATES),
    "a call that was rejected runs": order("approvals", GATES),
    "an edited call does not pass its gate again": order("edits", GATES),
    "a person is asked about an edited call again": order("approvals", WAITS),
    "arguments that a hook changed reach no tool": order("gates", GATES),
    "a hook is asked about every tool": order("gates", CHAINS),
    "hooks are asked backwards": order("needs", CHAINS),
    "a hook remembers what it wrote in a pass that was abandoned": order(
        "needs", MEMORIES
    ),
    "the later of two stops is kept": order("ends, two stops", ENDS),
    "hooks may store calls without results": order("unpaired", PAIRS),
    "steering is taken twice a turn": order("ends", PAIRS),
    "follow-ups go before steering": order("ends", QUEUES),
    "a withdrawal takes back what has another key": order("ends", QUEUES),
    "messages injected after a batch that terminates make no turn": order(
        "ends, more", ENDS
    ),
    "a stop after injected messages makes a request": order(
        "ends, more and stop", ENDS
    ),
    "a reply that does not fit is sent back once too often": order("outputs", OUTPUTS),
    "a refusal is sent back": order("refusals", OUTPUTS),
    "an abort goes on with the calls that wait": order(
        "batch, one by one", "5: nothing is requested or run after an abort"
    ),
    "an abort does not reach the runs inside": order("nested", WAITS),
    "what waits is not cancelled when a hook fails": order("edits", WAITS),
    "what a model had streamed at an abort is not paid for": order("streamed", TOKENS),
    "a turn that is over ends again": order("unpaired", BALANCE),
    "time goes back": Caught(MACHINE, "D17"),
    "how an effect ended is forgotten": Caught(MACHINE, "D15"),
    "an answer is taken twice": Caught(MACHINE, "a step is total"),
    "an edit that does not fit is taken": order("approvals", GATES),
    "a window parts a call from its result": rule(
        "sliding_window", "each call that is shown has its one result beside it"
    ),
    "a round that is larger than the window is not shown": promise(
        "sliding_window", SHOWN
    ),
    "a window forgets the task": promise("sliding_window", SHOWN),
    "a result that is cut keeps its tail as well as its whole head": promise(
        "truncate_results, tail", SHORT
    ),
    "a result that is cut without a tail keeps all of it": promise(
        "truncate_results", SHORT
    ),
    "a limit is one too high": promise("limits", LIMITED),
    "what a run used up counts for the next one": promise(
        "limits, tool calls", LIMITED
    ),
    "failures of different calls add up": promise(
        "limits, repeats", "A call may fail twice in a row"
    ),
    "what will not pass is tried again": promise("retry, denied", RETRIED),
    "a model gets one attempt too many": promise("retry", RETRIED),
    "the pause that a service asks for is not kept": promise("retry", RETRIED),
    "the pauses of a retry are random": rule(
        "retry", "what a hook says follows from its view, and from nothing else"
    ),
    "a person is asked about the other tools": promise(
        "ask_before", "Nothing is paid unless a person agreed to it"
    ),
    "an error text keeps what was to be hidden": promise("redact", HIDDEN),
    "details keep what was to be hidden": promise("redact", HIDDEN),
    "a system prompt shows what was to be hidden": promise("redact", HIDDEN),
    "an empty reply is nudged once more than was said": promise("nudge", NUDGED),
    "a reply that says something is nudged": promise("nudge", NUDGED),
    "a summary parts a call from its result": rule(
        "compact", "each call that is shown has its one result beside it"
    ),
    "a part is summarised twice": promise("compact", "Each part is summarised once"),
}
"""By the name of the fault."""

BY_OTHERS: Final = {
    "the seed depends on the process": "a kit of one process cannot see another's hashes",
}
"""Faults that the kit does not catch, and why; other tests do."""
