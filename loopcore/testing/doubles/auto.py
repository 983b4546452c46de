"""A model that needs no script: it makes valid calls from the tools' own schemas."""

import re
from collections.abc import Iterator
from random import Random
from typing import Final

from attrs import field, frozen

from loopcore.effects import CallModel
from loopcore.events import Tell
from loopcore.frozen import FrozenDict, Json, dump_json
from loopcore.messages import AssistantMessage, Finish, ModelError, ToolCall
from loopcore.runtime.model import Called, Model
from loopcore.testing.doubles.scripted import stream
from loopcore.testing.doubles.values import CannotMake, value_for
from loopcore.tools import ToolSpec

MOST: Final = 3
"""How many calls a reply makes, at most."""

DONE: Final = "Done."


@frozen(init=False, eq=False)
class AutoModel(Model):
    """A model that calls every tool it is offered, with arguments that fit, then ends.

    In each run it calls each tool `rounds` times, in batches of one to three; then it says
    that it is done, or a value of the output that the run wants. What it says depends on
    the seed, on what it is offered and on the turn, and on nothing else, so a run with it
    can be repeated. `requests` are those it got.

    >>> AutoModel(7)
    AutoModel(7)
    """

    seed: int | str
    rounds: int
    requests: list[CallModel] = field(factory=list[CallModel])

    def __init__(
        self,
        seed: int | str = 0,
        *,
        rounds: int = 1,
        id: str = "test:auto",  # noqa: A002  # what a model calls it
    ) -> None:
        self.__attrs_init__(id, self._reply, seed, rounds)  # pyright: ignore[reportAttributeAccessIssue]  # made by attrs

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.seed!r})"

    def says(self, effect: CallModel) -> Called:
        """Its answer to this request; a failure that says why, if it can make none."""
        try:
            calls = tuple(self._calls(effect))
            said = calls or self._last(effect)
        except CannotMake as problem:
            return ModelError(str(problem), "bad_request")
        finish: Finish = "tools" if calls else "end"
        return AssistantMessage(said, model=effect.model, finish=finish)

    def _calls(self, effect: CallModel) -> Iterator[ToolCall]:
        """This turn's calls: the tools are shuffled and dealt anew for each run."""
        run, turn = _place(effect)
        random = Random(f"{self.seed}.{run}")  # noqa: S311  # to be repeated
        order = [spec for _ in range(self.rounds) for spec in effect.tools]
        random.shuffle(order)
        sizes = [random.randint(1, MOST) for _ in order[:turn]]
        end = sum(sizes)
        begin = end - sizes[-1] if len(sizes) == turn else len(order)
        for n, spec in enumerate(order[begin:end]):
            place = f"{run}_{turn}_{n}"
            arguments = arguments_for(spec, f"{self.seed}.{place}")
            yield ToolCall(spec.name, arguments, f"auto_{place}")

    def _last(self, effect: CallModel) -> str:
        if effect.output is None:
            return DONE
        try:
            value = value_for(effect.output, f"{self.seed}.{_place(effect)}")
        except CannotMake as problem:
            raise CannotMake(NO_OUTPUT.format(problem)) from None
        return dump_json(value)

    async def _reply(self, effect: CallModel, tell: Tell) -> Called:
        self.requests.append(effect)
        said = self.says(effect)
        if isinstance(said, AssistantMessage):
            await stream(said, tell)
        return said


def arguments_for(spec: ToolSpec, seed: object) -> FrozenDict[Json]:
    """Arguments that fit this tool's schema; the same ones for the same seed.

    Raises:
        CannotMake: saying of which tool, and why.
    """
    schema = spec.parameters
    if "type" not in schema:
        schema = FrozenDict({**schema, "type": "object"})
    try:
        value = value_for(schema, seed)
    except CannotMake as problem:
        raise CannotMake(NO_ARGUMENTS.format(spec.name, problem)) from None
    if not isinstance(value, FrozenDict):
        raise CannotMake(NO_ARGUMENTS.format(spec.name, NO_OBJECT))
    return value  # pyright: ignore[reportUnknownVariableType]  # of anything


NO_OBJECT: Final = "its schema wants something else than an object"
NO_ARGUMENTS: Final = (
    "AutoModel cannot make arguments for the tool {!r}: {}. Give this test a script "
    "instead: ScriptedModel or FunctionModel."
)
NO_OUTPUT: Final = (
    "AutoModel cannot make the output that is wanted: {}. Give this test a script "
    "instead: ScriptedModel or FunctionModel."
)


def _place(effect: CallModel) -> tuple[int, int]:
    """Its run and turn. What a hook asks of a model is no turn: it gets no calls."""
    found = TURN.search(effect.id)
    return (int(found[1]), int(found[2])) if found else (0, LATER)


TURN: Final = re.compile(r"\.(\d+)\.(\d+)\.model\.\d+$")
LATER: Final = 1_000_000
