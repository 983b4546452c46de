"""HTTP: the only module that knows httpx.

A wire protocol gives it a request and a decoder; it adds the address and the key, and
turns whatever goes wrong on the way into a `ModelError`.
"""

import asyncio
import re
import time
import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from functools import cache, lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import SSLContext
from typing import Final, cast

import httpx
from attrs import define, evolve, field, frozen

from loopcore import AssistantMessage, CallModel, ModelError, Tell
from loopcore_adapters.faults import http_fault, request_id
from loopcore_adapters.keys import Key, NoKey, ask, bare, hide, queried
from loopcore_adapters.wire import Decode, Decoder, Encode, HttpRequest, Sign, bearer

NOT_FOUND: Final = 404

_VERSION: Final = re.compile(r"/v[0-9]\w*(?=/)")

ERROR_BODY: Final = 2**16
"""How many bytes of an error's body are read."""

ERROR_SECONDS: Final = 5.0
"""How long an error's body is waited for: its status is known, and says enough."""

GZIP: Final = b"\x1f\x8b"
"""What gzip begins with, and no text does."""

COMPRESSIONS: Final = frozenset(("gzip", "x-gzip", "deflate", "compress", "br", "zstd"))
OWN: Final = {
    "user-agent": "loopcore",
    "accept-encoding": "identity",
    "connection": "keep-alive",
}
LISTS: Final = frozenset(("anthropic-beta",))
"""Headers in which what the wire asks for stands beside what the user does."""

PACKED: Final = (
    "The server compresses its response ({:.80}), and was asked not to: a compressed "
    "stream comes late, and may be of any size."
)

DIRECT: Final = {f"all://{here}": None for here in ("127.0.0.1", "localhost", "[::1]")}
"""Servers on this machine are reached without the proxy that the environment names."""

BAD_PROXY: Final = (
    "The environment names a proxy that cannot be used (HTTP_PROXY, HTTPS_PROXY or "
    "ALL_PROXY): give an address that begins with http://, https:// or socks5://; the "
    "last needs the package socksio."
)

FIRST: Final = "{:g} s were too short for the first byte"
MORE: Final = "{:g} s were too short for more bytes"
IN_ALL: Final = "{:g} s in all were too short"

GRACE: Final = 0.05
"""How many seconds a server has to end a response that is complete.

Most end it at once, and then their connection can be used again.
"""


@frozen
class Timeouts:
    """How many seconds to wait: to connect, for the first byte, for any other, in all."""

    connect: float = 10.0
    first: float = 60.0
    idle: float = 60.0
    total: float | None = None


@frozen
class Endpoint:
    """Where a model is reached. Neither the key nor the headers are ever printed."""

    url: str = field(repr=False)
    key: Key = field(default=None, repr=False)
    headers: Mapping[str, str] = field(factory=dict[str, str], repr=False)
    timeouts: Timeouts = Timeouts()

    @property
    def place(self) -> str:
        """The address as it is shown."""
        return bare(self.url)


@lru_cache(64)
def address(base: str, path: str) -> "Quiet":
    """The address of this path.

    What the base has behind a `?` stays there, before what the path has. A version that
    both have is said once: "https://host/v1" will do for "/v1/messages".

    >>> httpx.URL(address("https://host/v1/?key=k", "/v1/messages?alt=sse"))
    URL('https://host/v1/messages?key=k&alt=sse')
    """
    url = httpx.URL(base)
    way, _, query = path.partition("?")
    version = _VERSION.match(way)
    before = url.path.rstrip("/").removesuffix(version[0] if version else "")
    asked = "&".join(filter(None, (url.query.decode(), query)))
    return Quiet(url.copy_with(path=before + way, query=asked.encode() or None))


