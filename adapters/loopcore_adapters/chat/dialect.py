"""Dialects: where servers that speak Chat Completions differ, as data."""

import re
from collections.abc import Mapping
from typing import Final, Literal

from attrs import field, frozen

from loopcore_adapters.efforts import Efforts, Least
from loopcore_adapters.loose import Json


def effort(off: str = "none") -> Efforts:
    """The levels as `reasoning_effort`."""
    levels = {"off": off, "low": "low", "medium": "medium", "high": "high"}
    return {level: {"reasoning_effort": word} for level, word in levels.items()}


@frozen
class Dialect:
    """What a server wants otherwise than the protocol's inventor does.

    Args:
        images: whether it takes pictures; else each run of them becomes a stand-in.
        call_id: which call ids it takes as they are.
        call_id_length: how long the others are made.
        call_extra: the names of models that refuse a reply whose first call carries nothing
            of theirs, such as another model's, and what stands in for it.
        efforts: how it is asked to think, by level; a level that is not here is not sent.
        by_name: the same for some models, by their names, that are asked otherwise.
        least: what is asked of models that know no "off" as the others do, or no effort.
        thinking: the field in which it wants its own thinking back: as text, which most only
            want beside tool calls, as the details that it gave, or within the content. No
            model is sent another's.
        thinking_needed: where that field must stand, if empty: beside "calls", or "always".
        cache_marks: whether it must be told what to keep in its prompt cache: the system
            prompt, and all up to the last message. The option `cache_control` says
            otherwise: None leaves the marks out.
        system_once: whether the system speaks but at the beginning, as most chat templates
            have it; else it may at any time. What it says later is then said by a user's
            message.
        ordered: whether a user may speak after a tool only if the assistant spoke between.
        stream_options: whether it must be asked for usage, and may be.
        output: how it is held to a JSON Schema: by "json_schema", as the protocol has it;
            by "json_object", which promises some JSON, so that the schema is a prompt; or
            by "prompt" alone.
        output_roots: whether that schema may be of any value; else only of an object.
        output_with_tools: whether it may still call tools while it is held to a schema.
        output_streams: whether it streams while it is held to a schema.
    """

    images: bool = True
    call_id: re.Pattern[str] = re.compile(r"[\w.:-]{1,64}", re.ASCII)
    call_id_length: int = 40
    call_extra: tuple[re.Pattern[str], Mapping[str, Json]] | None = None
    efforts: Efforts = field(factory=dict[str, Mapping[str, Json]])
    by_name: tuple[tuple[re.Pattern[str], Efforts], ...] = ()
    least: Least = ()
    thinking: Literal[
        "", "reasoning", "reasoning_content", "reasoning_details", "content"
    ] = ""
    thinking_needed: Literal["", "calls", "always"] = ""
    cache_marks: bool = False
    system_once: bool = True
    ordered: bool = False
    stream_options: bool = True
    output: Literal["json_schema", "json_object", "prompt"] = "json_schema"
    output_roots: bool = False
    output_with_tools: bool = True
    output_streams: bool = True


PLAIN: Final = Dialect()
