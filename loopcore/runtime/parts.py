"""What an interpreter is made of: sorted, and refused in a sentence where it is wrong."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from loopcore.config import Nested
from loopcore.effects import CallModel, Consult, RequestApproval, RunTool, Sleep
from loopcore.runtime.inspect import Inspector
from loopcore.runtime.model import Model
from loopcore.runtime.outcome import shown
from loopcore.runtime.tool import Tool

EFFECTS: Final = (CallModel, RunTool, RequestApproval, Consult, Sleep)

N = TypeVar("N", Model, Tool)


def capabilities_of(
    given: Iterable[Model | Tool | Nested],
) -> tuple[dict[str, Model], dict[str, Tool]]:
    """The models and the tools among these, by their names.

    Raises:
        TypeError: for what is neither.
        ValueError: for two of one name.
    """
    models: dict[str, Model] = {}
    tools: dict[str, Tool] = {}
    for capability in given:
        match capability:
            case Model():
                _add(models, capability.id, capability)
            case Tool():
                _add(tools, capability.spec.name, capability)
            case Nested(spec=spec):
                raise TypeError(NESTED.format(spec.name))
            case _:
                raise TypeError(_no_capability(capability))
    return models, tools


def _no_capability(given: object) -> str:
    said = ONLY_A_NAME if isinstance(given, str) else NO_CAPABILITY
    return said.format(shown(given))


def _add(known: dict[str, N], name: str, capability: N) -> None:
    if known.setdefault(name, capability) is not capability:
        message = f"Two {type(capability).__name__.lower()}s are called {name!r}"
        raise ValueError(message)


NESTED: Final = (
    "The nested configuration {!r} acts through its own model and tools: give those to "
    "the Interpreter, `Interpreter(model, *tools)`, and not the configuration."
)
ONLY_A_NAME: Final = (
    "An Interpreter takes models and tools that act, but {} is only a name. Give the "
    "object itself: the model that `connect` made, the function under @tool."
)
NO_CAPABILITY: Final = (
    "An Interpreter takes models and tools, each as an argument of its own, but got "
    "{}. Decorate a function with @tool; write *tools for a list."
)


def refuse_no_effect(effect: object) -> None:
    """Refuse what nobody could perform."""
    if not isinstance(effect, EFFECTS):
        message = (
            "An interpreter performs an effect, such as one of `state.waiting`; it got "
            f"{shown(effect, 80)}."
        )
        raise TypeError(message)


def refuse_no_function(approve: object) -> None:
    """Refuse what cannot decide for a person."""
    if approve is not None and not callable(approve):
        message = (
            "Interpreter(approve=...) takes a function that decides on an approval, such "
            f"as `lambda ask: ask.approve()`; it got {shown(approve, 80)}."
        )
        raise TypeError(message)


def services_of(given: object) -> dict[str, Any]:
    """Functions by their names."""
    if isinstance(given, Mapping):
        found = dict[str, Any](given)  # pyright: ignore[reportUnknownArgumentType]  # of anything
        if all(map(callable, found.values())):
            return found
    message = (
        "Interpreter(services=...) takes functions by the names that hooks ask for, as in "
        f'{{"policy": policy}}; it got {shown(given, 80)}.'  # pyright: ignore[reportUnknownArgumentType]  # of anything
    )
    raise TypeError(message)


def inspectors_of(given: object) -> tuple[Inspector, ...]:
    """Inspectors, each of them an object."""
    if not isinstance(given, Iterable):
        raise TypeError(NO_INSPECTORS.format(shown(given, 80)))
    found = tuple[Any, ...](given)  # pyright: ignore[reportUnknownArgumentType]  # of anything
    for one in found:
        if isinstance(one, type):
            message = (
                f"inspectors= has the class {one.__name__}: write {one.__name__}()."
            )
            raise TypeError(message)
        if not isinstance(one, Inspector):
            raise TypeError(NO_INSPECTORS.format(shown(one, 80)))
        _refuse_waiting(one)
    return found


def _refuse_waiting(inspector: Inspector) -> None:
    """Refuse one that would never be run, as nothing waits for what watches."""
    for name in MOMENTS:
        if any(kind(getattr(inspector, name)) for kind in WAITING):
            where = f"{type(inspector).__name__}.{name}"
            raise TypeError(WAITS.format(where, name))


MOMENTS: Final = tuple(name for name in vars(Inspector) if name.startswith("on_"))
WAITING: Final = (
    inspect.iscoroutinefunction,
    inspect.isasyncgenfunction,
    inspect.isgeneratorfunction,
)
WAITS: Final = (
    "{} is a coroutine or a generator function, and nothing waits for an inspector. "
    "Write `def {}(...)`, and put what takes its time into a queue or a task of your own."
)


NO_INSPECTORS: Final = (
    "Interpreter(inspectors=[...]) takes a list of inspectors, objects of a class that "
    "inherits from Inspector; it got {}."
)


def seconds_of(grace: object) -> float:
    """How many seconds what was cancelled is waited for."""
    if isinstance(grace, int | float) and grace >= 0:
        return grace
    message = (
        f"Interpreter(grace=...) takes seconds, 0 or more; it got {shown(grace, 80)}."
    )
    raise ValueError(message)