@frozen(eq=False)
class Caller:
    """Calls a model: what a `Model` does."""

    endpoint: Endpoint
    encode: Encode
    decode: Decode
    sign: Sign = bearer

    async def __call__(
        self, call: CallModel, tell: Tell
    ) -> AssistantMessage | ModelError:
        """The reply, or why there is none."""
        try:
            key = await ask(self.endpoint.key)
            http = await client()
        except NoKey as problem:
            return ModelError(str(problem), "auth")
        except NoProxy as problem:
            return ModelError(str(problem), "bad_request")
        given = {name.lower(): text for name, text in self.endpoint.headers.items()}
        signed: Mapping[str, str] = self.sign(key) if key else {}
        request = self.encode(call)
        headers = {**OWN, **request.headers, **signed, **given}
        for name in LISTS & request.headers.keys() & given.keys():
            headers[name] = f"{request.headers[name]},{given[name]}"
        exchange = Exchange(self.endpoint, http, self.decode(call, tell))
        result = await exchange.run(evolve(request, headers=headers))
        if isinstance(result, AssistantMessage):
            return result
        return hide(result, (key, *given.values(), *queried(self.endpoint.url)))


class NoProxy(Exception):
    """The proxy in the environment cannot be used."""


class Quiet(httpx.URL):
    """An address that is printed without its query: that may be a key, and httpx logs it."""

    def __str__(self) -> str:
        return bare(super().__str__())


@frozen
class Lent:
    """A client, and what closes it."""

    lender: AsyncGenerator[httpx.AsyncClient]
    client: httpx.AsyncClient


_LENT: Final[dict[asyncio.AbstractEventLoop, Lent]] = {}


async def client() -> httpx.AsyncClient:
    """The one client of the running event loop; all models share its connections."""
    loop = asyncio.get_running_loop()
    if loop not in _LENT:
        for closed in [one for one in list(_LENT) if one.is_closed()]:
            _LENT.pop(closed, None)
        lender = _lend()
        _LENT[loop] = Lent(lender, await anext(lender))
    return _LENT[loop].client


async def _lend() -> AsyncGenerator[httpx.AsyncClient]:
    """A client that is closed when its event loop shuts its asynchronous generators down.

    So no connection outlives its loop, and nobody need close a model. It keeps no
    cookies: what one model was given is not sent for another.
    """
    try:
        lent = httpx.AsyncClient(
            verify=_tls(),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            mounts=DIRECT,
        )
    except (ValueError, ImportError):
        raise NoProxy(BAD_PROXY) from None  # what httpx says may show a password
    try:
        yield lent
    finally:
        await lent.aclose()


@cache
def _tls() -> SSLContext:
    """The certificates, read once: that takes longer than a request on a local network."""
    return httpx.create_ssl_context()


@define
class Exchange:
    """One request and its response, each part of which must come in time."""

    endpoint: Endpoint
    client: httpx.AsyncClient
    decoder: Decoder
    _began: bool = field(default=False, init=False)
    _waiting: tuple[str, float] = field(default=("", 0.0), init=False)
    _end: float | None = field(default=None, init=False)

    async def run(self, request: HttpRequest) -> AssistantMessage | ModelError:
        """The result, also of what goes wrong."""
        try:
            async with asyncio.timeout(None) as timer:
                return await self._converse(request, timer)
        except (TimeoutError, httpx.TimeoutException) as problem:
            said = self._late(problem)
            return self.decoder.finish(ModelError(said, "timeout"))
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            said = f"{self.endpoint.place}: {str(problem) or type(problem).__name__}"
            if isinstance(problem, httpx.ConnectError):
                said = f"{said}. Is the address right, and does a server run there?"
            fault = ModelError(said, "cut_stream" if self._began else "network")
            return self.decoder.finish(fault)

    async def _converse(
        self, request: HttpRequest, timer: asyncio.Timeout
    ) -> AssistantMessage | ModelError:
        times = self.endpoint.timeouts
        now = asyncio.get_running_loop().time()
        self._end = None if times.total is None else now + times.total
        self._wait(timer, times.first, FIRST)
        url = address(self.endpoint.url, request.path)
        asked = httpx.Request(
            request.method,
            url,
            headers=dict(request.headers),
            content=request.body,
            extensions={"timeout": {"connect": times.connect}},
        )
        asked.url = url  # httpx makes a copy, which would be printed whole
        async with aclosing(await self.client.send(asked, stream=True)) as response:
            if not response.is_success:
                return await _refused(response, _left(timer))
            if _packed(response):
                how = response.headers["content-encoding"]
                return ModelError(PACKED.format(how), "bad_response")
            return await self._listen(response, timer)

    async def _listen(
        self, response: httpx.Response, timer: asyncio.Timeout
    ) -> AssistantMessage | ModelError:
        async with aclosing(_bytes(response)) as chunks:
            await self._feed(chunks, timer)
        result = self.decoder.finish()
        if isinstance(result, ModelError) and not result.request_id:
            return evolve(result, request_id=request_id(response.headers))
        return result

    async def _feed(
        self, chunks: AsyncGenerator[bytes], timer: asyncio.Timeout
    ) -> None:
        async for data in chunks:
            self._began = True
            self._wait(timer, self.endpoint.timeouts.idle, MORE)
            if self.decoder.feed(data):
                timer.reschedule(None)
                await _drain(chunks)
                return

    def _wait(self, timer: asyncio.Timeout, seconds: float, what: str) -> None:
        due = asyncio.get_running_loop().time() + seconds
        self._waiting = what, seconds
        if self._end is not None and self._end < due:
            due = self._end
            self._waiting = IN_ALL, self.endpoint.timeouts.total or 0.0
        timer.reschedule(due)

    def _late(self, problem: Exception) -> str:
        if isinstance(problem, httpx.ConnectTimeout):
            seconds = self.endpoint.timeouts.connect
            return f"{self.endpoint.place}: {seconds:g} s were too short to connect."
        what, seconds = self._waiting
        return f"{self.endpoint.place}: {what.format(seconds)}."


