"""Where loopcore decides otherwise than the source engine: the only differences allowed."""

from typing import Final

EVERYTHING: Final = "end new_messages requests tool_runs tool_ends hooks events order"

ALLOWED: Final[dict[str, tuple[str, str]]] = {
    "hw-coerce-null-number": (
        "T8",
        "new_messages requests tool_runs tool_ends hooks events order",
    ),
    "hw-coerce-any-of-valid-bool": ("T9", "tool_runs hooks"),
    "hw-tool-raises-with-terminate": (
        "T7",
        "end new_messages requests tool_ends hooks events order",
    ),
    "hw-length-with-calls": (
        "T2",
        "new_messages requests tool_runs tool_ends hooks events order",
    ),
    "hw-raise-before_tool_call-0-sequential": ("T1", "new_messages events"),
    "hw-raise-after_tool_call-0-parallel": (
        "T1",
        "new_messages tool_ends hooks events order",
    ),
    "hw-raise-after_tool_call-0-sequential": ("T1", "new_messages tool_ends events"),
    "hw-raise-after_tool_call-1-parallel": ("T1", "new_messages tool_ends events"),
    "hw-raise-after_tool_call-1-sequential": ("T1", "new_messages tool_ends events"),
    "hw-raise-before-second-turn": ("T1", "new_messages events"),
    "hw-raise-after-second-turn": ("T1", "new_messages tool_ends events"),
    "hw-raise-convert_to_llm-0": ("T11", EVERYTHING),
    "hw-raise-convert_to_llm-1": (
        "T11",
        "end new_messages requests hooks events order",
    ),
    "hw-raise-get_steering-0": ("T11", EVERYTHING),
    "hw-raise-get_follow_up-0": ("T11", "end new_messages requests hooks events order"),
    "hw-raise-before-on-blocked-tool": ("T1", "new_messages events"),
    "hw-abort-in-tool-single": ("T4", EVERYTHING),
    "hw-abort-in-tool-sequential-first": ("T4", EVERYTHING),
    "hw-abort-in-tool-sequential-last": ("T4", EVERYTHING),
    "hw-abort-then-stop": (
        "T4",
        "end new_messages tool_runs tool_ends hooks events order",
    ),
    "hw-abort-terminate": (
        "T4",
        "end new_messages tool_runs tool_ends hooks events order",
    ),
    "gen-0001": ("T2", "new_messages tool_runs tool_ends hooks events order"),
    "gen-0011": ("T1", "new_messages events"),
    "gen-0023": ("T1", "new_messages tool_ends events"),
    "gen-0024": ("T4", EVERYTHING),
    "gen-0026": ("T2", "new_messages tool_runs tool_ends hooks events order"),
    "gen-0034": ("T3", "new_messages events"),
    "gen-0040": ("T2", "new_messages requests tool_ends"),
    "gen-0062": ("T3 T5", "end new_messages events"),
    "gen-0076": ("T1", "new_messages tool_ends hooks events order"),
    "gen-0082": ("T1", "new_messages events"),
    "gen-0094": ("T5", "end new_messages events"),
    "gen-0099": ("T3", "new_messages events"),
    "gen-0101": ("T2", "new_messages tool_runs tool_ends hooks events order"),
    "gen-0102": ("T11", EVERYTHING),
    "gen-0117": ("T4", EVERYTHING),
    "gen-0125": ("T4", EVERYTHING),
    "gen-0133": ("T11", EVERYTHING),
    "gen-0141": ("T2", EVERYTHING),
    "gen-0143": ("T3 T5", "end new_messages events"),
    "gen-0151": ("T7", "tool_ends"),
    "gen-0164": ("T5", "end new_messages events"),
    "gen-0185": ("T2", "new_messages requests tool_runs tool_ends hooks events order"),
    "gen-0219": ("T3 T5", "end new_messages events"),
    "gen-0220": ("T2", EVERYTHING),
    "gen-0221": ("T1", "new_messages events"),
    "gen-0226": ("T1", "new_messages events"),
    "gen-0235": ("T2", "new_messages requests tool_runs tool_ends hooks events order"),
    "gen-0245": ("T1", "new_messages events"),
    "gen-0258": ("T2", "new_messages requests tool_ends hooks order"),
    "gen-0275": ("T1", "new_messages tool_ends events"),
    "gen-0303": ("T1", "new_messages events"),
    "gen-0335": ("T2", "new_messages requests tool_ends"),
    "gen-0341": ("T3 T5", "end new_messages events"),
    "gen-0355": ("T1", "new_messages tool_ends events"),
    "gen-0358": ("T4", EVERYTHING),
    "gen-0363": ("T4", EVERYTHING),
    "gen-0378": ("T2", "new_messages requests tool_runs tool_ends hooks events order"),
    "gen-0392": ("T2", "new_messages requests tool_runs tool_ends hooks events order"),
}
"""Scenario: the T rows that explain it, and which parts of its trace differ."""

NOT_MET: Final = {
    "T6": "no scenario has a stream function that raises",
    "T10": "tables cannot edit arguments in place",
    "T12": "no scenario tells custom messages apart while it projects",
    "T13": "no scenario continues after a failed reply, or with nothing to answer",
    "T14": "a scenario's update keeps what it does not name",
    "T15": "no scenario injects a message",
    "T16": "no recorded stream ends without its final message",
    "T17": "a scenario is one run",
    "T18": "the recorded engine has no event for a follow-up turn",
}
"""The other T rows, and why no recorded trace can show them."""
