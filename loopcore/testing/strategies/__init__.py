"""Strategies for Hypothesis: everything that happens to a run, and what hooks see of it.

What is drawn first is the simplest, so that a counterexample shrinks to a few records,
whose reprs are the calls that make them. Views and states are those that real steps lead
to; a failing example prints these steps.
"""

from loopcore.testing.strategies.answering import (
    answers,
    inputs,
    orders,
)
from loopcore.testing.strategies.changing import updates
from loopcore.testing.strategies.history import transcripts
from loopcore.testing.strategies.plain import jsons, texts
from loopcore.testing.strategies.seeing import views
from loopcore.testing.strategies.speech import errors, outcomes, replies
from loopcore.testing.strategies.tooling import arguments, calls, tools, toolsets
from loopcore.testing.strategies.walking import journals, states

__all__ = [
    "answers",
    "arguments",
    "calls",
    "errors",
    "inputs",
    "journals",
    "jsons",
    "orders",
    "outcomes",
    "replies",
    "states",
    "texts",
    "tools",
    "toolsets",
    "transcripts",
    "updates",
    "views",
]
