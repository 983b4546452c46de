"""What to run: a module that says it, or the embedded model with harmless tools."""

import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from attrs import frozen

from loopcore import (
    Answer,
    CallModel,
    Effect,
    Interpreter,
    LoopConfig,
    Model,
    Perform,
    RunTool,
    Tell,
    Tool,
    ToolSpec,
)
from loopcore.cli.mistakes import Mistake, place_of
from loopcore.cli.tools import TOOLS
from loopcore.tools import spec_of

T = TypeVar("T")

EMBEDDED: Final = "local:qwen2.5-coder-0.5b"
SYSTEM: Final = "You are a helpful assistant. Answer briefly."
"""More words than these make so small a model refuse, or call tools for a greeting."""


@frozen
class App:
    """A configuration and an interpreter for it. `name` is how it was called for."""

    name: str | None
    config: LoopConfig
    interpreter: Interpreter


def embedded(model: str | None, tools: Iterable[Tool]) -> App:
    """An app for when there is none: a model, and harmless tools unless others are given."""
    given = tuple(tools) or TOOLS
    connected = connected_to(model or EMBEDDED)
    config = LoopConfig(model=connected, tools=given, system=SYSTEM)
    return App(None, config, Interpreter(connected, *given))


def loaded(name: str) -> App:
    """The app of this name: `module`, or `module:config`."""
    path, _, attribute = name.partition(":")
    module = _imported(path, NO_MODULE)
    config = _member(module, attribute or "config", LoopConfig)
    return App(name, config, _member(module, "interpreter", Interpreter))


def configuration(name: str) -> LoopConfig:
    """The configuration of an app, for what needs no interpreter."""
    path, _, attribute = name.partition(":")
    return _member(_imported(path, NO_APP), attribute or "config", LoopConfig)


def callable_of(name: str) -> Callable[[Any], Any]:
    """The function of this name: `module:function`."""
    path, _, attribute = name.partition(":")
    found = _found(_imported(path, NO_FUNCTION.format(name)), attribute, A_FUNCTION)
    if callable(found):
        function: Callable[[Any], Any] = found
        return function
    message = f"{attribute!r} of {path!r} is a {type(found).__name__}. {A_FUNCTION}"
    raise Mistake(message)


A_FUNCTION: Final = "--fails takes 'module:function', a function of a Replay."
NO_FUNCTION: Final = f"There is no module for {{0!r}} here. {A_FUNCTION}"


def connected_to(model: str) -> Model:
    """The model of this name."""
    # An app that has its own models need not wait for the import of an HTTP client.
    from loopcore_adapters import connect  # noqa: PLC0415

    return connect(model)


def tools_of(name: str) -> tuple[Tool, ...]:
    """The tools of a module, or those under one name in it."""
    path, _, attribute = name.partition(":")
    module = _imported(path, NO_TOOLS)
    found = (
        _found(module, attribute, TOOLS_OF)
        if attribute
        else list(vars(module).values())
    )
    tools: list[Tool] = [one for one in _several(found) if isinstance(one, Tool)]
    if not tools:
        message = f"There are no tools in {name!r}. Decorate functions with @tool."
        raise Mistake(message)
    return tuple(tools)


def _several(found: Any) -> list[Any]:  # noqa: ANN401  # whatever is there
    return list(found) if hasattr(found, "__iter__") else [found]


def together(config: LoopConfig, tools: Iterable[Tool]) -> tuple[ToolSpec, ...]:
    """The tools of a configuration, and these."""
    specs = tuple(map(spec_of, (*config.tools, *tools)))
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            message = (
                f"Two tools are named {name!r}; the APP and --tools both have one."
            )
            raise Mistake(message)
    return specs


def _imported(path: str, missing: str) -> ModuleType:
    """A module, found from the current folder as `python -m` would, or what is missing."""
    if path.endswith(".py") or "/" in path:
        message = f"{path!r} is a file; give its import path: {_dotted(path)!r}."
        raise Mistake(message)
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as problem:
        if problem.name is None or not f"{path}.".startswith(f"{problem.name}."):
            raise Mistake(_broken(path, problem)) from problem
        raise Mistake(missing.format(path)) from None
    except Exception as problem:
        raise Mistake(_broken(path, problem)) from problem


NO_APP: Final = "There is no module {0!r} here. An APP is an import path such as 'app'."
NO_MODULE: Final = (
    f"{NO_APP} If {{0!r}} begins the prompt, put the whole prompt into quotes."
)
TOOLS_OF: Final = (
    "--tools takes the import path of a module with functions that are decorated with "
    "@tool; 'module:name' takes one of them, or a list."
)
NO_TOOLS: Final = f"There is no module {{0!r}} here. {TOOLS_OF}"


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").strip(".")


def _broken(path: str, problem: Exception) -> str:
    said = f"{type(problem).__name__}: {problem}"
    return f"{path!r} cannot be imported: {said} ({place_of(problem)})"


def _found(module: ModuleType, name: str, wanted: str) -> Any:  # noqa: ANN401  # whatever is there
    if not hasattr(module, name):
        message = f"{module.__name__!r} has no {name!r}. {wanted}"
        raise Mistake(message)
    return getattr(module, name)


def _member(module: ModuleType, name: str, kind: type[T]) -> T:
    value = _found(module, name, WANTED)
    if isinstance(value, kind):
        return value
    message = (
        f"{name!r} of {module.__name__!r} is a {type(value).__name__}, not "
        f"{kind.__name__}. {WANTED}"
    )
    raise Mistake(message)


WANTED: Final = (
    "An APP is a module with `config`, a LoopConfig, and `interpreter`, an Interpreter; "
    "'module:name' takes another config of it."
)


class Besides:
    """Models and tools that are had besides those of an interpreter, also later ones."""

    def __init__(self) -> None:
        self._models: dict[str, Interpreter] = {}
        self._tools: dict[str, Interpreter] = {}

    def add(self, *more: Model | Tool) -> None:
        """These are to be had, too."""
        for one in more:
            known = self._models if isinstance(one, Model) else self._tools
            name = one.id if isinstance(one, Model) else one.spec.name
            known[name] = Interpreter(one)

    async def around(self, effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        """Perform what is had here; leave the rest to the interpreter."""
        found = None
        match effect:
            case CallModel(model=model):
                found = self._models.get(model)
            case RunTool(spec=spec):
                found = self._tools.get(spec.name)
            case _:
                pass
        return await (found.perform(effect, tell) if found else inner(effect, tell))
