"""One conversation as each of the four protocols has it, for those who write it by hand."""

from collections.abc import Callable
from typing import Any, Final

Json = Any
SCHEMA: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
SAID: Final = "The weather of a city, as the weather service has it."
ASKED: Final = "Compare the weather of two hundred cities, one at a time."
KEY: Final = "nobody's"
RESULT: Final = "17 degrees, light rain, wind from the west. " * 10


def chat_body(history: list[Json]) -> dict[str, Json]:
    function = {"name": "weather", "description": SAID, "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    options = {"stream": True, "stream_options": {"include_usage": True}}
    return {"model": "m", "messages": history, "tools": tools, **options}


def chat_round(call_id: str) -> list[Json]:
    function = {"name": "weather", "arguments": '{"city":"Paris"}'}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": RESULT},
    ]


def messages_body(history: list[Json]) -> dict[str, Json]:
    tools = [{"name": "weather", "description": SAID, "input_schema": SCHEMA}]
    fields = {"model": "m", "max_tokens": 999, "messages": history, "tools": tools}
    return {**fields, "stream": True}


def messages_round(call_id: str) -> list[Json]:
    call = {"type": "tool_use", "id": call_id, "name": "weather"}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": RESULT}
    return [
        {"role": "assistant", "content": [{**call, "input": {"city": "Paris"}}]},
        {"role": "user", "content": [result]},
    ]


def responses_body(history: list[Json]) -> dict[str, Json]:
    tool = {"type": "function", "name": "weather", "description": SAID}
    tools = [{**tool, "parameters": SCHEMA, "strict": False}]
    return {
        "model": "m",
        "input": history,
        "tools": tools,
        "stream": True,
        "store": False,
    }


def responses_round(call_id: str) -> list[Json]:
    call = {"type": "function_call", "call_id": call_id, "name": "weather"}
    output = {"type": "function_call_output", "call_id": call_id, "output": RESULT}
    return [{**call, "arguments": '{"city":"Paris"}'}, output]


def gemini_body(history: list[Json]) -> dict[str, Json]:
    function = {"name": "weather", "description": SAID, "parametersJsonSchema": SCHEMA}
    return {"contents": history, "tools": [{"functionDeclarations": [function]}]}


def gemini_round(call_id: str) -> list[Json]:
    call = {"id": call_id, "name": "weather", "args": {"city": "Paris"}}
    result = {"id": call_id, "name": "weather", "response": {"output": RESULT}}
    return [
        {"role": "model", "parts": [{"functionCall": call}]},
        {"role": "user", "parts": [{"functionResponse": result}]},
    ]


def asked(text: str) -> dict[str, list[Json]]:
    """The first message over each wire."""
    said = [{"role": "user", "content": text}]
    parts = [{"role": "user", "parts": [{"text": text}]}]
    return {"chat": said, "messages": said, "responses": said, "gemini": parts}


BODIES: Final[dict[str, Callable[[list[Json]], dict[str, Json]]]] = {
    "chat": chat_body,
    "messages": messages_body,
    "responses": responses_body,
    "gemini": gemini_body,
}
ROUNDS: Final[dict[str, Callable[[str], list[Json]]]] = {
    "chat": chat_round,
    "messages": messages_round,
    "responses": responses_round,
    "gemini": gemini_round,
}
PATHS: Final = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/m:streamGenerateContent?alt=sse",
}
BASES: Final = {"chat": "/v1", "messages": "", "responses": "/v1", "gemini": ""}
