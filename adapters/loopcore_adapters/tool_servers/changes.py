"""A rule that offers what a server has now, at each request. Pure."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, TypeAlias

from attrs import evolve
from returns.result import Failure, Success

from loopcore import ToolSpec
from loopcore.hooks import UNSET, ContextUpdate, ContextView, Hooks, Need
from loopcore_adapters.loose import Json

Told: TypeAlias = Iterable[Mapping[str, Json]]
"""Tools as JSON: the name, description and parameters of each."""

KEY: Final = "tools"


def told(specs: Iterable[ToolSpec]) -> list[dict[str, Json]]:
    """What a service says of these tools."""
    return [
        {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        }
        for spec in specs
    ]


def digest(tools: Told) -> str:
    """What tells one list from another, so that none is sent twice."""
    return sha256(json.dumps(tools, sort_keys=True).encode()).hexdigest()[:16]


def offering(name: str, first: Iterable[ToolSpec], timeout: float | None) -> Hooks:
    """Offer what the service of this name says there is, from `first` on.

    It knows the list it was told last, by its memory, and asks for news of it only.
    """
    known = {spec.name: spec for spec in first}

    def offer(view: ContextView) -> ContextUpdate | Need | None:
        answer = view.answers.get(KEY)
        if answer is None:
            return Need.service(KEY, name, digest(view.memo))
        listed = view.memo if (new := _heard(answer)) is None else new
        now = {one["name"]: ToolSpec(**one, timeout=timeout) for one in listed}
        tools = _offered(view.tools, known, now)
        if tools == view.tools and listed == view.memo:
            return None
        return ContextUpdate(tools=UNSET if tools == view.tools else tools, memo=listed)

    return Hooks(name, memo=told(known.values()), transform_context=offer)


def _heard(answer: Success[Json] | Failure[Any]) -> Told | None:
    """The list, if there is a new one and the service knows it."""
    return answer.unwrap() if isinstance(answer, Success) else None


def _offered(
    shown: tuple[ToolSpec, ...],
    known: Mapping[str, ToolSpec],
    now: Mapping[str, ToolSpec],
) -> tuple[ToolSpec, ...]:
    """What is shown less what is gone; and what is new, unless only some are shown.

    A tool that changed keeps how it is to be run, which is not the server's to say.
    """
    names = {spec.name for spec in shown}
    kept = [_newest(spec, known, now) for spec in shown if _stays(spec, known, now)]
    whole = names.issuperset(known.keys() & now.keys())
    new = [
        spec for name, spec in now.items() if name not in known and name not in names
    ]
    return (*kept, *(new if whole else ()))


def _stays(
    spec: ToolSpec, known: Mapping[str, ToolSpec], now: Mapping[str, ToolSpec]
) -> bool:
    return spec.name not in known or spec.name in now


def _newest(
    spec: ToolSpec, known: Mapping[str, ToolSpec], now: Mapping[str, ToolSpec]
) -> ToolSpec:
    if spec.name not in known or now[spec.name] == known[spec.name]:
        return spec
    new = now[spec.name]
    return evolve(spec, description=new.description, parameters=new.parameters)
