"""How the source engine makes arguments fit a schema, and what T8 and T9 change."""

import json
from collections.abc import Collection
from typing import Final

from jsonschema_rs import validator_for

from loopcore.frozen import Json, freeze

EMPTY: Final = {"string": "", "number": 0, "integer": 0, "boolean": False}


def source_arguments(schema: Json, raw: Json, decided: Collection[str]) -> Json:
    """The arguments that the tool gets, None if they are invalid."""
    if schema is None:
        return raw
    fitted = _fit(schema, raw, decided)
    return fitted if _valid(schema, fitted) else None


def _valid(schema: Json, value: Json) -> bool:
    return validator_for(json.dumps(schema)).is_valid(freeze(value))


def _fit(schema: Json, value: Json, decided: Collection[str]) -> Json:
    if "anyOf" in schema:
        return _fit_any(schema["anyOf"], value, decided)
    match value:
        case dict() if "properties" in schema:
            return _fit_object(schema["properties"], value, decided)
        case list() if "items" in schema:
            return _fit_items(schema["items"], value, decided)
        case None:
            return None if "T8" in decided else EMPTY.get(schema.get("type", ""))
        case _:
            return _cast(schema.get("type"), value)


def _fit_object(rules: Json, value: Json, decided: Collection[str]) -> Json:
    return {key: _fit(rules.get(key, {}), value[key], decided) for key in value}


def _fit_items(rule: Json, value: Json, decided: Collection[str]) -> Json:
    return [_fit(rule, item, decided) for item in value]


def _fit_any(branches: Json, value: Json, decided: Collection[str]) -> Json:
    """The first branch that the value can be made to fit, even if it fits a later one."""
    if "T9" in decided and any(_valid(branch, value) for branch in branches):
        return value
    for branch in branches:
        fitted = _fit(branch, value, decided)
        if _valid(branch, fitted):
            return fitted
    return value


def _cast(kind: str | None, value: Json) -> Json:
    match kind, value:
        case ("string", bool() | int() | float()):
            return json.dumps(value)
        case (("number" | "integer"), bool()):
            return int(value)
        case (("number" | "integer"), str()):
            return _number(value, whole=kind == "integer")
        case ("boolean", "true" | "false"):
            return value == "true"
        case ("boolean", 0 | 1):
            return bool(value)
        case _:
            return value


def _number(text: str, *, whole: bool) -> Json:
    try:
        number = float(text)
    except ValueError:
        return text
    if not number.is_integer():
        return text if whole else number
    return int(number)
