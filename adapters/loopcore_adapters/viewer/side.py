"""One side of a page: a timeline as JSON, each point told by what changed in it."""

from typing import Any, Final

from attrs import define, field

from loopcore import CallModel, Effect, Message, ToolSpec
from loopcore.events import TurnEnd
from loopcore.journal import Divergence
from loopcore_adapters.viewer.changes import change
from loopcore_adapters.viewer.known import Known
from loopcore_adapters.viewer.lanes import Lanes
from loopcore_adapters.viewer.requests import Requests
from loopcore_adapters.viewer.speech import (
    Shaping,
    message_told,
    part_told,
    raw,
    usage_told,
    variant_told,
)
from loopcore_adapters.viewer.standing import standing
from loopcore_adapters.viewer.tables import Tables, Told, written
from loopcore_adapters.viewer.timeline import Point, Timeline, Wrote
from loopcore_adapters.viewer.words import counted, kind_of, said_of, told


@define
class Side:
    """Tells a timeline. What it shares with another side of the page is in the tables.

    `same` gives each message the number of the first one, on any side, that is equal.
    """

    tables: Tables
    timeline: Timeline
    same: dict[Message, int]
    known: Known = field(factory=Known)

    def told(self) -> dict[str, Told]:
        """The whole of it."""
        self.tables.message = self.known.number
        lanes, shaping = Lanes(self.known), Shaping(self.known)
        requests = Requests(self.tables, lanes)
        points = [self._point(p, lanes, shaping, requests) for p in self._points()]
        start = self.timeline.points[0].state
        return {
            "run": self.timeline.run_id,
            "file": self.timeline.journal.path,
            "taken": start.inputs,
            "divergence": _divergence(self.tables, self.timeline.divergence),
            "points": points,
            "turns": self._turns(),
            "requests": requests.told,
            "chains": requests.chains,
            "lanes": [[run, lane.turnings] for run, lane in lanes.lanes.items()],
            "messages": self._messages(shaping),
        }

    def _points(self) -> list[tuple[Point, dict[str, Any], dict[str, Any]]]:
        """Each point, where the run stood before it, and where it stands then."""
        stands = [standing(point.state) for point in self.timeline.points]
        before = [{}, *stands]
        return list(zip(self.timeline.points, before, stands, strict=False))

    def _point(
        self,
        one: tuple[Point, dict[str, Any], dict[str, Any]],
        lanes: Lanes,
        shaping: Shaping,
        requests: Requests,
    ) -> dict[str, Told]:
        point, before, now = one
        lanes.follow(point)
        shaping.follow(point)
        found = {
            "input": self._input(point),
            "hooks": [self._wrote(wrote) for wrote in point.wrote],
            "silent": [self.tables.value(pair) for pair in point.silent],
            "ask": [self._asked(point, e, requests) for e in point.effects.perform],
            "cancel": list(point.effects.cancel),
            "started": [effect for note in point.notes for effect in note.started],
            "change": change(self.tables, before, now),
            "recorded": self._recorded(point),
        }
        return {key: value for key, value in found.items() if value}

    def _input(self, point: Point) -> Told:
        if point.entry is None:
            return None
        given = point.entry.input
        return {
            "kind": kind_of(given),
            "words": self.tables.text(told(given, point.before)),
            "at": point.entry.at,
            "whole": self.tables.told(given),
        }

    def _recorded(self, point: Point) -> Told:
        """Of a point that is not folded: what the record says that it led to."""
        if point.folded or point.entry is None:
            return None
        led = point.entry.led
        asked = [f"{asked['kind']} {asked['id']}" for asked in led.get("ask", ())]
        wrote = [self.tables.told(wrote) for wrote in point.entry.wrote]
        return {"ask": asked, "cancel": list(led.get("cancel", ())), "wrote": wrote}

    def _wrote(self, wrote: Wrote) -> Told:
        fields = [
            x
            for name, value in wrote.fields.items()
            for x in (name, self._field(name, value))
        ]
        run = "" if wrote.run_id == self.timeline.run_id else wrote.run_id
        return [wrote.hook, wrote.point, wrote.place, fields, run]

    def _field(self, name: str, value: Any) -> Told:  # noqa: ANN401  # any field's value
        if name in LONG:
            return {"said": counted(len(value), "message")}
        if name == "tools":
            return [self.tables.text(spec.name) for spec in value]
        if name == "content":
            return {"parts": [part_told(self.tables, part) for part in value]}
        return None if name == "memo" else self.tables.told(value)

    def _asked(self, point: Point, effect: Effect, requests: Requests) -> Told:
        words = self.tables.text(said_of(effect))
        if isinstance(effect, CallModel):
            return [effect.id, words, requests.add(point, effect)]
        return [effect.id, words, None, self.tables.told(_bare(effect))]

    def _turns(self) -> list[Told]:
        return [
            [point.number, point.state.run, event.turn, usage_told(event.usage)]
            for point in self.timeline.points
            for event in point.effects.tell
            if isinstance(event, TurnEnd) and event.run_id == self.timeline.run_id
        ]

    def _messages(self, shaping: Shaping) -> list[Told]:
        found: list[Told] = []
        while len(found) < len(self.known.messages):  # telling one may bring another
            found.append(self._message(len(found), shaping))
        return found

    def _message(self, number: int, shaping: Shaping) -> dict[str, Told]:
        message = self.known.messages[number]
        said = message_told(self.tables, message) | variant_told(self.known, number)
        said["same"] = self.same.setdefault(message, len(self.same))
        wrote = shaping.of.get(number)
        if wrote:
            said["hooks"] = [[w.hook, w.point, list(w.fields)] for w in _once(wrote)]
            said |= self._before(wrote)
        return said

    def _before(self, wrote: list[Wrote]) -> dict[str, Told]:
        """What a message was before hooks changed it."""
        view = raw(wrote)
        if view is None:
            return {}
        if hasattr(view, "message"):
            return {"was": self.known.number(view.message)}
        parts = [part_told(self.tables, part) for part in view.parts]
        return {"raw": {"outcome": view.outcome, "p": parts}}


def _once(wrote: list[Wrote]) -> list[Wrote]:
    """Each hook once for a point: an edited call passes its gate again."""
    return list({(one.hook, one.point): one for one in wrote}.values())


def _bare(effect: Effect) -> dict[str, Any]:
    """The fields of an effect; of a tool's spec the name, as settings have the rest."""
    fields = written(effect)
    spec: ToolSpec | None = fields.get("spec")
    return {**fields, "spec": spec.name} if spec else fields


LONG: Final = ("messages", "transcript")
"""Fields that hold whole histories: these are told elsewhere."""


def _divergence(tables: Tables, found: Divergence | None) -> Told:
    if found is None:
        return None
    return {
        "number": found.number,
        "words": tables.text(str(found)),
        "what": tables.text(found.what),
        "recorded": tables.told(found.recorded),
        "now": tables.told(found.now),
        "hook": found.hook,
        "point": found.point,
    }
