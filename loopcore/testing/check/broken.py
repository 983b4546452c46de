"""A law that a hook breaks: what happened, where, and the smallest view that shows it."""

from typing import Final, Literal, TypeAlias, get_args

from loopcore.runtime.purity import brief

HookLaw: TypeAlias = Literal[
    "total",
    "fields",
    "fitting",
    "pure",
    "equal",
    "saved",
    "forked",
    "hash_seed",
    "unchanged_view",
    "memo",
    "small_memo",
    "pairs",
    "no_opinion",
    "stands",
]

HOOK_LAWS: Final[dict[HookLaw, str]] = {
    "total": "a hook answers every view, and never raises",
    "fields": "a hook writes the fields of its point, and no others",
    "fitting": "arguments that a hook writes fit the tool, at least now and then",
    "pure": "what a hook says follows from its view, and from nothing else",
    "equal": "equal views get equal answers",
    "saved": "a run that was saved and loaded goes on as it would have",
    "forked": "a run is not changed by what another one did",
    "hash_seed": "what a hook says is the same in every process",
    "unchanged_view": "a hook does not change its view",
    "memo": "a memo is JSON",
    "small_memo": "a memo stays small, however long a run is",
    "pairs": "each call that is shown has its one result beside it",
    "no_opinion": "a hook says nothing about what it does not care about",
    "stands": "what one hook forbids, no later one allows",
}


class Breach(AssertionError):
    """A hook breaks a law: which one, a sentence about it, and where it was seen.

    Each law has a class of its own, so that a counterexample of one is not shrunk to one
    of another.
    """

    law: HookLaw = "total"

    def __init__(self, hook: str, sentence: str, view: object = None) -> None:
        super().__init__(hook, sentence, view)
        self.hook, self.sentence, self.view, self.program = hook, sentence, view, ""

    def __str__(self) -> str:
        parts = [self.sentence, f"The law: {HOOK_LAWS[self.law]}."]
        if self.view is not None:
            parts.append(f"The smallest view: {brief(self.view, LONGEST)}")
        if self.program:
            parts.append(f"Its state is reached by:\n{indented(self.program)}")
        return "\n\n".join(parts)


LONGEST: Final = 3_000
"""How much of a view is shown at most."""


def indented(text: str) -> str:
    """The lines of a program, set off, and cut if one is endless."""
    return "\n".join(f"    {shortened(line)}" for line in text.splitlines())


def shortened(line: str, most: int = LONGEST) -> str:
    """The line, without the middle of what is very long."""
    half = most // 2
    return line if len(line) <= most else f"{line[:half]}...{line[-half:]}"


KINDS: Final[dict[HookLaw, type[Breach]]] = {
    law: type("Breach", (Breach,), {"law": law, "__module__": "loopcore.testing"})
    for law in get_args(HookLaw)
}


def told(found: Breach) -> Breach:
    """The same failure, without the notes and the trace that searching for it left."""
    fresh = broken(found.law, found.hook, found.sentence, found.view)
    fresh.program = found.program
    return fresh


def broken(law: HookLaw, hook: str, sentence: str, view: object = None) -> Breach:
    """The failure of this law by the hook of this name."""
    return KINDS[law](hook, sentence, view)
