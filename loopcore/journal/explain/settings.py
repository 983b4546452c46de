"""Who set a setting: an input, a hook between turns, or the configuration."""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from loopcore.effects import CallModel
from loopcore.frozen import UNSET, dump_json
from loopcore.inputs import Continue, Prompt
from loopcore.journal.explain.past import WIDE, Past, has_field, told_input, unknown
from loopcore.journal.folding import Step
from loopcore.journal.history import wrote
from loopcore.journal.tables import short
from loopcore.settings import Settings

LASTING: Final = "prepare_next_turn"
"""The point at which hooks write settings; elsewhere they change one request."""


@frozen
class Setting:
    """A setting was set: by whom, in which step."""

    who: str
    step: Step


def setting(past: Past, name: str) -> Iterator[str]:
    """What a setting was at the end, and who had set it, in lines."""
    settings = past.end.settings
    if not has_field(settings, name):
        unknown(
            f"there is no setting {name!r}: model, system, tools, thinking, options"
        )
    yield f"setting {name}: {short(text_of(settings, name), WIDE)}"
    found = last_set(past, past.steps, name)
    yield f"  ← {_told(found, name) if found else at_start(past, name)}"


def at_start(past: Past, name: str) -> str:
    """Who had set it before anything that is recorded."""
    hook = past.journal.start.by.get(name)
    since = "when the journal began"
    return f"{hook}, {since}" if hook else f"it was so {since}"


def last_set(past: Past, steps: Sequence[Step], name: str) -> Setting | None:
    """When it was last set in these steps of the run itself."""
    found = (_set_in(past, step, name) for step in reversed(steps))
    return next((one for one in found if one), None)


def _set_in(past: Past, step: Step, name: str) -> Setting | None:
    for shaped in wrote([step]):
        is_own = shaped.run_id == past.journal.run_id
        if is_own and shaped.point == LASTING and name in shaped.fields:
            return Setting(f"{step.state.by.get(name, shaped.hook)} at {LASTING}", step)
    if not isinstance(step.input, Prompt | Continue):
        return None
    if getattr(step.input, name, UNSET) is not UNSET:
        return Setting(told_input(step), step)
    is_prompt = isinstance(step.input, Prompt)  # which begins from the configuration
    return Setting("the configuration", step) if is_prompt else None


def _told(found: Setting, name: str) -> str:
    place = told_input(found.step)
    who = found.who if found.who == place else f"{found.who} ({place})"
    before, after = found.step.before.settings, found.step.state.settings
    if getattr(before, name) == getattr(after, name):
        return f"{who}, as it was before"
    was, now = (short(text_of(one, name), WIDE // 2) for one in (before, after))
    return f"{who}: from {was} to {now}"


def text_of(settings: Settings | CallModel, name: str) -> str:
    """A setting as text."""
    value = getattr(settings, name)
    match name:
        case "tools":
            return ", ".join(tool.name for tool in value) or "none"
        case "options":
            return dump_json(value)
        case _:
            return str(value or "none")
