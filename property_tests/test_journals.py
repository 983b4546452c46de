"""What is recorded is had again: replays, prefixes, forks, edits, and damage: 2, 9, 12."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.result import Failure, Success

from loopcore import LoopConfig, Prompt, State, advance
from loopcore.frozen import evolve
from loopcore.journal import (
    Journal,
    JournalError,
    Recorder,
    Unknown,
    backtest,
    diff,
    explain,
    fork,
    refold,
    replay,
    verify,
)
from loopcore.journal.folding import Refused
from loopcore.journal.journal import parsed
from loopcore.journal.lines import Chain
from loopcore.journal.paired import Pair, paired
from loopcore.journal.renaming import renamed
from property_tests.programs import Program
from property_tests.strategies import CALM, programs
from property_tests.world import MOST, World, play

HIDDEN: Final = "hunter2"
FEWER: Final = settings(max_examples=max(settings().max_examples // 4, 25))
"""Each example here is a run that is written, read and folded several times."""


def lived(program: Program) -> World:
    """A run to which all of this happened."""
    world = World.of(program.setup)
    world.give(Prompt("begin"))
    for n, move in enumerate(program.moves):
        world.at = None if n % 3 == 2 else float(n)
        play(world, program.script, move)
    world.settle(program.script)
    return world


def written(
    world: World, config: LoopConfig, *, redact: Sequence[str] = (), cut: int = 0
) -> bytes:
    """The file of it; after so many inputs its writer is replaced by another one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        recorder, state = Recorder(path, flush="none", redact=redact), world.first
        recording = recorder.open(config, state)
        for n, (one, at) in enumerate(world.taken):
            if n == cut and state.inputs:
                recording.close()
                recording = recorder.open(config, state)
            state, _ = recording.advance(config, state, one, at=at).unwrap()
        recording.close()
        assert state == world.state
        return path.read_bytes()


def ends(config: LoopConfig, journal: Journal) -> list[State]:
    """The states of a journal, as it replays."""
    return [journal.start, *(s.state for s in replay(config, journal).unwrap().steps)]


@FEWER
@given(programs(depth=1), st.integers(0, 20))
def test_a_journal_replays_to_the_same_states_effects_and_events(
    program: Program, cut: int
) -> None:
    """2, 9: also if its writer was replaced in the middle."""
    world = lived(program)
    config = world.config

    journal = parsed(written(world, config, cut=cut), "r")
    again = replay(config, journal).unwrap()

    assert again.result.state == world.state
    assert [step.effects for step in again.steps] == world.gave


@FEWER
@given(programs(depth=1), st.data())
def test_any_prefix_replays_and_the_rest_goes_on_from_it(
    program: Program, data: st.DataObject
) -> None:
    """2"""
    world = lived(program)
    config = world.config
    journal = Journal.of(config, world.first, [one for one, _ in world.taken]).unwrap()
    count = data.draw(st.integers(0, len(journal.entries)))

    prefix = evolve(journal, entries=journal.entries[:count])
    state = ends(config, prefix)[-1]
    saved = State.loads(state.dumps()).unwrap()
    rest = Journal.of(config, saved, journal.entries[count:]).unwrap()

    assert ends(config, rest)[-1] == ends(config, journal)[-1]


@FEWER
@given(programs(depth=1), st.integers(0, 20))
def test_a_journal_is_written_as_it_was_read(program: Program, cut: int) -> None:
    """12"""
    world = lived(program)
    text = written(world, world.config, cut=cut)
    journal = parsed(text, "r")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        journal.write(path)
        again = path.read_bytes()
        assert verify(path).unwrap() == text.count(b"\n")

    assert again == text
    assert parsed(again, "r") == journal


@FEWER
@given(programs(CALM, depth=1))
def test_what_is_redacted_is_nowhere_in_a_file(program: Program) -> None:
    config = attrs.evolve(program.setup.config(), system=f"say {HIDDEN}")
    world = World.under(config)
    world.give(Prompt(f"my password is {HIDDEN}"))
    world.settle(program.script)

    text = written(world, config, redact=[HIDDEN])

    assert HIDDEN.encode() not in text
    assert len(parsed(text, "r").entries) == len(world.taken)


@FEWER
@given(programs(depth=1), st.data())
def test_a_fork_stands_where_the_run_stood(
    program: Program, data: st.DataObject
) -> None:
    world = lived(program)
    config = world.config
    journal = parsed(written(world, config), "r")
    at = data.draw(st.integers(0, len(journal.entries)))

    forked = fork(config, journal, at=at, run_id="other").unwrap()

    assert renamed(forked, journal.run_id) == ends(config, journal)[at]


