"""The dialects of the common servers, each as its own documentation has it. Data."""

import re
from typing import Final

from attrs import evolve

from loopcore_adapters import efforts as known
from loopcore_adapters.chat.dialect import Dialect, effort
from loopcore_adapters.efforts import Efforts
from loopcore_adapters.loose import Json

LEVELS: Final = ("low", "medium", "high")
UNSIGNED: Final = "skip_thought_signature_validator"
"""What Google's guide to thought signatures names for calls of other models."""


def _switched(off: Json, on: Json, *, graded: bool = False) -> Efforts:
    """Thinking as a switch, with `reasoning_effort` beside it if it is `graded`."""
    grades = {level: {"reasoning_effort": level} if graded else {} for level in LEVELS}
    return {"off": off} | {level: {**on, **grades[level]} for level in LEVELS}


def _worded(*words: str) -> Efforts:
    """The levels as these words of `reasoning_effort`, "off" first."""
    asked = ({"reasoning_effort": word} for word in words)
    return dict(zip(("off", *LEVELS), asked, strict=True))


def _typed(*, graded: bool = False) -> Efforts:
    off, on = {"type": "disabled"}, {"type": "enabled"}
    return _switched({"thinking": off}, {"thinking": on}, graded=graded)


def _template(field: str) -> Efforts:
    """Thinking as a switch of the chat template, as servers of open weights have it."""
    off, on = ({"chat_template_kwargs": {field: value}} for value in (False, True))
    return _switched(off, on)


def _routed(off: str) -> Efforts:
    words = {"off": off, **{level: level for level in LEVELS}}
    return {level: {"reasoning": {"effort": word}} for level, word in words.items()}


OPENAI: Final = Dialect(
    call_id=re.compile(r"[A-Za-z0-9_-]{1,40}"),
    efforts=effort("none"),
    least=known.OPENAI,
    system_once=False,
)
EFFORT: Final = Dialect(efforts=effort(), least=known.OPEN)
CEREBRAS: Final = Dialect(efforts=effort(), least=known.CEREBRAS)
XAI: Final = Dialect(efforts=effort(), least=known.XAI)
ANTHROPIC: Final = Dialect(output="prompt")
"""It passes over both `response_format` and `reasoning_effort`."""

GEMINI: Final = Dialect(
    call_extra=(
        re.compile(r".*gemini-(?![12]\b).*"),
        {"google": {"thought_signature": UNSIGNED}},
    ),
    efforts=effort(),
    least=known.GEMINI,
    output_with_tools=False,
)
"""Models before Gemini 3 refuse a schema beside tools."""

DEEPSEEK: Final = Dialect(
    images=False,
    efforts=_typed(graded=True),
    thinking="reasoning_content",
    thinking_needed="always",  # in a request that has tools, called or not
    output="json_object",
)
MOONSHOT: Final = Dialect(
    efforts=_typed(),
    by_name=(
        (re.compile("kimi-k3.*"), _worded("low", "low", "high", "high")),
        # It takes nothing but "enabled".
        (re.compile("kimi-k2[.]7-code.*"), {**_typed(), "off": {}}),
    ),
    thinking="reasoning_content",
    thinking_needed="calls",
)
ZAI: Final = Dialect(
    efforts=_typed(),
    by_name=((re.compile("glm-5[.]3.*"), _worded("low", "low", "high", "high")),),
    thinking="reasoning_content",
    stream_options=False,
    output="json_object",
)
QWEN: Final = Dialect(
    efforts=_switched({"enable_thinking": False}, {"enable_thinking": True}),
    output="json_object",
)
OPENROUTER: Final = Dialect(
    efforts=_routed("none"),
    by_name=((known.THINKERS, _routed("low")),),
    thinking="reasoning_details",
    cache_marks=True,
)
MISTRAL: Final = Dialect(
    call_id=re.compile(r"[A-Za-z0-9]{9}"),
    call_id_length=9,
    efforts=_worded("none", "high", "high", "high"),  # it refuses any other
    least=known.MISTRAL,
    thinking="content",
    ordered=True,
    stream_options=False,
)
GROQ: Final = Dialect(
    efforts=effort(),
    by_name=((re.compile("qwen/.*"), _worded("none", *["default"] * 3)),),
    least=known.GROQ,
    output_with_tools=False,
    output_streams=False,
)
FIREWORKS: Final = Dialect(
    efforts=effort(), least=known.OPEN, thinking="reasoning_content"
)
OLLAMA: Final = Dialect(efforts=effort(), thinking="reasoning", output_roots=True)
TEMPLATE: Final = Dialect(
    efforts=_template("enable_thinking"),
    thinking="reasoning_content",
    output_roots=True,
    output_with_tools=False,  # their grammars would leave no room for a call
)
VLLM: Final = evolve(TEMPLATE, thinking="reasoning")
"""It passes over `reasoning_content`, which is what it called this once."""
