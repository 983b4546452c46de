"""Asking the person at the terminal."""

from collections.abc import Callable
from typing import Final, TypeAlias

from loopcore import Answer, RequestApproval
from loopcore.cli.harmless import one_line
from loopcore.frozen import Json, dump_json, parse_json

Ask: TypeAlias = Callable[[str], str]
"""Shows a question, gives the line that was typed; raises EOFError where there is none."""

Say: TypeAlias = Callable[[str], None]


def decided(effect: RequestApproval, ask: Ask, say: Say) -> Answer | None:
    """What a person decides about a call; None for later."""
    question = f"    Run {one_line(effect.spec.name)}?  [y]es  [n]o  [e]dit  [l]ater  "
    while True:
        try:
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
        except EOFError:
            return None


REASON: Final = "    Why not? The model reads it (empty for no reason):  "


def _edited(effect: RequestApproval, ask: Ask, say: Say) -> dict[str, Json]:
    """The arguments that a person changes; an empty line keeps one."""
    changed: dict[str, Json] = {}
    for name, value in effect.arguments.items():
        old = value if isinstance(value, str) else dump_json(value)
        question = f"    {one_line(name)} [{one_line(old)}]:  "
        while text := ask(question).strip():
            try:
                changed[name] = text if isinstance(value, str) else parse_json(text)
                break
            except ValueError as problem:
                say(f"That is not JSON: {problem}.")
    return changed
