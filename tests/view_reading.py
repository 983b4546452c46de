"""What the data of a page says, read as its script reads it: point after point."""

import json
import re
from typing import Any, Final

from attrs import frozen

from loopcore import Message
from loopcore_adapters.viewer.tables import Tables

DATA: Final = re.compile(
    r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL
)


def data_of(page: str) -> dict[str, Any]:
    """The data of a page, which has it once."""
    (found,) = DATA.findall(page)
    told: dict[str, Any] = json.loads(found)
    return told


def plain(told: Any, texts: list[str]) -> Any:
    """A told value as lists, dicts and the like."""
    if isinstance(told, list):
        found: list[Any] = [plain(item, texts) for item in told]  # pyright: ignore[reportUnknownVariableType]
        return found
    match told:
        case {"$": place}:
            return texts[int(place)]
        case {"#": number}:
            return json.loads(number)
        case {"m": number}:
            return ("message", number)
        case {"o": members, **kind}:
            pairs = zip(members[::2], members[1::2], strict=True)
            named = {plain(k, texts): plain(v, texts) for k, v in pairs}
            return (kind["r"], named) if kind else named
        case _:
            return told


def plainly(value: Any) -> Any:
    """Any value, told and read again."""
    tables = Tables()
    return plain(tables.told(value), tables.texts)


def changed(old: Any, change: Any, texts: list[str]) -> Any:
    """A plain value as it was changed."""
    match change:
        case None:
            return old
        case {"=": value}:
            return plain(value, texts)
        case {"l": (ahead, behind, items)}:
            return [*old[:ahead], *plain(items, texts), *old[len(old) - behind :]]
        case {"d": members}:
            found = dict(old)
            for key, one in zip(members[::2], members[1::2], strict=True):
                name = plain(key, texts)
                if one is None:
                    del found[name]
                else:
                    found[name] = changed(found.get(name), one, texts)
            return found
        case _:
            raise AssertionError(change)


def expanded(ranges: list[list[int]]) -> list[int]:
    """The numbers of ranges."""
    return [first + n for first, count in ranges for n in range(count)]


def listed(told: Any, before: list[int]) -> list[int]:
    """A list that is told by itself, or by the one before."""
    if "r" in told:
        return expanded(told["r"])
    found: list[int] = []
    for piece in told["b"]:
        if isinstance(piece, int):
            found.append(piece)
        else:
            found += before[piece[0] : piece[0] + piece[1]]
    return found


@frozen
class Reading:
    """One side of a page."""

    side: dict[str, Any]
    texts: list[str]

    @classmethod
    def of(cls, page: str, side: int = 0) -> "Reading":
        """The first side of it, or the second."""
        told = data_of(page)
        return cls(told["sides"][side], told["texts"])

    def stand(self, at: int) -> Any:
        """Where the run stands."""
        found: Any = {}
        for point in self.side["points"][: at + 1]:
            found = changed(found, point.get("change"), self.texts)
        return found

    def transcript(self, run: str, at: int) -> list[Any]:
        """The messages of a run, as `said` has them."""
        found: list[int] = []
        for point, turning in dict(self.side["lanes"])[run]:
            if point > at:
                break
            found = (
                listed(turning["="], found)
                if "=" in turning
                else [*found, *expanded(turning["+"])]
            )
        return list(map(self._said, found))

    def shown(self, request: int) -> list[Any]:
        """What a request shows: the transcript, if no hook passed on something else."""
        asked = self.side["requests"][request]
        passed = asked["passed"]
        if not passed:
            return self.transcript(asked["run"], asked["at"]) if asked["own"] else []
        _, chain, place = passed[-1]
        found: list[int] = []
        for told in self.side["chains"][chain][: place + 1]:
            found = listed(told, found)
        return list(map(self._said, found))

    def _said(self, number: int) -> Any:
        message = self.side["messages"][number]
        parts = message.get("p", ())
        texts = [plain(part.get("text", ""), self.texts) for part in parts]
        return KINDS[message["k"]], "".join(texts)


KINDS: Final = {
    "user": "UserMessage",
    "assistant": "AssistantMessage",
    "result": "ToolResultMessage",
    "system": "SystemMessage",
    "custom": "CustomMessage",
}


def said(message: Message) -> Any:
    """A message as far as it is compared."""
    return type(message).__name__, message.text
