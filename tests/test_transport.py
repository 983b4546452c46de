"""One request over HTTP: in time or not, whole or cut, and the key never shown."""

import asyncio
import gc
import gzip
import logging
import socket
import warnings
from collections.abc import Awaitable, Callable
from typing import Final

import pytest
from attrs import evolve

from loopcore import AssistantMessage, CallModel, ModelError, Usage, UserMessage
from loopcore_adapters import chat
from loopcore_adapters.keys import Key
from loopcore_adapters.transport import Caller, Endpoint, Timeouts
from tests.chat_server import (
    DONE,
    Answer,
    ChatServer,
    Connection,
    chat_server,
    cuts,
    delta,
    finish,
    reply,
    says,
    says_json,
    serving,
)
from tests.reading import Told

SECRET: Final = "sk-very-secret-key"  # noqa: S105  # nobody's
CALL: Final = CallModel("r1.1.1.model.1", "test:model", [UserMessage("hi")])
HELLO: Final = AssistantMessage("hello", model="test:model", usage=Usage(7, 3))

Result = AssistantMessage | ModelError


def caller(
    url: str,
    key: Key = SECRET,
    timeouts: Timeouts | None = None,
    headers: dict[str, str] | None = None,
) -> Caller:
    endpoint = Endpoint(url, key, headers or {}, timeouts or Timeouts())
    return Caller(endpoint, chat.encode, chat.Decoder)


async def ask(url: str, key: Key = SECRET, timeouts: Timeouts | None = None) -> Result:
    return await caller(url, key, timeouts)(CALL, Told())


def asked(answer: Answer, **seconds: float) -> Result:
    """What one call gives."""

    async def run() -> Result:
        async with chat_server(answer) as server:
            return await ask(server.url, timeouts=evolve(Timeouts(), **seconds))

    return asyncio.run(run())


def error(answer: Answer, **seconds: float) -> ModelError:
    """The fault that one call gives."""
    found = asked(answer, **seconds)
    assert isinstance(found, ModelError), found
    return found


