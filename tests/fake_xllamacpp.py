"""Stands in for xllamacpp: its server, by the same names, with no model behind it.

It is written into a folder as a package, so that the child process imports it. A file of
weights is its order: what to do, and whom to call, so that others learn when it loads and
when it is gone. It replies with what it was asked, and how it was set up.
"""

import json
from pathlib import Path
from typing import Final

SOURCE: Final = """
import json, os, socket, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace


def CommonParams():
    return SimpleNamespace(
        model=SimpleNamespace(), cpuparams=SimpleNamespace(),
        cpuparams_batch=SimpleNamespace(),
    )


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        params = self.server.params
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = {
            "authorized": self.headers["authorization"] == f"Bearer {params.api_keys[0]}",
            "pid": os.getpid(),
            "loaded": params.model.path,
            "template": params.chat_template,
            "context": params.n_ctx,
            "threads": [params.cpuparams.n_threads, params.cpuparams_batch.n_threads],
            "path": self.path,
            "asked": asked,
        }
        choice = {"index": 0, "delta": {"content": json.dumps(said)}}
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        events = [json.dumps({"choices": [one]}) for one in (choice, end)]
        body = "".join(f"data: {event}\\n\\n" for event in [*events, "[DONE]"]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server:
    def __init__(self, params):
        order = json.loads(Path(params.model.path).read_text())
        with open(params.model.path + ".starts", "a") as file:
            file.write("once more\\n")
        if order["do"] == "refuse":
            print("gguf: bad magic", file=sys.stderr)
            raise RuntimeError("Failed to init server")
        if order["do"] == "abort":
            os.abort()
        if order["tell"]:
            self.line = socket.create_connection(("127.0.0.1", order["tell"]))
        if order["do"] == "hang":
            self.line.recv(1)
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.params = params
        threading.Thread(target=self.http.serve_forever).start()
        self.listening_address = f"http://127.0.0.1:{self.http.server_port}"
"""


def install(folder: Path) -> None:
    """Write the package into this folder."""
    package = folder / "xllamacpp"
    package.mkdir()
    (package / "__init__.py").write_text(SOURCE)


def order(file: Path, do: str = "serve", tell: int | None = None) -> Path:
    """Weights with this order: "serve", "refuse", "abort" or "hang"."""
    file.write_text(json.dumps({"do": do, "tell": tell}))
    return file


def starts(file: Path) -> int:
    """How often these weights were loaded."""
    record = file.with_name(f"{file.name}.starts")
    return len(record.read_text().splitlines()) if record.exists() else 0
