"""References: records that another list holds are written as places in that list."""

from functools import cached_property
from typing import cast

from attrs import frozen
from pyrsistent import PVector

from loopcore.codec.decode import from_json
from loopcore.codec.encode import to_json
from loopcore.codec.error import DecodeError
from loopcore.codec.kinds import Kind
from loopcore.codec.plain import as_array
from loopcore.frozen import Json, dump_json, vector


@frozen
class Stored:
    """A list to refer to. A reference is a range `[start, stop]` of it.

    The ranges of one list rise, so that what is read is never much longer than what was
    written, whoever wrote it.
    """

    kind: Kind
    vector: PVector[Json]

    def refer(self, values: PVector[Json]) -> list[Json]:
        """These values as ranges, and whole where the list does not have them."""
        if values is self.vector:
            return [[0, len(values)]] if values else []
        written: list[Json] = []
        end = 0
        for value in values:
            place = self._find(value, end)
            if place is None:
                written.append(to_json(value, self.kind))
                continue
            end = place + 1
            _add(written, place)
        return written

    def expand(self, data: Json, path: str) -> PVector[Json]:
        """The values that were written; all of the list is the list itself."""
        written = as_array(data, path)
        if list(written) == [[0, len(self.items)]]:
            return self.vector
        values: list[Json] = []
        end = 0
        for n, given in enumerate(written):
            if isinstance(given, list | tuple):
                start, end = self._range(cast("list[Json]", given), end, f"{path}[{n}]")
                values += self.items[start:end]
            else:
                values.append(from_json(self.kind, given, f"{path}[{n}]"))
        return vector(values)

    @cached_property
    def items(self) -> tuple[Json, ...]:
        """What the list holds."""
        return tuple(self.vector)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(value): n for n, value in enumerate(self.items)}

    @cached_property
    def _texts(self) -> dict[str, int]:
        return {self._text(value): n for n, value in enumerate(self.items)}

    def _text(self, value: Json) -> str:
        return dump_json(to_json(value, self.kind))

    def _find(self, value: Json, start: int) -> int | None:
        """Where it stands at `start` or later: by identity, or else by its JSON.

        Not by `==`, which takes 1 for True.
        """
        if start < len(self.items) and self.items[start] is value:
            return start
        place = self._places.get(id(value))
        if place is None:
            place = self._texts.get(self._text(value))
        return None if place is None or place < start else place

    def _range(self, given: list[Json], end: int, path: str) -> tuple[int, int]:
        size = len(self.items)
        if [type(n) for n in given] == [int, int]:
            start, stop = given
            if end <= start < stop <= size:
                return start, stop
        problem = f"must be a range [start, stop] in {end} to {size}, is {given!r:.40}"
        raise DecodeError(path, problem)


def _add(written: list[Json], place: int) -> None:
    last = written[-1] if written else None
    if isinstance(last, list) and last[1] == place:
        last[1] = place + 1
    else:
        written.append([place, place + 1])