class TestAReply:
    def test_comes_streamed(self) -> None:
        assert asked(says(reply("hello"))) == HELLO

    def test_comes_in_one_piece(self) -> None:
        body = {
            "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        }
        assert asked(says_json(body)) == HELLO

    def test_is_told_piece_by_piece_while_it_comes(self) -> None:
        """The second piece is sent only after the first was told."""

        async def run() -> tuple[Result, list[str]]:
            heard, pieces = asyncio.Event(), list[str]()

            async def answer(connection: Connection) -> None:
                await connection.start()
                await connection.send(delta(content="hel"))
                await heard.wait()
                await connection.send(delta(content="lo") + finish("stop") + DONE)
                await connection.end()

            def tell(text: str = "", **_: object) -> None:
                pieces.append(text)
                heard.set()

            async with chat_server(answer) as server:
                return await caller(server.url)(CALL, tell), pieces

        result, pieces = asyncio.run(run())
        assert isinstance(result, AssistantMessage)
        assert (result.text, pieces) == ("hello", ["hel", "lo"])

    def test_is_asked_for_as_the_protocol_says(self) -> None:
        async def run() -> ChatServer:
            async with chat_server(says(reply("a"))) as server:
                await caller(server.url, headers={"X-Team": "blue"})(CALL, Told())
            return server

        (request,) = asyncio.run(run()).requests
        assert request.path == "/v1/chat/completions"
        assert request.body["messages"] == [{"role": "user", "content": "hi"}]
        assert request.headers["authorization"] == f"Bearer {SECRET}"
        assert request.headers["content-type"] == "application/json"
        assert request.headers["x-team"] == "blue"
        assert request.headers["user-agent"] == "loopcore"

    def test_keeps_what_the_address_has_behind_it(self) -> None:
        async def run() -> ChatServer:
            async with chat_server(says(reply("a"))) as server:
                await ask(f"{server.url}/?api-version=2")
            return server

        (request,) = asyncio.run(run()).requests
        assert request.path == "/v1/chat/completions?api-version=2"

    def test_is_complete_at_the_sentinel(self) -> None:
        """Report 54: the server keeps the connection open, and sees it closed."""

        async def run() -> Result:
            gone = asyncio.Event()

            async def answer(connection: Connection) -> None:
                await connection.start()
                await connection.send(reply("hello"))
                await connection.gone()
                gone.set()

            async with chat_server(answer) as server:
                result = await ask(server.url)
                await gone.wait()
                return result

        assert asyncio.run(run()) == HELLO


class TestConnections:
    def test_are_used_again(self) -> None:
        """After a whole reply and after an error; report 179: errors are read and closed."""

        async def run() -> tuple[list[Result], int]:
            busy = says_json({"error": "busy"}, 429)
            answers = [says(reply("hello")), busy, says(reply("hello"), DONE)] * 2
            async with chat_server(*answers) as server:
                call = caller(server.url)
                results = [await call(CALL, Told()) for _ in answers]
                return results, server.connections

        results, connections = asyncio.run(run())
        busy = ModelError("busy", "rate_limit", status=429)
        assert results == [HELLO, busy, HELLO] * 2
        assert connections == 1

    def test_are_enough_for_many_at_once(self) -> None:
        """Report 177: none is lost to a reply that was cut, and nobody waits for a place."""

        async def run() -> list[Result]:
            answers = [cuts(delta(content="a")), says(reply("hello"))] * 55
            async with chat_server(*answers) as server:
                call = caller(server.url)
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(call(CALL, Told())) for _ in answers]
            return [task.result() for task in tasks]

        results = asyncio.run(run())
        assert results.count(HELLO) == 55

    def test_do_not_outlive_their_loop(self) -> None:
        """Report 175: one model, several loops, one after the other. Nothing is left open."""
        with serving(says(reply("hello")), says(reply("hello"))) as server:
            call = caller(server.url)
            assert asyncio.run(_call(call)) == HELLO
            assert asyncio.run(_call(call)) == HELLO
            assert server.connections == 2

    def test_of_a_forgotten_model_are_closed_with_their_loop(self) -> None:
        async def run() -> None:
            async with chat_server(says(reply("hello"))) as server:
                await ask(server.url)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            asyncio.run(run())
            gc.collect()
        assert [w for w in caught if "127.0.0.1" in str(w.message)] == []

    def test_keep_no_cookies(self) -> None:
        """What one model was given is not sent for another."""

        async def run() -> ChatServer:
            answer = says(reply("a"), set_cookie="who=me; Path=/")
            async with chat_server(answer, answer) as server:
                await ask(server.url)
                await ask(server.url)
            return server

        assert ["cookie" in r.headers for r in asyncio.run(run()).requests] == [
            False
        ] * 2

    def test_are_closed_when_a_call_is_cancelled(self) -> None:
        async def run() -> None:
            started, gone = asyncio.Event(), asyncio.Event()

            async def answer(connection: Connection) -> None:
                await connection.start()
                await connection.send(delta(content="a"))
                started.set()
                await connection.gone()
                gone.set()

            async with chat_server(answer) as server:
                task = asyncio.create_task(ask(server.url))
                await started.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await gone.wait()

        asyncio.run(run())


async def _call(call: Callable[[CallModel, Told], Awaitable[Result]]) -> Result:
    return await call(CALL, Told())


