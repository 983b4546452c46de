"""Faults of the ready-made policies."""

from typing import Final

from property_tests.faults.fault import fault

ROUNDS: Final = "loopcore/policies/rounds.py"
WINDOW: Final = "loopcore/policies/window.py"
ENDS: Final = "loopcore/policies/ends.py"
RETRYING: Final = "loopcore/policies/retrying.py"
GUARD: Final = "loopcore/policies/guard.py"
COMPACTION: Final = "loopcore/policies/compaction.py"

POLICIES: Final = (
    fault(
        "a window parts a call from its result",
        ROUNDS,
        "joins = isinstance(message, ToolResultMessage) and message.call_id in asked",
        "joins = isinstance(message, ToolResultMessage) and not asked",
    ),
    fault(
        "a round that is larger than the window is not shown",
        WINDOW,
        "if shown and left < 0:",
        "if left < 0:",
    ),
    fault(
        "a window forgets the task",
        WINDOW,
        "kept(view, pin)",
        "kept(view, 0)",
    ),
    fault(
        "a result that is cut keeps its tail as well as its whole head",
        WINDOW,
        "text[: limit - tail]",
        "text[:limit]",
    ),
    fault(
        "a result that is cut without a tail keeps all of it",
        WINDOW,
        "end = text[len(text) - tail :]",
        "end = text[-tail:]",
    ),
    fault(
        "a limit is one too high",
        ENDS,
        "most is not None and value >= most",
        "most is not None and value > most",
    ),
    fault(
        "what a run used up counts for the next one",
        ENDS,
        "return counted if counted.run == run else",
        "return counted if counted.run else",
    ),
    fault(
        "failures of different calls add up",
        ENDS,
        "again = failed.get(same, counted.failed.get(same, 0)) + 1",
        "again = sum(counted.failed.values()) + 1",
    ),
    fault(
        "what will not pass is tried again",
        RETRYING,
        "if view.error.retryable and not last and wait <= longest:",
        "if not last and wait <= longest:",
    ),
    fault(
        "a model gets one attempt too many",
        RETRYING,
        "last = view.attempt - begun + 1 >= attempts",
        "last = view.attempt - begun >= attempts",
    ),
    fault(
        "the pause that a service asks for is not kept",
        RETRYING,
        "wait = max(min(pause, longest), view.error.retry_after or 0.0)",
        "wait = min(pause, longest)",
    ),
    fault(
        "the pauses of a retry are random",
        RETRYING,
        '    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") / 2**48',
        "    import random\n    return random.random() if name else hashlib.md5().digest_size",
    ),
    fault(
        "a person is asked about the other tools",
        GUARD,
        "before_tool_call=gate, tools=tools or None)",
        "before_tool_call=gate)",
    ),
    fault(
        "an error text keeps what was to be hidden",
        GUARD,
        "    def result(view: ToolResultView) -> ToolResultUpdate | None:\n",
        "    def result(view: ToolResultView) -> ToolResultUpdate | None:\n"
        "        if view.is_error:\n            return None\n",
    ),
    fault(
        "details keep what was to be hidden",
        GUARD,
        "details = hide_json(view.details, hide)",
        "details = view.details",
    ),
    fault(
        "a system prompt shows what was to be hidden",
        GUARD,
        "system = hide(view.system)",
        "system = view.system",
    ),
    fault(
        "an empty reply is nudged once more than was said",
        ENDS,
        "if said >= times:",
        "if said > times:",
    ),
    fault(
        "a reply that says something is nudged",
        ENDS,
        "return not reply.calls and not reply.text.strip()",
        "return not reply.calls",
    ),
    fault(
        "a summary parts a call from its result",
        COMPACTION,
        "begins = [group[0] for group in rounds(recent)]",
        "begins = list(range(len(recent)))",
    ),
    fault(
        "a part is summarised twice",
        COMPACTION,
        "memo = (reached + 1, reply.text,",
        "memo = (upto, reply.text,",
    ),
)
