"""Asking the person at the terminal."""

from collections.abc import Callable
from typing import Final, TypeAlias

from loopcore import Answer, RequestApproval
from loopcore.cli.harmless import one_line
from loopcore.frozen import UNSET, Json, dump_json, parse_json

Ask: TypeAlias = Callable[[str], str]
"""Shows a question, gives the line that was typed; raises EOFError where there is none."""

Say: TypeAlias = Callable[[str], None]


def decided(effect: RequestApproval, ask: Ask, say: Say) -> Answer | None:
    """What a person decides about a call; None for later."""
    try:
        return _decided(effect, ask, say)
    except EOFError:
        return None


def _decided(effect: RequestApproval, ask: Ask, say: Say) -> Answer | None:
    question = f"    Run {one_line(effect.spec.name)}?  [y]es  [n]o  [e]dit  [l]ater  "
    while True:
        match ask(question).strip().lower():
            case "y" | "yes":
                return effect.approve()
            case "n" | "no":
                return effect.reject(ask(REASON).strip())
            case "e" | "edit":
                return effect.edit(**_edited(effect, ask, say))
            case "l" | "later":
                return None
            case _:
                say("That is none of these: y, n, e, l.")


REASON: Final = "    Why not? The model reads it (empty for no reason):  "


def _edited(effect: RequestApproval, ask: Ask, say: Say) -> dict[str, Json]:
    """The arguments that a person changes; an empty line keeps one."""
    found = {
        name: _value(name, value, ask, say) for name, value in effect.arguments.items()
    }
    return {name: value for name, value in found.items() if value is not UNSET}


def _value(name: str, old: Json, ask: Ask, say: Say) -> Json:
    """What a person writes for one argument; UNSET if nothing."""
    is_text = isinstance(old, str)
    shown = one_line(old if is_text else dump_json(old))
    while text := ask(f"    {one_line(name)} [{shown}]:  ").strip():
        try:
            return text if is_text else parse_json(text)
        except ValueError as problem:
            say(f"That is not JSON: {problem}.")
    return UNSET