def asked_on(config: LoopConfig, program: Program, state: State) -> Iterator[str]:
    """The ids of all that a run asks from here on, until it rests or has asked much."""
    for _ in range(MOST):
        if not state.waiting:
            return
        effect = state.waiting[0]
        moved = advance(config, state, program.script.answer(effect))
        if isinstance(moved, Failure):
            moved = advance(config, state, effect.fail("refused"))
        state, effects = moved.unwrap()
        yield from (effect.id for effect in effects.perform)


@FEWER
@given(programs(depth=1), st.data())
def test_what_a_fork_asks_has_ids_of_its_own(
    program: Program, data: st.DataObject
) -> None:
    """An id is an idempotency key: no tool may take a fork's call for one of its past."""
    world = lived(program)
    config = world.config
    journal = parsed(written(world, config), "r")
    at = data.draw(st.integers(0, len(journal.entries)))

    forked = fork(config, journal, at=at, run_id="other").unwrap()

    asked = [*asked_on(config, program, forked)]
    assert [name for name in asked if not name.startswith("other.")] == []


@FEWER
@given(programs(depth=1), st.data())
def test_what_follows_from_a_replaced_input_has_ids_of_its_own(
    program: Program, data: st.DataObject
) -> None:
    world = lived(program)
    config = world.config
    journal = parsed(written(world, config), "r")
    at = data.draw(st.integers(1, len(journal.entries)))
    before = {effect.id for effect in ends(config, journal)[at - 1].waiting}
    given = journal.entries[at - 1].input

    forked = fork(config, journal, at=at, replace=given, run_id="other").unwrap()

    waiting = {effect.id for effect in forked.waiting} - before
    assert [name for name in waiting if not name.startswith("other.")] == []
    asked = [*asked_on(config, program, forked)]
    assert [name for name in asked if not name.startswith("other.")] == []


@FEWER
@given(programs(depth=1), st.data())
def test_an_input_replaced_by_itself_changes_nothing(
    program: Program, data: st.DataObject
) -> None:
    world = lived(program)
    config = world.config
    journal = parsed(written(world, config), "r")
    at = data.draw(st.integers(1, len(journal.entries)))

    found = refold(config, journal, at=at, replace=journal.entries[at - 1].input)

    assert found.unwrap().state == world.state
    assert found.unwrap().dropped == ()


@FEWER
@given(programs(depth=1))
def test_a_configuration_changes_nothing_beside_itself(program: Program) -> None:
    world = lived(program)
    config = world.config
    journal = parsed(written(world, config), "r")

    found = backtest([journal], old=config, new=config)

    assert len(found.same) == 1
    assert found.findings[0].again == ""
    assert diff(config, journal, journal).is_same


@FEWER
@given(programs(depth=1), programs(depth=1), st.booleans())
def test_a_backtest_says_same_where_all_is_the_same_and_only_there(
    program: Program,
    other: Program,
    lenient: bool,  # noqa: FBT001  # it is drawn
) -> None:
    """With the hooks of another program: what each step led to is what counts."""
    world, hooks = lived(program), World.of(other.setup).config.hooks
    journal = parsed(written(world, world.config), "r")
    configs = world.config, attrs.evolve(world.config, hooks=hooks)

    found = backtest([journal], old=configs[0], new=configs[1], lenient=lenient)
    pairs = [*paired(journal, *configs, lenient=lenient)]

    same = all(pair[1] and pair[0].led == pair[1].led for pair in taken(pairs))
    assert bool(found.same) == same


def taken(pairs: Iterable[Pair | Refused]) -> Iterator[Pair]:
    """These pairs: the configuration of a journal refuses none of its inputs."""
    for pair in pairs:
        assert not isinstance(pair, Refused)
        yield pair


def read(text: bytes) -> Journal | JournalError:
    """The journal in this text, or what is wrong with it."""
    try:
        return parsed(text, "r")
    except JournalError as problem:
        return problem


CHANGES = st.tuples(
    st.sampled_from(("flip", "cut", "drop", "double", "swap", "insert", "tear")),
    st.integers(0, 2**31),
    st.integers(1, 255),
)


def damaged(text: bytes, change: tuple[str, int, int]) -> bytes:
    """The text with this done to it."""
    how, where, what = change
    place, lines = where % len(text), text.splitlines(keepends=True)
    line, other = where % len(lines), what % len(lines)
    swapped = [*lines]
    swapped[line], swapped[other] = lines[other], lines[line]
    done: dict[str, bytes] = {
        "flip": text[:place] + bytes([text[place] ^ what]) + text[place + 1 :],
        "cut": text[:place] + text[place + what :],
        "drop": b"".join(lines[:line] + lines[line + 1 :]),
        "double": b"".join(lines[: line + 1] + lines[line:]),
        "swap": b"".join(swapped),
        "insert": text[:place] + bytes([what]) + text[place:],
        "tear": text[:place],
    }
    return done[how]


