"""What a tool server gives is what a tool gives: nothing is lost without a word."""

import json
from typing import Any

import pytest
from mcp.types import CallToolResult

from loopcore import Image, Text, ToolOutput
from loopcore_adapters.tool_servers.content import output_of


def output(*content: Any, **more: Any) -> ToolOutput:
    """The output that this result, as it comes over the wire, is."""
    wire = {"content": content, **more}
    return output_of(CallToolResult.model_validate_json(json.dumps(wire)))


def test_text_and_pictures_stay_as_they_are() -> None:
    assert ToolOutput(
        [Text("See"), Image("aGk=", "image/png"), Text("this.")]
    ) == output(
        {"type": "text", "text": "See"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "text", "text": "this."},
    )


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (
            {"type": "audio", "data": "aGkh", "mimeType": "audio/wav"},
            Text("[sound left out: audio/wav, 3 bytes]"),
        ),
        (
            {"type": "image", "data": "aGkh", "mimeType": "image/svg+xml"},
            Text("[data left out: image/svg+xml, 3 bytes]"),
        ),
        (
            {
                "type": "resource_link",
                "uri": "file:///a.txt",
                "name": "a",
                "title": "The letter A",
                "description": "Its shape.",
                "mimeType": "text/plain",
            },
            Text("[resource file:///a.txt: The letter A, Its shape., text/plain]"),
        ),
        (
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
            Text("[resource file:///a.txt: a]"),
        ),
        (
            {"type": "resource", "resource": {"uri": "a://b", "text": "line\nline"}},
            Text("[resource a://b]\nline\nline"),
        ),
    ],
    ids=["sound", "drawing", "link", "bare link", "text"],
)
def test_what_no_model_can_be_shown_is_said(block: Any, shown: Text) -> None:
    assert ToolOutput([shown]) == output(block)


@pytest.mark.parametrize(
    ("mime", "shown"),
    [
        ("image/jpeg", Image("aGkh", "image/jpeg")),
        ("application/pdf", Text("[data left out: application/pdf, 3 bytes]")),
        (None, Text("[data left out: of no known type, 3 bytes]")),
    ],
)
def test_a_resource_of_bytes_is_a_picture_if_it_is_one(
    mime: str | None, shown: Text | Image
) -> None:
    resource = {"uri": "a://b", "blob": "aGkh", "mimeType": mime}

    found = output({"type": "resource", "resource": resource})

    assert ToolOutput([Text("[resource a://b]"), shown]) == found


def test_structured_content_is_for_the_program() -> None:
    found = output({"type": "text", "text": "3"}, structuredContent={"sum": [3]})

    assert ToolOutput("3", details={"sum": [3]}) == found


def test_structured_content_that_stands_alone_is_shown_too() -> None:
    found = output(structuredContent={"sum": 3})

    assert ToolOutput('{"sum":3}', details={"sum": 3}) == found


@pytest.mark.parametrize("odd", [float("nan"), [[]]], ids=["not a number", "deep"])
def test_structured_content_that_is_no_json_here_is_text(odd: Any) -> None:
    for _ in range(110 if odd == [[]] else 0):
        odd = [odd]

    found = output({"type": "text", "text": "odd"}, structuredContent={"it": odd})

    assert ToolOutput("odd", details=json.dumps({"it": odd})) == found


def test_a_failure_is_an_error_in_its_own_words() -> None:
    found = output({"type": "text", "text": "no paper left"}, isError=True)

    assert ToolOutput("no paper left", outcome="error") == found


def test_a_failure_without_a_word_gets_one() -> None:
    found = output(isError=True)

    assert ToolOutput("The tool failed and did not say why.", outcome="error") == found


def test_nothing_is_nothing() -> None:
    assert ToolOutput("") == output()
