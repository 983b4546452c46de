"""A tool server that gives the answers it is told to give, right or wrong.

It speaks the protocol of 2025-11-25 on its standard input and output, and knows no SDK.
`scripted` makes its command.
"""

import json
import os
import sys
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any
Script: TypeAlias = dict[str, Json]
"""What is answered to a method, or to `method:name` for a call, `method:cursor` for a page.

`{"result": ...}`, `{"error": ...}`, `{"silence": True}`, `{"exit": code}`, or
`{"repeat": True}`, which gives the arguments back as text. `in_turn` has an answer for each
time. With `"first": [...]` these are said before.
"""

HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "raw", "version": "1"},
    "instructions": "Be gentle.",
}


def scripted(*tools: Json, **script: Json) -> list[str]:
    """The command of a server with these tools; `__` and `_` in a key stand for `/`, `:`."""
    told: Script = {
        "initialize": {"result": HELLO},
        "tools/list": {"result": {"tools": tools}},
        **{key.replace("__", "/").replace("_", ":"): to for key, to in script.items()},
    }
    return [sys.executable, "-P", __file__, json.dumps(told)]


def tool(name: str, **more: Json) -> Json:
    """A tool as it is listed; it takes anything."""
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def in_turn(*answers: Json) -> Json:
    """An answer for each time, the last for all that follow."""
    return {"turns": list(answers)}


def says(*content: Json, **more: Json) -> Json:
    """The answer of a call that gives this content."""
    return {"result": {"content": content, **more}}


def text(said: str) -> Json:
    """A block of text."""
    return {"type": "text", "text": said}


def serve(script: Script) -> None:
    """Answer what comes, until nothing more does."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            _answer(asked, _told(script, asked))


def _told(script: Script, asked: Json) -> Json:
    method, params = asked["method"], asked.get("params", {})
    detail = params.get("name", params.get("cursor"))
    unknown = {"error": {"code": -32601, "message": f"{method} is unknown here"}}
    told: Json = script.get(f"{method}:{detail}", script.get(method, unknown))
    turns = told.get("turns", [told])
    return turns.pop(0) if len(turns) > 1 else turns[0]


def _answer(asked: Json, told: Json) -> None:
    if "exit" in told:
        sys.stderr.write("I have had enough.\n")
        sys.stderr.flush()
        os._exit(told["exit"])
    if "repeat" in told:
        told = says(text(json.dumps(asked["params"]["arguments"])))
    for said in told.pop("first", []):
        _say(said)
    if "silence" not in told:
        _say({"id": asked["id"], **told})


def _say(said: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **said}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
