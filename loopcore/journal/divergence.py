"""`Divergence`: where a replay is not what was recorded, first, and who wrote it."""

from typing import Final

from attrs import frozen

from loopcore.frozen import Json
from loopcore.inputs import Answer, Input
from loopcore.schemas import short
from loopcore.wording import one_line


@frozen
class Divergence(Exception):
    """The first difference between a journal and its replay. Printed, it is a sentence.

    It is an exception so that `replay(...).unwrap()` says that sentence. Two are equal
    that say the same.

    Args:
        journal: the file, or the run's name.
        number: at which input, from 1; `inputs` is how many there are.
        input: what happened there; `turn` is the turn that the run was in.
        effect: the id of the effect that differs; empty if something else does.
        kind: the effect's kind, or "message", "stop", "input".
        field: which field of it, such as "messages[2]".
        recorded, now: both values, as far as they are known.
        hook, point: who wrote the present value, or else the recorded one.
        is_new: whether the recorded configuration had no such hook.
        reason: for an input that is refused, why.
    """

    journal: str
    number: int
    inputs: int
    input: Input
    turn: int
    effect: str = ""
    kind: str = ""
    field: str = ""
    recorded: Json = None
    now: Json = None
    hook: str = ""
    point: str = ""
    is_new: bool = False
    reason: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Divergence) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)

    def __str__(self) -> str:
        return f"{self.summary} {ADVICE}"

    @property
    def summary(self) -> str:
        """Where it is, what differs and who wrote it, without advice."""
        where = f"input {self.number} of {self.journal} ({told(self.input)}, turn {self.turn})"
        who = f" Written by hook {self.hook!r} at {self.point}" if self.hook else ""
        new = ", which is not in the recorded configuration" if self.is_new else ""
        said = f"Diverged at {where}: {self.what}.{who}{new}{'.' if who else ''}"
        return one_line(said)

    @property
    def what(self) -> str:
        """What differs, in half a sentence."""
        if self.reason:
            return f"it is refused now. {self.reason}".rstrip(".")
        if self.kind == "stop":
            return f"the run stopped as {self.recorded!r}, now as {self.now!r}"
        if self.field:
            return f"{self.named} differs in {self.field}{self.values}"
        both_known = self.recorded is not None and self.now is not None
        values = self.values if both_known else ""
        return f"{self.named} {WAS[self.recorded is None, self.now is None]}{values}"

    @property
    def values(self) -> str:
        """Both values, shortened, if one of them is known."""
        if self.recorded is None and self.now is None:
            return ""
        return f": recorded {_short(self.recorded)}, now {_short(self.now)}"

    @property
    def named(self) -> str:
        """What differs, by its name."""
        if self.effect:
            word = "request" if self.kind == "CallModel" else self.kind
            return f"the {word} {self.effect}"
        return f"the {self.kind}"


WIDE: Final = 60
ADVICE: Final = "To see what would have changed elsewhere: `loopcore backtest`."
WAS: Final = {
    (True, False): "was not there when it was recorded",
    (False, True): "was recorded and is not there now",
    (False, False): "is another one",
    (True, True): "differs",
}


def told(given: Input) -> str:
    """An input in a few words."""
    if isinstance(given, Answer):
        return f"answer to {given.effect_id}"
    return type(given).__name__


def _short(value: Json) -> str:
    return "nothing" if value is None else short(repr(value), WIDE)
