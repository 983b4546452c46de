"""Requests: what a model is shown, and what each hook made of it on the way."""

from typing import Any

from attrs import define, field

from loopcore import CallModel
from loopcore_adapters.viewer.known import Known
from loopcore_adapters.viewer.lanes import Lanes
from loopcore_adapters.viewer.lists import Coded, coded
from loopcore_adapters.viewer.marks import Passed
from loopcore_adapters.viewer.standing import asked_by
from loopcore_adapters.viewer.tables import Tables, Told
from loopcore_adapters.viewer.timeline import Point


def passed(
    known: Known, point: Point, effect: CallModel, stored: list[int]
) -> list[Passed]:
    """What the hooks of a request passed on, one after the other; nothing if none did."""
    owner = asked_by(point.state, effect)
    run_id = owner.run_id if owner else point.state.run_id
    if owner and effect.messages is owner.transcript:
        return []
    found: list[Passed] = []
    for wrote in point.wrote:
        is_its = wrote.point == "transform_context" and wrote.run_id == run_id
        shown = wrote.fields.get("messages") if is_its else None
        if shown is not None:
            base = found[-1][1] if found else stored
            found.append((wrote.hook, known.shown(shown, base, wrote.hook)))
    last = known.shown(effect.messages, found[-1][1] if found else stored, "")
    if last != list(found[-1][1] if found else stored):
        found.append(("", last))
    return found


def is_own(point: Point, effect: CallModel) -> bool:
    """Whether it is the request of a turn, and not what a hook asks a model."""
    owner = asked_by(point.state, effect)
    return owner is None or effect.id.startswith(f"{owner.place}.model.")


@define
class Requests:
    """All requests of a page. What a hook passes on is told by what it passed on before."""

    tables: Tables
    lanes: Lanes
    told: list[Told] = field(factory=list[Told])
    chains: list[list[Coded]] = field(factory=list[list[Coded]])
    _places: dict[tuple[str, str], int] = field(factory=dict[tuple[str, str], int])
    _last: dict[int, list[int]] = field(factory=dict[int, list[int]])

    def add(self, point: Point, effect: CallModel) -> int:
        """The number of this request."""
        owner = asked_by(point.state, effect)
        run_id = owner.run_id if owner else point.state.run_id
        own = is_own(point, effect)
        stored = self.lanes.of(run_id).numbers if own else []
        lists = passed(self.lanes.known, point, effect, stored)
        self.told.append(
            {
                "id": effect.id,
                "run": run_id,
                "at": point.number,
                "own": own,
                **self._settings(effect),
                "passed": [[hook, *self._chain(run_id, hook, n)] for hook, n in lists],
            }
        )
        return len(self.told) - 1

    def _settings(self, effect: CallModel) -> dict[str, Any]:
        tables = self.tables
        return {
            "model": tables.text(effect.model),
            "system": tables.text(effect.system),
            "tools": tables.value(effect.tools),
            "thinking": effect.thinking,
            "options": tables.value(effect.options),
            "output": tables.value(effect.output),
            "by": tables.told(effect.by),
        }

    def _chain(self, run_id: str, hook: str, numbers: Any) -> list[int]:  # noqa: ANN401  # a list
        """Where a list is told: in which chain, and at which place of it."""
        place = self._places.setdefault((run_id, hook), len(self.chains))
        if place == len(self.chains):
            self.chains.append([])
        self.chains[place].append(coded(numbers, self._last.get(place)))
        self._last[place] = list(numbers)
        return [place, len(self.chains[place]) - 1]
