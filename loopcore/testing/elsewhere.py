"""Asking hooks in a process of its own, whose strings are hashed by another seed."""

import json
import pickle
import sys
from typing import Any, NoReturn

from loopcore.hooks.fold import fold
from loopcore.runtime.model import Model
from loopcore.runtime.purity import Returned, returned
from loopcore.runtime.tool import Tool
from loopcore.tools import ToolSpec


def said_text(said: Returned) -> str:
    """What a hook said, as text: what is in another order is another text."""
    return ", ".join(f"{name}={value!r}" for name, value in said.items())


def _refuse(*_: object, **__: object) -> NoReturn:
    message = "a hook only gets the data of models and tools"
    raise RuntimeError(message)


def model_of(model_id: str) -> Model:
    """A model that cannot be called."""
    return Model(model_id, _refuse)


def tool_of(spec: ToolSpec) -> Tool:
    """A tool that cannot be run."""
    return Tool(spec, _refuse)


def _said(hook: Any, point: Any, view: Any) -> str:  # noqa: ANN401  # as they were packed
    folded = fold((hook,), point, view)
    if folded.fault:
        return said_text({"fault": folded.fault.sentence})
    answer = folded.need[1] if folded.need else folded.update
    return said_text(returned(point, answer))


def main() -> None:
    """Read hooks and views, and write what the hooks say about them."""
    path, asked = pickle.load(sys.stdin.buffer)  # noqa: S301  # packed by this very program
    sys.path[:] = path
    out, sys.stdout = sys.stdout, sys.stderr
    said = [_said(hook, point, view) for hook, point, view in asked]
    out.write(json.dumps(said))
