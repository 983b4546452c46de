"""A host on 127.0.0.1 that has one file, and the faults that such hosts have."""

from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from attrs import define, field


@define
class Host:
    """What it has, what it does wrong, and what it was asked.

    Args:
        body: the file.
        cuts: after how many bytes each of the first connections breaks.
        ranges: whether it can begin in the middle.
        status: what it answers, if it has not got the file.
        moved: whether it sends people on to another address first.
    """

    body: bytes
    cuts: list[int] = field(factory=list[int])
    ranges: bool = True
    status: int = 200
    moved: bool = False
    url: str = ""
    asked: list[tuple[str, str]] = field(factory=list[tuple[str, str]])

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        wanted = handler.headers.get("range", "")
        self.asked.append((handler.path, wanted))
        if self.moved and not handler.path.startswith("/elsewhere"):
            handler.send_response(302)
            handler.send_header("location", f"{self.url}/elsewhere")
            handler.send_header("content-length", "0")
            handler.end_headers()
        elif self.status != 200:
            handler.send_error(self.status)
        else:
            self._give(handler, wanted)

    def _give(self, handler: BaseHTTPRequestHandler, wanted: str) -> None:
        start = int(wanted[6:-1]) if wanted and self.ranges else 0
        rest = self.body[start:]
        handler.send_response(206 if start else 200)
        handler.send_header("content-length", str(len(rest)))
        handler.end_headers()
        cut = self.cuts.pop(0) if self.cuts else len(rest)
        handler.wfile.write(rest[:cut])


@contextmanager
def serving(host: Host) -> Generator[Host]:
    """This host, while the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.answer(self)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        host.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield host
        finally:
            server.shutdown()
            thread.join()