@FEWER
@given(programs(CALM), st.lists(CHANGES, min_size=1, max_size=3))
def test_damage_is_never_taken_for_another_run(
    program: Program, changes: list[tuple[str, int, int]]
) -> None:
    """A damaged file names a line, or is what was whole of it; it never raises."""
    world = lived(program)
    config = world.config
    text = written(world, config)
    journal = parsed(text, "r")
    broken = text
    for change in changes:
        broken = damaged(broken, change) or b"x"

    with tempfile.NamedTemporaryFile() as file:
        file.write(broken)
        file.flush()
        verify(file.name)
        found = read(broken)
    if isinstance(found, JournalError):
        assert found.line >= 1
        return

    kept = len(found.entries)
    assert found.start == journal.start
    assert found.entries == journal.entries[:kept]
    assert isinstance(replay(config, found), Success)


@FEWER
@given(programs(CALM, depth=1), programs(depth=1))
def test_a_replay_under_another_configuration_tells_or_is_the_same(
    program: Program, other: Program
) -> None:
    """It never raises, and what it says is a sentence."""
    world = lived(program)
    journal = parsed(written(world, world.config), "r")

    match replay(other.setup.config(), journal):
        case Failure(divergence):
            assert 1 <= divergence.number <= len(journal.entries)
            assert str(divergence).startswith("Diverged at input ")
        case Success(again):
            assert len(again.steps) == len(journal.entries)
        case _:
            raise AssertionError


def members(value: Any) -> Iterable[tuple[Any, Any]]:
    match value:
        case dict():
            return value.items()  # pyright: ignore[reportUnknownVariableType]
        case list():
            items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
            return enumerate(items)
        case _:
            return ()


def spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in this JSON."""
    items = members(value)
    inner = [spot for key, item in items for spot in spots(item, (*path, key))]
    return [path, *inner]


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    "",
    "r1.1.1.model.1",
    "CallModel",
    [],
    {},
)
ODDER: Final[tuple[Any, ...]] = (
    [0, 1],
    [-5, 2],
    [0, 10**12],
    [[0, 3]],
    {"id": "x"},
    [{}],
    ["a", "b"],
)


def rewritten(data: st.DataObject, lines: list[Any]) -> list[Any]:
    """The lines, one of them with something else in one place."""
    line = data.draw(st.integers(1, len(lines) - 1))
    changed = json.loads(json.dumps(lines[line]))
    places = [spot for spot in spots(changed) if spot]
    place, other = (data.draw(st.sampled_from(places)) for _ in range(2))
    odd: list[Any] = [*ODD, *ODDER, json.loads(json.dumps(at(changed, other)))]
    at(changed, place[:-1])[place[-1]] = data.draw(st.sampled_from(odd))
    return [*lines[:line], changed, *lines[line + 1 :]]


def told(config: LoopConfig, journal: Journal) -> None:
    """Everything that can be asked of a journal. Errors are values; `Unknown` is one."""
    str(replay(config, journal))
    backtest([journal], old=config, new=config).table()
    str(diff(config, journal, journal))
    str(fork(config, journal, run_id="other"))
    str(fork(config, journal, run_id="other", turn=1))
    str(refold(config, journal, at=1, replace=Prompt("other")))
    for what in ("stop", "message 2", "message 2.content"):
        with suppress(Unknown):
            explain(config, journal, what)


@FEWER
@given(programs(CALM, depth=1), st.data())
def test_a_wrong_journal_whose_chain_holds_never_raises(
    program: Program, data: st.DataObject
) -> None:
    """It is refused as it is read, or every question about it has an answer."""
    world = lived(program)
    config = world.config
    lines = list(map(json.loads, written(world, config).splitlines()))
    for line in lines:
        del line["chain"]
    for _ in range(data.draw(st.integers(1, 3))):
        lines = rewritten(data, lines)
    chain, text = Chain(), ""
    for line in lines:
        chain, more = chain.add(line)
        text += more

    found = read(text.encode())
    if isinstance(found, JournalError):
        assert found.line >= 2
        return

    told(config, found)
    with tempfile.TemporaryDirectory() as folder, suppress(JournalError):
        path = Path(folder) / "r.jsonl"
        path.write_text(text, encoding="utf-8", newline="\n")
        Recorder(path).open(config, world.state).close()
