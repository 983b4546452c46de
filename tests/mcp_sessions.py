"""A tool server behind an address that keeps sessions, as most do, and can forget them."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from attrs import define, field

from tests.mcp_raw import HELLO, tool

TOOLS: Final = {"tools": [tool("count")]}
NO_SUCH_METHOD: Final = {"error": {"code": -32601, "message": "no such method"}}
NO_SUCH_SESSION: Final = {"error": {"code": -32600, "message": "Session not found"}}


@define
class Sessions:
    """Which there are, how many there were, and how often the tool ran."""

    open: set[str] = field(factory=set[str])
    begun: int = 0
    runs: int = 0
    says_why: bool = True

    def forget(self) -> None:
        """As a server does that starts anew, or after a night without a word."""
        self.open.clear()

    def answer(self, asked: dict[str, Any], session: str) -> tuple[int, Any]:
        """The status and what is said."""
        match asked["method"]:
            case "server/discover":
                return 200, NO_SUCH_METHOD
            case "initialize":
                self.begun += 1
                self.open.add(str(self.begun))
                return 200, {"result": HELLO}
            case _ if session not in self.open:
                return 404, NO_SUCH_SESSION if self.says_why else None
            case "tools/list":
                return 200, {"result": TOOLS}
            case "tools/call":
                self.runs += 1
                text = [{"type": "text", "text": str(self.runs)}]
                return 200, {"result": {"content": text}}
            case _:
                return 202, None


@contextmanager
def sessions(**more: Any) -> Generator[tuple[str, Sessions]]:
    """The address of such a server."""
    kept = Sessions(**more)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # quiet
            pass

        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            asked = json.loads(self.rfile.read(size))
            session = self.headers.get("mcp-session-id", "")
            status, said = kept.answer(asked, session)
            body = {"jsonrpc": "2.0", "id": asked.get("id"), **said} if said else None
            self._says(status, json.dumps(body).encode() if body else b"")

        def do_GET(self) -> None:
            """It has nothing to say of its own, and no such page."""
            self._says(404, b"")

        def do_DELETE(self) -> None:
            self._says(200, b"")

        def _says(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("mcp-session-id", str(kept.begun))
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
