"""What an interpreter says when it lacks a model or a tool."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from attrs import frozen

from loopcore.config import AnyConfig, Nested
from loopcore.effects import CallModel, RunTool
from loopcore.messages import ModelError
from loopcore.tools import ToolOutput

PLACE: Final = re.compile(r".*\.\d+\.(?P<turn>\d+)\.[a-z_]+\.")
"""An effect's id up to its kind; a nested run's place is the last one in it."""


@frozen
class Able:
    """What an interpreter can do: the ids of its models, the names of its tools."""

    models: tuple[str, ...]
    tools: tuple[str, ...]

    def __str__(self) -> str:
        tools = ", ".join(map(repr, self.tools)) or "(no tools)"
        models = ", ".join(map(repr, self.models)) or "(no models)"
        return f"It can run: {tools}. It can call: {models}."

    def check(self, config: AnyConfig) -> None:
        """Refuse a configuration that wants more, here or in a run nested in it."""
        for name, one in _all_of(config):
            who = f"nested configuration {name!r}" if name else "configuration"
            missing = next((t for t in _acting(one) if t not in self.tools), None)
            if missing is not None:
                self._refuse(config, f"{who} offers the tool {missing!r}", "run")
            if one.model not in self.models:
                self._refuse(config, f"{who} calls the model {one.model!r}", "call")

    def _refuse(self, config: AnyConfig, wanted: str, verb: str) -> None:
        every = [name for _, one in _all_of(config) for name in _acting(one)]
        given = ", ".join(["model", *dict.fromkeys(every)])
        too = NESTED if any(name for name, _ in _all_of(config)) else ""
        message = (
            f"The {wanted}, but this Interpreter cannot {verb} it. "
            f"Write `Interpreter({given})`{too}. {self}"
        )
        raise ValueError(message)

    def no_such_model(self, effect: CallModel) -> ModelError:
        """The failure of a request to a model that is not here."""
        hook, place = effect.by.get("model"), PLACE.match(effect.id)
        turn = f" in turn {place['turn']}" if place else ""
        chose = f"hook {hook!r} chose" if hook else "the run asks for"
        text = (
            f"{chose} the model {effect.model!r}{turn}, but this Interpreter cannot "
            f"call it.{_perhaps(effect.model, self.models)} {self}"
        )
        return ModelError(text[0].upper() + text[1:], "no_such_model")

    def unknown_tool(self, effect: RunTool) -> ToolOutput:
        """The output of a tool that a hook offered and that is not here."""
        name = effect.spec.name
        text = f"Nobody here can run the tool {name!r}.{_perhaps(name, self.tools)}"
        return ToolOutput(f"{text} Go on without it.", outcome="unknown_tool")


NESTED: Final = ", with the models of the nested configurations as well"


def _all_of(config: AnyConfig, name: str = "") -> Iterator[tuple[str, AnyConfig]]:
    """A configuration and those nested in it, by the names of their tools."""
    yield name, config
    for tool in config.tools:
        if isinstance(tool, Nested):
            yield from _all_of(tool.config, tool.spec.name)


def _acting(config: AnyConfig) -> list[str]:
    """The tools that an interpreter has to run."""
    return [
        tool.name
        for tool in config.tools
        if not isinstance(tool, Nested) and not tool.elsewhere
    ]


def _perhaps(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