def _packed(response: httpx.Response) -> bool:
    """Whether it is compressed. A word that means no compression is sent by mistake."""
    words = response.headers.get("content-encoding", "").lower().split(",")
    return any(word.strip() in COMPRESSIONS for word in words)


def _bytes(response: httpx.Response) -> AsyncGenerator[bytes]:
    """As they come: unpacked by httpx, a few of them could fill the memory."""
    return cast("AsyncGenerator[bytes]", response.aiter_raw())


async def _drain(chunks: AsyncGenerator[bytes]) -> None:
    """Let the server end the response, so that the connection can be used again."""
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(GRACE):
            await _read(chunks)


async def _read(chunks: AsyncGenerator[bytes]) -> None:
    async for _ in chunks:
        pass


def _left(timer: asyncio.Timeout) -> float:
    """How long an error's body may take. The timer stops: the status says enough."""
    now, end = asyncio.get_running_loop().time(), timer.when()
    timer.reschedule(None)
    return ERROR_SECONDS if end is None else min(ERROR_SECONDS, end - now)


async def _refused(response: httpx.Response, seconds: float) -> ModelError:
    if response.has_redirect_location:
        where = bare(response.headers["location"])
        said = (
            f"The server redirects to {where}. If that is right, give it as base_url."
        )
        return ModelError(said, "bad_request", status=response.status_code)
    body = _unpacked(await _error_body(response, seconds))
    fault = http_fault(response.status_code, response.headers, body, time.time())
    if response.status_code != NOT_FOUND or fault.kind == "no_such_model":
        return fault
    hint = f"Is base_url right? If so, is wire? Asked: {response.request.url}"
    return evolve(fault, message=f"{fault.message} ({hint})")


async def _error_body(response: httpx.Response, seconds: float) -> bytes:
    body = bytearray()
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(seconds), aclosing(_bytes(response)) as chunks:
            await _fill(body, chunks)
    return bytes(body[:ERROR_BODY])


async def _fill(body: bytearray, chunks: AsyncGenerator[bytes]) -> None:
    """What comes, up to what is kept of an error; however it ends, it has come."""
    async for data in chunks:
        body += data
        if len(body) > ERROR_BODY:
            return


def _unpacked(body: bytes) -> bytes:
    """An error's body, at most so much of it, if a server compressed it all the same."""
    if not body.startswith(GZIP):
        return body
    with suppress(zlib.error):
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, ERROR_BODY)
    return body