class TestFaults:
    def test_of_a_cut_stream_keep_what_had_come(self) -> None:
        found = error(cuts(delta(content="a")))
        assert (found.kind, found.retryable) == ("cut_stream", True)
        assert found.partial == AssistantMessage(
            "a", model="test:model", finish="error"
        )

    def test_after_the_finish_reason_are_none(self) -> None:
        """Report 56."""
        found = asked(cuts(delta(content="a"), finish("stop")))
        assert found == AssistantMessage("a", model="test:model")

    def test_before_any_answer_are_the_networks(self) -> None:
        async def hang_up(connection: Connection) -> None:
            connection.alive = False

        found = error(hang_up)
        assert (found.kind, found.partial) == ("network", None)
        assert "127.0.0.1" in found.message

    def test_of_nobody_there_name_the_address(self) -> None:
        async def run() -> tuple[str, Result]:
            async with chat_server() as server:
                pass
            return server.url, await ask(server.url)

        url, found = asyncio.run(run())
        assert isinstance(found, ModelError)
        assert found.kind == "network"
        assert found.message.startswith(f"{url}: ")
        assert found.message.endswith("and does a server run there?")

    def test_of_the_server_have_all_that_it_said(self) -> None:
        """Report 182: status, message, request id and pause."""
        said = {"error": {"message": "slow down", "type": "rate_limit_error"}}
        answer = says_json(said, 429, retry_after="7", x_request_id="req_1")
        assert error(answer) == ModelError(
            "slow down", "rate_limit", retry_after=7.0, status=429, request_id="req_1"
        )

    def test_inside_a_success_have_the_request_id(self) -> None:
        answer = says(b'data: {"error":"broken"}\n\n', x_request_id="req_1")
        assert error(answer) == ModelError("broken", "server", request_id="req_1")

    def test_of_a_redirect_say_where_to(self) -> None:
        found = error(says(status=308, location="http://127.0.0.1/v2"))
        assert (found.kind, found.status) == ("bad_request", 308)
        assert "http://127.0.0.1/v2" in found.message

    def test_of_a_path_that_is_not_there_name_the_address(self) -> None:
        answer = says_json({"error": {"message": "File Not Found"}}, 404)
        found = error(answer)
        assert found.kind == "bad_request"
        assert found.message.startswith(
            "File Not Found (Is base_url right? If so, is wire? Asked: http:"
        )
        assert found.message.endswith("/v1/chat/completions)")

    def test_of_a_model_that_is_not_there_are_the_servers_words(self) -> None:
        answer = says_json({"error": "model 'x' not found"}, 404)
        assert error(answer).message == "model 'x' not found"

    def test_with_a_long_body_are_not_read_to_the_end(self) -> None:
        found = error(says(*[b"x" * 2**16] * 3, status=500, kind="text/plain"))
        assert (found.kind, found.message) == ("server", f"HTTP 500: {'x' * 300}…")

    def test_whose_body_breaks_off_have_their_status(self) -> None:
        async def answer(connection: Connection) -> None:
            await connection.start(529)
            connection.alive = False

        found = error(answer)
        assert (found.kind, found.status) == ("overloaded", 529)

    @pytest.mark.parametrize("status", [401, 529])
    def test_whose_body_is_late_have_their_status(self, status: int) -> None:
        """Once the headers are there they say what is wrong, however short the time."""

        async def answer(connection: Connection) -> None:
            await connection.start(status)
            await connection.gone()

        for seconds in ({"first": 0.05}, {"total": 0.05}):
            found = error(answer, **seconds)
            kind = "auth" if status == 401 else "overloaded"
            assert (found.kind, found.status) == (kind, status)


BOMB: Final = gzip.compress(b"\n" * 2**24)


class TestCompression:
    def test_is_not_asked_for(self) -> None:
        async def run() -> ChatServer:
            async with chat_server(says(reply("a"))) as server:
                await ask(server.url)
            return server

        (request,) = asyncio.run(run()).requests
        assert request.headers["accept-encoding"] == "identity"

    @pytest.mark.parametrize("how", ["gzip", "deflate", "x, GZIP", "br", "zstd"])
    def test_of_a_reply_is_refused(self, how: str) -> None:
        """A few bytes could be any number of bytes."""
        found = error(says(BOMB, content_encoding=how))
        assert found.kind == "bad_response"
        assert found.message.startswith(f"The server compresses its response ({how})")

    def test_that_is_none_is_none(self) -> None:
        assert asked(says(reply("hello"), content_encoding="utf-8")) == HELLO
        assert asked(says(reply("hello"), content_encoding="identity")) == HELLO

    def test_of_an_error_is_undone_within_limits(self) -> None:
        told = gzip.compress(b'{"error": {"message": "no such thing"}}')
        found = error(says(told, status=404, content_encoding="gzip"))
        assert found.message.startswith("no such thing")

        found = error(says(BOMB, status=500, content_encoding="gzip"))
        assert found == ModelError("HTTP 500 with an empty body", "server", status=500)

    def test_of_an_error_may_be_broken(self) -> None:
        found = error(says(b"\x1f\x8bno", status=529, content_encoding="gzip"))
        assert (found.kind, found.status) == ("overloaded", 529)


