"""The same views in other processes, whose hash seeds are others."""

import pickle
import re
from typing import Any, Final, TypeAlias

from attrs import frozen

from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks
from loopcore.runtime.purity import Returned
from loopcore.testing.check.asking import place
from loopcore.testing.check.broken import Breach, HookLaw, broken, shortened
from loopcore.testing.check.course import Course
from loopcore.testing.check.packing import pack
from loopcore.testing.check.process import ALWAYS, SEEDS, processes_for
from loopcore.testing.check.unordered import held_sets, suspects, texts_in_sets
from loopcore.testing.elsewhere import said_text


@frozen(eq=False)
class Sample:
    """A hook, a view, what the hook said about it here, and the run that led there."""

    hook: Hooks
    point: PointName
    view: Any
    said: Returned
    course: Course | None = None


Differing: TypeAlias = tuple[Sample, str, str]
"""What was said of a sample here, and otherwise there."""


def ask_elsewhere(samples: list[Sample]) -> tuple[str, ...]:
    """Ask all of this in other processes; what cannot be asked there, and why.

    Raises:
        Breach: if a hook says something else there, about the smallest such view.
    """
    hooks = list({id(s.hook): s.hook for s in samples}.values())
    packed, path = pack((*hooks, [s.view for s in samples]))
    *kept, views = packed
    lost = {n: said for n, said in enumerate(kept) if isinstance(said, str)}
    if isinstance(views, str):
        return (f"the views {TO_OTHERS}: {views}",)
    place_of = {id(hook): n for n, hook in enumerate(hooks)}
    places = [place_of[id(s.hook)] for s in samples]
    asks = [
        (n, s.point, at)
        for at, (n, s) in enumerate(zip(places, samples, strict=True))
        if n not in lost
    ]
    sent = [b"" if isinstance(one, str) else one for one in kept]
    asked = [samples[at] for _, _, at in asks]
    texts = [found for hook in hooks for found in texts_in_sets(hook)]
    said = _all_said(pickle.dumps((list(path), sent, views, asks)), texts, asked)
    named = {hooks[n].name: problem for n, problem in lost.items()}
    told = (f"hook {name!r} {TO_OTHERS}: {why}" for name, why in named.items())
    return (*told, *said)


TO_OTHERS: Final = "cannot be sent to another process"


def _all_said(
    packed: bytes, texts: list[list[str]], asked: list[Sample]
) -> tuple[str, ...]:
    """What goes wrong in the other processes; all of them are asked at once."""
    if not asked:
        return ()
    uses_sets = any(suspects(hook, point) for hook, point in _points(asked))
    others = processes_for(texts, SEEDS if texts or uses_sets else ALWAYS)
    problems = [one.tell(packed) for one in others]
    found = [p or one.hear() for p, one in zip(problems, others, strict=True)]
    troubles = dict.fromkeys(one for one in found if isinstance(one, str))
    answers = [one for one in found if not isinstance(one, str)]
    for answer in answers:
        _refuse_reaching(asked, answer["said"])
    here = [said_text(sample.said) for sample in asked]
    _compare(asked, here, [[said for said, *_ in a["said"]] for a in answers])
    names = dict.fromkeys(why for a in answers for _, why in a["lost"])
    return (*troubles, *(f"a hook {TO_OTHERS}: {why}" for why in names))


def _points(asked: list[Sample]) -> list[tuple[Hooks, PointName]]:
    found: dict[tuple[int, PointName], tuple[Hooks, PointName]] = {
        (id(s.hook), s.point): (s.hook, s.point) for s in asked
    }
    return list(found.values())


def _refuse_reaching(asked: list[Sample], said: list[tuple[str, str, str]]) -> None:
    """A clock that was read once, and kept where the watch did not see it."""
    for sample, (_, does, reached) in zip(asked, said, strict=True):
        if reached:
            sentence = (
                f"Hook {sample.hook.name!r} {does} at {sample.point}, the first time it is "
                f"asked in a process. {_placed(reached, sample)}"
            )
            raise _at(sample, "pure", sentence)


def _placed(said: str, sample: Sample) -> str:
    """The sentence with the hook's file, which is not known over there."""
    file = place(sample.hook, sample.point).rpartition(":")[0]
    return said.replace(NO_FILE, file) if file else said


NO_FILE: Final = "<dynamic-code>"
"""What code that was sent says of its file."""


def _compare(
    asked: list[Sample], here: list[str], there: list[list[str | None]]
) -> None:
    """None stands for a hook that could not be loaded there."""
    found = [
        (sample, one, said)
        for n, (sample, one) in enumerate(zip(asked, here, strict=True))
        for other in there
        for said in (other[n],)
        if said is not None and said != one
    ]
    if found:
        least = _least(found)
        raise _at(least[0], "hash_seed", _other(*least))


def _least(found: list[Differing]) -> Differing:
    """One about a smallest view; of these, that to which the shortest program leads."""
    sizes = [len(repr(sample.view)) for sample, *_ in found]
    smallest = [
        one for one, size in zip(found, sizes, strict=True) if size == min(sizes)
    ]
    return min(smallest, key=lambda one: len(_program(one[0])))


def _at(sample: Sample, law: HookLaw, sentence: str) -> Breach:
    found = broken(law, sample.hook.name, sentence, sample.view)
    found.program = _program(sample)
    return found


def _program(sample: Sample) -> str:
    return sample.course.program if sample.course else ""


def _other(sample: Sample, one: str, other: str) -> str:
    where = f"{sample.point} ({place(sample.hook, sample.point)})"
    return (
        f"Hook {sample.hook.name!r} gave two answers to the same view at {where}: "
        f"{shortened(one)}, and in another process {shortened(other)}. "
        f"{_cause(sample, one + other)}"
    )


def _cause(sample: Sample, said: str) -> str:
    """Why it may say something else there, and what to write instead."""
    if ADDRESS.search(said):
        return ADDRESSES
    used = suspects(sample.hook, sample.point)
    held = held_sets(sample.hook, sample.point)
    named = [*held, *used]
    if not named:
        return f"{REMEMBERED} {OR_ORDER}"
    ids = [one for one in named if one.startswith("id(")]
    advice = [IDS] if ids else []
    advice += [UNORDERED] if len(ids) < len(named) else []
    advice += [] if used else [OR_REMEMBERED]
    return " ".join((f"It uses {' and '.join(named)}.", *advice))


ADDRESS: Final = re.compile(r"\b0x[0-9a-f]{6,}")
ADDRESSES: Final = (
    "It says where an object lies, as `repr` does of objects that have no text of their "
    "own: that is another place in every process. Say what it holds, or its name."
)
IDS: Final = (
    "An id is where an object lies, which is another place in every process: compare "
    "what is held with `==`."
)
UNORDERED: Final = (
    "Python orders a set of texts, and hashes them, differently in every process: sort it "
    "(`sorted(...)`), or keep a dict or a list."
)
MEMO: Final = (
    "what it remembers belongs in its memo, which is saved, forked and replayed with the "
    "run (`Hooks(..., memo=...)`, `view.memo`)."
)
REMEMBERED: Final = f"There it had seen other views before: {MEMO}"
OR_REMEMBERED: Final = f"Or it had seen other views before, there: {MEMO}"
OR_ORDER: Final = (
    "Or it depends on the order of a set, which is another one in every process."
)
