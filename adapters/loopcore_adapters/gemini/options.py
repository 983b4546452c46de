"""Options: each goes as it is to the place that the protocol has for it."""

import re
from collections.abc import Mapping
from typing import Final, cast

from attrs import frozen

from loopcore_adapters.loose import Json

GENERATION: Final = frozenset(
    (
        *("temperature", "topP", "topK", "seed", "maxOutputTokens", "stopSequences"),
        *("candidateCount", "presencePenalty", "frequencyPenalty", "thinkingConfig"),
        *("responseMimeType", "responseSchema", "responseJsonSchema", "responseFormat"),
        *("responseModalities", "responseLogprobs", "logprobs", "mediaResolution"),
        *("speechConfig", "imageConfig", "audioTranscriptionConfig", "routingConfig"),
        *("enableEnhancedCivicAnswers", "audioTimestamp", "modelSelectionConfig"),
    )
)
"""The fields of `generationConfig`, where the protocol has what others have on top."""

TOP: Final = frozenset(
    (
        *("contents", "systemInstruction", "tools", "toolConfig", "safetySettings"),
        *("generationConfig", "cachedContent", "serviceTier", "continuationToken"),
    )
)
_HUMP: Final = re.compile(r"_([a-z0-9])")


@frozen
class Placed:
    """What is asked for beside the conversation: on top, and in `generationConfig`."""

    top: Mapping[str, Json]
    generation: Mapping[str, Json]


def placed(options: Mapping[str, Json]) -> Placed:
    """The options, each in its place. Names may be written with underscores.

    >>> placed({"temperature": 0, "max_output_tokens": 9, "safetySettings": []})
    Placed(top={'safetySettings': []}, generation={'temperature': 0, 'maxOutputTokens': 9})
    """
    known = {_known(name): value for name, value in options.items()}
    inner = {name: value for name, value in known.items() if name in GENERATION}
    top = {name: value for name, value in known.items() if name not in GENERATION}
    return Placed(top, {**_members(top.pop("generationConfig", None)), **inner})


def _members(value: Json) -> dict[str, Json]:
    """The members of an object, whether frozen or not."""
    return dict(cast("Mapping[str, Json]", value)) if isinstance(value, Mapping) else {}


def _known(name: str) -> str:
    camel = _HUMP.sub(lambda hump: hump[1].upper(), name)
    return camel if camel in GENERATION | TOP else name