class TestTimeouts:
    def test_for_the_first_byte(self) -> None:
        found = error(_stalls(), first=0.05, idle=60)
        assert found.kind == "timeout"
        assert found.message.endswith(": 0.05 s were too short for the first byte.")

    def test_for_the_headers(self) -> None:
        async def answer(connection: Connection) -> None:
            await connection.gone()

        assert error(answer, first=0.05, idle=60).kind == "timeout"

    def test_for_any_other_byte(self) -> None:
        found = error(_stalls(delta(content="a")), first=60, idle=0.05)
        assert found.message.endswith(": 0.05 s were too short for more bytes.")
        assert found.partial
        assert found.partial.text == "a"

    def test_for_a_connection(self) -> None:
        """A server whose queue is full does not even say no."""

        async def run(url: str) -> Result:
            return await ask(url, timeouts=Timeouts(connect=0.05))

        with socket.create_server(("127.0.0.1", 0), backlog=0) as busy:
            place = busy.getsockname()
            with socket.create_connection(place):
                found = asyncio.run(run(f"http://127.0.0.1:{place[1]}/v1"))
        assert isinstance(found, ModelError)
        assert found.kind == "timeout"
        assert found.message.endswith(": 0.05 s were too short to connect.")

    def test_for_all(self) -> None:
        found = error(_stalls(delta(content="a")), total=0.05)
        assert found.message.endswith(": 0.05 s in all were too short.")

    def test_after_the_finish_reason_lose_nothing(self) -> None:
        found = asked(_stalls(delta(content="a"), finish("stop")), idle=0.05)
        assert found == AssistantMessage("a", model="test:model")


def _stalls(*pieces: bytes) -> Answer:
    """A response that stops after these pieces, until the client goes."""

    async def answer(connection: Connection) -> None:
        await connection.start()
        for piece in pieces:
            await connection.send(piece)
        await connection.gone()

    return answer


def no_key() -> str:
    raise KeyError(SECRET)


