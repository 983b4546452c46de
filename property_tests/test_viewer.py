"""The view of any run: a page tells each point as it is, and a screen has its size."""

from typing import Final

from hypothesis import given, settings
from rich.cells import cell_len

from loopcore import CallModel, Prompt
from loopcore.cli.view.screen import Look, screen
from loopcore.journal import Entry, Journal
from loopcore_adapters.viewer import Seen, Timeline, page_of, timeline
from loopcore_adapters.viewer.lanes import runs
from loopcore_adapters.viewer.standing import standing
from property_tests.programs import Program
from property_tests.strategies import programs
from property_tests.world import World, play
from tests.view_reading import Reading, plainly, said

FEWER: Final = settings(max_examples=max(settings().max_examples // 10, 25))
"""Each example here is a whole run that is folded, told and read at all its points."""


def looked_at(program: Program) -> Timeline:
    """The timeline of a run to which all of this happened."""
    world = World.of(program.setup)
    world.give(Prompt("begin"))
    for n, move in enumerate(program.moves):
        world.at = float(n)
        play(world, program.script, move)
    world.settle(program.script)
    happened = [Entry(one, at) for one, at in world.taken]
    journal = Journal.of(world.config, world.first, happened).unwrap()
    return timeline(world.config, journal)


@FEWER
@given(programs(depth=1))
def test_a_page_tells_each_point_of_a_run_as_it_is(program: Program) -> None:
    """Transcripts, also of nested runs, and all that a state tells."""
    past = looked_at(program)
    read = Reading.of(page_of(past))

    assert past.divergence is None
    for point in past.points:
        assert plainly(standing(point.state)) == read.stand(point.number)
        for run in runs(point.state):
            told = read.transcript(run.run_id, point.number)
            assert [said(message) for message in run.transcript] == told


@FEWER
@given(programs(depth=1))
def test_a_page_tells_what_each_request_of_a_run_shows(program: Program) -> None:
    past = looked_at(program)
    read = Reading.of(page_of(past))
    asked = [
        effect
        for point in past.points
        for effect in point.effects.perform
        if isinstance(effect, CallModel)
    ]

    assert [effect.id for effect in asked] == [r["id"] for r in read.side["requests"]]
    for n, effect in enumerate(asked):
        assert [said(message) for message in effect.messages] == read.shown(n)


@FEWER
@given(programs(depth=1))
def test_every_update_is_attributed_and_every_mark_has_its_message(
    program: Program,
) -> None:
    past = looked_at(program)
    seen = Seen(past)
    for point in past.points:
        events = [e for e in point.effects.tell if type(e).__name__ == "HookWrote"]
        assert len(events) == len(point.wrote)
        assert all(wrote.view is not None for wrote in point.wrote)
        shown = seen.shown(point.number)
        if shown:
            left = sum(mark.fate == "left out" for mark in shown.marks)
            assert len(shown.marks) - left <= len(shown.request.messages)


@FEWER
@given(programs(depth=1))
def test_every_point_of_a_run_has_a_screen_of_its_size(program: Program) -> None:
    seen = Seen(looked_at(program))
    for point in seen.timeline.points:
        for look in (Look(point.number, hooks=True), Look(point.number, diff=True)):
            lines = screen(seen, look, 90, 20).plain.split("\n")
            assert [90] * 20 == [cell_len(line) for line in lines]
