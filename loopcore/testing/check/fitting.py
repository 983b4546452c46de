"""Arguments that a hook writes, and whether they ever fit the tool."""

from collections import defaultdict
from typing import Any, Final

from attrs import define, field
from returns.result import Failure

from loopcore.arguments import arguments_for
from loopcore.hooks.fold import fold
from loopcore.testing.check.asking import Asked, place
from loopcore.testing.check.broken import Breach, broken
from loopcore.testing.strategies.listening import Heard

LEAST: Final = 3
"""How often arguments must have been written that did not fit, before that is told."""


@define(eq=False)
class Fitting:
    """What hooks wrote in place of arguments: by hook and tool, what did not fit.

    None once some did. Arguments that do not fit end the chain: no later hook mends them.
    """

    misfits: dict[tuple[str, str], list[Heard] | None] = field(
        factory=lambda: defaultdict[tuple[str, str], list[Heard] | None](list)
    )

    def note(self, heard: Heard, asked: Asked) -> None:
        """A hook said this."""
        if heard.point != "before_tool_call" or "arguments" not in asked.said:
            return
        key = (heard.hook.name, heard.view.tool)
        found = self.misfits[key]
        fits = not _problem(heard.view, asked.said["arguments"])
        if fits:
            self.misfits[key] = None
        elif found is not None:
            found.append(heard)

    def breach(self) -> Breach | None:
        """A hook whose arguments never fit a tool."""
        for (_, tool), found in self.misfits.items():
            if found is not None and len(found) >= LEAST:
                return self._told(min(found, key=lambda one: len(repr(one.view))), tool)
        return None

    def _told(self, heard: Heard, tool: str) -> Breach:
        said = fold((heard.hook,), heard.point, heard.view).update.arguments
        sentence = (
            f"Hook {heard.hook.name!r} writes arguments at {heard.point} "
            f"({place(heard.hook, heard.point)}) that never fit {tool!r}, so that call can "
            f"never run: {_problem(heard.view, said)}"
        )
        return broken("fitting", heard.hook.name, sentence, heard.view)


def _problem(view: Any, arguments: Any) -> str:  # noqa: ANN401  # a view, JSON
    found = arguments_for(view.spec, arguments)
    return str(found.failure()) if isinstance(found, Failure) else ""