class TestProxies:
    """The environment names them, as for every other program."""

    def asked(
        self, monkeypatch: pytest.MonkeyPatch, proxy: str, url: str
    ) -> tuple[Result, ChatServer]:
        """What a call through this proxy gives: `{}` is where a server listens."""

        async def run() -> tuple[Result, ChatServer]:
            async with chat_server(says(reply("hello"))) as server:
                place = server.url.removeprefix("http://").removesuffix("/v1")
                monkeypatch.setenv("HTTP_PROXY", proxy.format(place))
                return await ask(url.format(place)), server

        for name in ("http_proxy", "no_proxy", "NO_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        return asyncio.run(run())

    def test_are_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found, server = self.asked(monkeypatch, "http://{}", "http://model.invalid/v1")
        assert found == HELLO
        assert server.requests[0].path == "http://model.invalid/v1/chat/completions"

    def test_get_their_password(self, monkeypatch: pytest.MonkeyPatch) -> None:
        proxy = "http://me:pass-of-mine@{}"
        _, server = self.asked(monkeypatch, proxy, "http://model.invalid/v1?a=b")
        asked = server.requests[0]
        assert asked.path == "http://model.invalid/v1/chat/completions?a=b"
        assert asked.headers["proxy-authorization"].startswith("Basic ")
        assert asked.headers["authorization"] == f"Bearer {SECRET}"

    def test_are_not_used_on_this_machine(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found, server = self.asked(monkeypatch, "http://127.0.0.1:9", "http://{}/v1")
        assert found == HELLO
        assert server.requests[0].path == "/v1/chat/completions"

    def test_that_nobody_is_at_are_a_fault(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proxy = "http://me:pass-of-mine@127.0.0.1:9"
        found, _ = self.asked(monkeypatch, proxy, "http://model.invalid/v1")
        assert isinstance(found, ModelError)
        assert found.kind == "network"
        assert "pass-of-mine" not in found.message

    @pytest.mark.parametrize("scheme", ["ftp", "nonsense"])
    def test_that_are_none_are_a_fault(
        self, scheme: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without the address: it may hold a password."""
        proxy = f"{scheme}://me:pass-of-mine@127.0.0.1:9"
        found, _ = self.asked(monkeypatch, proxy, "http://model.invalid/v1")
        assert isinstance(found, ModelError)
        assert found.kind == "bad_request"
        assert found.message.startswith("The environment names a proxy that cannot be")
        assert "pass-of-mine" not in found.message


class TestKeys:
    def test_may_be_asked_for_before_each_request(self) -> None:
        keys = iter(["first-key", "second-key"])

        async def run() -> ChatServer:
            async with chat_server(says(reply("a")), says(reply("a"))) as server:
                call = caller(server.url, lambda: next(keys))
                await call(CALL, Told())
                await call(CALL, Told())
            return server

        sent = [r.headers["authorization"] for r in asyncio.run(run()).requests]
        assert sent == ["Bearer first-key", "Bearer second-key"]

    def test_may_be_asked_for_asynchronously(self) -> None:
        async def key() -> str:
            return "a-key\n"

        async def run() -> ChatServer:
            async with chat_server(says(reply("a"))) as server:
                await ask(server.url, key)
            return server

        (request,) = asyncio.run(run()).requests
        assert request.headers["authorization"] == "Bearer a-key"

    def test_may_go_in_a_header_of_ones_own(self) -> None:
        async def run() -> ChatServer:
            async with chat_server(says(reply("a"))) as server:
                own = {"Authorization": "Basic x"}
                await caller(server.url, headers=own)(CALL, Told())
            return server

        (request,) = asyncio.run(run()).requests
        assert request.headers["authorization"] == "Basic x"

    def test_need_not_be(self) -> None:
        async def run() -> ChatServer:
            async with chat_server(says(reply("a"))) as server:
                await ask(server.url, None)
            return server

        (request,) = asyncio.run(run()).requests
        assert "authorization" not in request.headers

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (lambda: " ", "api_key() gave blank text, not a key."),
            (lambda: None, "api_key() gave a NoneType, not a key."),
            (no_key, "api_key() raised KeyError."),
            ("sk-se cret", "The API key has a character in it that no key has."),
            ("sk-sécret", "The API key has a character in it that no key has."),
            ("sk-\x00secret", "The API key has a character in it that no key has."),
        ],
    )
    def test_that_are_none_are_faults(self, given: Key, message: str) -> None:
        """And nothing is sent."""
        assert asyncio.run(ask("http://127.0.0.1:1", given)) == ModelError(
            message, "auth"
        )

    def test_that_are_words_are_not_hidden(self) -> None:
        async def run() -> Result:
            async with chat_server(says_json({"error": "no free key"}, 401)) as server:
                return await ask(server.url, "free")

        assert asyncio.run(run()) == ModelError("no free key", "auth", status=401)

    def test_are_never_shown(self, caplog: pytest.LogCaptureFixture) -> None:
        """Not in a repr, a log or an error, even if the server repeats them."""
        caplog.set_level(logging.DEBUG)
        said = {"error": {"message": f"Incorrect API key: {SECRET}, team s3cret-team"}}

        async def run() -> str:
            async with chat_server(says_json(said, 401), cuts()) as server:
                call = caller(
                    f"{server.url}?k=s3cret-query", headers={"x": "s3cret-team"}
                )
                results = [await call(CALL, Told()) for _ in range(2)]
                return repr([call, call.endpoint, *results])

        shown = asyncio.run(run())
        assert "Incorrect API key: [hidden], team [hidden]" in shown
        for text in (shown, caplog.text):
            assert SECRET not in text
            assert "s3cret-team" not in text
            assert "s3cret-query" not in text

    @pytest.mark.parametrize(
        "answer",
        [
            says_json({"error": "bad key s3cret query"}, 401),
            says_json({"error": "bad key s3cret%20query"}, 401),
            says_json({"error": "bad key s3cret-word"}, 401),
            says_json({"error": "a" * 1990 + SECRET}, 401),
            says(b"b" * 290 + SECRET.encode(), status=401, kind="text/plain"),
            says(b"b" * 290 + SECRET.encode()),
            says_json({"error": "bad"}, 401, x_request_id=SECRET),
            says(status=307, location="https://a:s3cret-word@host/v2?k=s3cret-any"),
            says(status=307, location=f"https://host/{SECRET}"),
            says(status=307, location=f"https://host/{'a' * 280}{SECRET}"),
            says(status=307, location="https://host/s3cret%5Cword"),
            says_json({"error": "bad"}, 401, x_request_id="a" * 192 + SECRET),
            says(b'{"detail": {"said": "s3cret\\\\word"}}', status=401),
        ],
        ids=[
            "query",
            "query as it stands",
            "word of a header",
            "long message",
            "long text",
            "no reply",
            "request id",
            "redirect",
            "path of a redirect",
            "long path of a redirect",
            "path as it stands",
            "long request id",
            "as JSON",
        ],
    )
    def test_are_not_shown_in_any_form(self, answer: Answer) -> None:
        """Not in a header, a query or a part of a text, whole or cut."""

        async def run() -> Result:
            async with chat_server(answer) as server:
                own = {"x": "Bearer s3cret-word", "y": "s3cret\\word"}
                call = caller(f"{server.url}?k=s3cret%20query", headers=own)
                return await call(CALL, Told())

        shown = repr(asyncio.run(run()))
        assert "s3cret" not in shown
        assert SECRET[:4] not in shown
