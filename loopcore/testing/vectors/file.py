"""The file of vectors: JSON Lines, a header and then one step a line."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Final, TypeVar

from attrs import field, frozen

from loopcore.codec import DecodeError, from_json, to_json
from loopcore.fan import is_object
from loopcore.frozen import (
    EMPTY,
    FrozenDict,
    Json,
    dump_json,
    freeze,
    freeze_object,
)
from loopcore.inputs import Input
from loopcore.state import State
from loopcore.testing.vectors.form import Form

T = TypeVar("T")

FORMAT: Final = "loopcore.vectors"
VERSION: Final = 1

SHIPPED: Final = Path(str(files("loopcore.testing.vectors") / "vectors.jsonl"))
"""The file that comes with loopcore."""


@frozen(eq=False)
class Vector:
    """A step: a state and an input, and what has to come of it.

    Args:
        id: its name: the configuration's, and a number.
        config: the name of the configuration.
        state: the state before.
        input: what it is given.
        at: when, in seconds; None where nobody gave a time.
        refused: the kind of the refusal, if the input is refused.
        digest: that of the state after.
        changed: digests of the fields that are others than before; "" for those that are
            then as by default.
        effects: what is wanted, cancelled and told.
    """

    id: str
    config: str
    state: State
    input: Input
    at: float | None = None
    refused: str = ""
    digest: str = ""
    changed: FrozenDict[str] = EMPTY
    effects: FrozenDict[Json] = field(default=EMPTY, converter=freeze_object)


@frozen(eq=False)
class Vectors:
    """Steps, and the configurations that they are of."""

    configs: Mapping[str, Form]
    steps: tuple[Vector, ...]

    @classmethod
    def read(cls, path: str | PathLike[str] = SHIPPED) -> "Vectors":
        """The vectors in a file: by default those that come with loopcore.

        Raises:
            ValueError: naming the line that is none.
        """
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            lines = ((f"{path}, line {n}", line) for n, line in enumerate(file, 1))
            configs = next((_read(_header, *line) for line in lines), dict[str, Form]())
            step = partial(_step, configs=configs)
            steps = [_read(step, *line) for line in lines]
        if not steps:
            message = f"{path}: holds no vectors"
            raise ValueError(message)
        return cls(configs, tuple(steps))

    def lines(self) -> Iterator[str]:
        """The lines of a file."""
        configs = {name: to_json(form) for name, form in self.configs.items()}
        header = {"format": FORMAT, "version": VERSION, "configs": configs}
        yield dump_json(header)
        for step in self.steps:
            yield dump_json(to_json(step))

    def write(self, path: str | PathLike[str]) -> None:
        """Write them to a file."""
        text = "".join(f"{line}\n" for line in self.lines())
        Path(path).write_text(text, encoding="utf-8", newline="\n")


def _read(read: Callable[[Json], T], place: str, line: str) -> T:
    try:
        return read(json.loads(line))
    except (DecodeError, ValueError) as problem:
        message = f"{place}: {problem}"
        raise ValueError(message) from None


def _step(data: Json, configs: Mapping[str, Form]) -> Vector:
    step: Vector = from_json(Vector, data)
    if step.config not in configs:
        message = f"the header has no configuration {step.config!r}"
        raise ValueError(message)
    return step


def _header(data: Json) -> dict[str, Form]:
    if not is_object(freeze(data)) or data.get("format") != FORMAT:
        message = f'is no file of vectors: it has no "format": "{FORMAT}"'
        raise ValueError(message)
    if data["version"] != VERSION:
        message = f"has vectors of version {data['version']}; this reads {VERSION}"
        raise ValueError(message)
    return {name: from_json(Form, form) for name, form in data["configs"].items()}
