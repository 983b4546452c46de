"""What a ready-made rule cannot be made with is refused where it is written, in a sentence."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from loopcore.hooks import Hooks
from loopcore.policies import (
    ask_before,
    compact,
    fit,
    limits,
    nudge,
    redact,
    retry,
    sliding_window,
    truncate_results,
)

WRONG: Final[Any] = {
    "whole": ["3", 2.5, True, [3]],
    "number": ["3", True, [3]],
    "text": [5, b"a", ["a"]],
    "function": [5, "a"],
    "unit": "pages",
}

TAKES: Final[list[tuple[Callable[..., Hooks], str, str, int]]] = [
    (sliding_window, "keep", "whole", 1),
    (partial(sliding_window, 3), "pin", "whole", 0),
    (partial(sliding_window, 3), "count", "function", 0),
    (truncate_results, "limit", "whole", 0),
    (truncate_results, "tail", "whole", 0),
    (truncate_results, "marker", "text", 0),
    *((limits, name, "number", 0) for name in ("turns", "tokens", "cost", "seconds")),
    *((limits, n, "number", 0) for n in ("tool_calls", "repeats", "unknown_tools")),
    (retry, "attempts", "whole", 1),
    *((retry, name, "number", 0) for name in ("delay", "factor", "longest")),
    (ask_before, "when", "function", 0),
    (partial(redact, "a"), "replacement", "text", 0),
    (compact, "at", "whole", 1),
    (partial(compact, 9), "keep", "whole", 1),
    (nudge, "text", "text", 0),
    (partial(nudge, "a"), "times", "whole", 0),
    (fit, "window", "whole", 1),
    (fit, "longest", "whole", 1),
    (fit, "count", "function", 0),
]
NUMBERS: Final = [
    (rule, name, least)
    for rule, name, kind, least in TAKES
    if kind in {"whole", "number"}
]


@pytest.mark.parametrize(("rule", "name", "kind"), [row[:3] for row in TAKES])
def test_what_is_of_another_kind_is_refused(
    rule: Callable[..., Hooks], name: str, kind: str
) -> None:
    """What comes from a file or the command line is text until somebody reads it."""
    for wrong in WRONG[kind]:
        with pytest.raises(TypeError, match=rf"^\w+\({name}=.*\): give a .*{kind}"):
            rule(**{name: wrong})


@pytest.mark.parametrize(("rule", "name", "least"), NUMBERS)
def test_what_is_too_small_is_refused(
    rule: Callable[..., Hooks], name: str, least: int
) -> None:
    said = rf"^\w+\({name}={least - 1}\): give a .*, {least} or more$"
    with pytest.raises(ValueError, match=said):
        rule(**{name: least - 1})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: sliding_window(3, unit=WRONG["unit"]),
            "choose one of messages, turns",
        ),
        (lambda: truncate_results(3, tail=4), "the tail is part of the limit"),
        (lambda: compact(4, keep=4), "keep fewer than that"),
        (lambda: limits(cost=math.nan), "give a number"),
        (lambda: nudge(""), "give a text, such as"),
        (redact, "at least one pattern"),
        (lambda: redact("("), r"redact\('\('\): not a regular expression"),
        (lambda: redact(""), "it finds the empty text, which is everywhere"),
        (lambda: redact("(sk-[a-z]+)?"), "it finds the empty text"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], Hooks], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.parametrize("rule", [ask_before, redact])
def test_a_list_where_arguments_are_wanted_is_refused(rule: Any) -> None:
    with pytest.raises(TypeError, match=rf"{rule.__name__}\(\) takes .* each"):
        rule(["a", "b"])
