"""`connect_local`: a model that runs on this machine, by its name or its file."""

from difflib import get_close_matches
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NoReturn

from attrs import define, evolve, field, frozen

from loopcore import AssistantMessage, CallModel, Model, ModelError, Tell
from loopcore_adapters import chat
from loopcore_adapters.chat.dialects import TEMPLATE
from loopcore_adapters.costs import priced
from loopcore_adapters.local.engine import NotStarted, Running, Setup, engine
from loopcore_adapters.local.known import KNOWN, Weights
from loopcore_adapters.local.progress import Meter
from loopcore_adapters.local.weights import NoWeights, cache, fetch, sources
from loopcore_adapters.loose import Json
from loopcore_adapters.transport import Caller, Endpoint, Timeouts
from loopcore_adapters.wire import Encode

CODER: Final = "qwen2.5-coder"
"""Files with this in their name are of a model that does not heed its own template."""

DEFAULTS: Final = {"temperature": 0, "max_tokens": 1024}
"""What each request says if nobody says otherwise: small models may never end."""

TIMEOUTS: Final = Timeouts(first=600, idle=600)
"""A long prompt takes minutes, and a call waits for those before it."""

ONCE: Final = {"connection": "close"}
"""A connection for each request: the server drops some that are to be used again."""


def connect_local(
    name: str,
    /,
    *,
    context: int = 8192,
    threads: int = 1,
    template: str | None = None,
    **options: Json,
) -> Model:
    """A model that runs on this machine, in the embedded runtime.

    Nothing is fetched or loaded before the model is called. Calls of one model wait for
    each other.

    Args:
        name: a name that is known here, or the path of a .gguf file.
        context: how many tokens a request and its reply may have.
        threads: on how many threads it computes. More than one is faster only where no
            other process wants the same cores.
        template: a Jinja chat template, instead of the file's own.
        options: fields of each request, such as `max_tokens=200`.

    Raises:
        ValueError: saying what to give instead.
    """
    weights = KNOWN.get(name)
    path = cache() / weights.file if weights else _file(name)
    if find_spec("xllamacpp") is None:
        _refuse(
            name, 'needs the embedded runtime: `pip install "loopcore[local]"`.', ""
        )
    for word, value in {"context": context, "threads": threads}.items():
        if value < 1:
            _refuse(name, f"{word}={value!r}; give a whole number above 0.")
    own = "" if CODER not in path.name.lower() else _coder_template()
    setup = Setup(str(path), own if template is None else template, context, threads)
    dialect = evolve(TEMPLATE, images=False)
    encode = chat.Encoder(dialect, {**DEFAULTS, **options})
    model = Model(f"local:{name}", Embedded(setup, weights, encode))
    return priced(model, lambda _: 0.0)  # it costs nothing but time


def _refuse(name: str, why: str, colon: str = ":") -> NoReturn:
    message = f"connect('local:{name}'){colon} {why}"
    raise ValueError(message)


def _file(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_file():
        return path.resolve()
    names = ", ".join(map(repr, KNOWN))
    near = get_close_matches(name, KNOWN, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if path.suffix == ".gguf":
        _refuse(name, f"there is no file {str(path.absolute())!r}.{hint}")
    _refuse(
        name,
        f"no local model has this name.{hint} There is {names}; or give the path of a "
        ".gguf file.",
    )


def _coder_template() -> str:
    return (files("loopcore_adapters.local") / "qwen.jinja").read_text(encoding="utf-8")


@frozen
class Line:
    """A server, and what calls it."""

    running: Running
    caller: Caller


@define(eq=False)
class Embedded:
    """Calls the model: fetches its weights if need be, starts its engine if need be."""

    setup: Setup
    weights: Weights | None
    encode: Encode
    _line: Line | None = field(default=None, init=False, repr=False)

    async def __call__(
        self, call: CallModel, tell: Tell
    ) -> AssistantMessage | ModelError:
        """The reply, or why there is none."""
        try:
            caller = await self._caller()
        except NoWeights as problem:
            return problem.error
        except NotStarted as problem:
            return ModelError(str(problem), "raised")
        return await caller(call, tell)

    async def _caller(self) -> Caller:
        if self.weights:
            await fetch(self.weights, Path(self.setup.path).parent, sources(), Meter())
        running = await engine(self.setup).running()
        if self._line is None or self._line.running is not running:
            endpoint = Endpoint(f"{running.url}/v1", running.key, ONCE, TIMEOUTS)
            caller = Caller(endpoint, self.encode, chat.Decoder)
            self._line = Line(running, caller)
        return self._line.caller
