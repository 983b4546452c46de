"""check_hooks: the same views in other processes, whose hash seeds are others."""

import gc
import json
import pickle
import weakref
from collections.abc import Callable
from itertools import combinations
from typing import Any, Final

import cloudpickle  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # it has none
import pytest

from loopcore.hooks import Hooks
from loopcore.testing import check_hooks
from loopcore.testing.check.packing import pack
from loopcore.testing.check.process import Process, process_of, processes_for
from loopcore.testing.elsewhere import ORDER
from tests import unordered_hooks as unordered

FEW: Final = 5
ORDERED: Final = "sort it (`sorted(...)`), or keep a dict or a list."
REMEMBERED: Final = (
    " Or it had seen other views before, there: what it remembers belongs in its memo, "
    "which is saved, forked and replayed with the run (`Hooks(..., memo=...)`, "
    "`view.memo`)."
)

SETS: Final[tuple[Callable[[Any], Any], ...]] = (
    unordered.joined,
    unordered.by_helper,
    unordered.by_constant,
    unordered.mostly_silent,
    unordered.mostly_speaking,
)


def failure(*hooks: Hooks, examples: int = FEW) -> list[str]:
    """What is said of these hooks: the sentence, the law, the view, the program."""
    with pytest.raises(AssertionError) as caught:
        check_hooks(*hooks, examples=examples)
    return str(caught.value).split("\n\n")


@pytest.mark.parametrize("function", SETS, ids=lambda function: function.__name__)
def test_the_order_of_a_set_is_found_out_wherever_it_comes_from(
    function: Callable[[Any], Any],
) -> None:
    """Also where the hook says nothing here, and in most processes."""
    said, law, view, program = failure(Hooks(should_stop_after_turn=function))

    assert said.startswith(f"Hook {function.__name__!r} gave two answers to the same ")
    assert said.endswith((ORDERED, ORDERED + REMEMBERED))
    assert law == "The law: what a hook says is the same in every process."
    assert view.startswith("The smallest view: TurnView(")
    assert "advance(config, state, " in program


PAIRS: Final[list[list[str]]] = [
    list(p) for p in combinations(("alpha", "beta", "a", "b", "xy", "é"), 2)
]


def test_the_verdict_depends_on_the_hash_seed_of_no_process() -> None:
    """The processes that are asked do not all agree about the order of any two texts."""
    others = processes_for(PAIRS)
    asked = ORDER + json.dumps(PAIRS).encode()
    orders = [one.ask(asked) for one in others]

    assert len(others) >= 2
    for n, pair in enumerate(PAIRS):
        assert {tuple(one[n]) for one in orders} == {tuple(pair), tuple(pair[::-1])}


def test_every_set_that_may_be_the_cause_is_named() -> None:
    said, *_ = failure(Hooks(should_stop_after_turn=unordered.two_sets))
    first = unordered.two_sets.__code__.co_firstlineno + 2

    assert (
        f"It uses a set at unordered_hooks.py:{first} and a set at "
        f"unordered_hooks.py:{first + 1}. " in said
    )


def test_a_set_that_stands_around_a_hook_is_named_before_a_memory_is() -> None:
    said, *_ = failure(Hooks(should_stop_after_turn=unordered.joined))
    line = unordered.joined.__code__.co_firstlineno + 2

    assert (
        "It uses a set, the module global 'NAMES' at "
        f"unordered_hooks.py:{line}. Python orders a set of texts" in said
    )
    assert said.endswith(ORDERED + REMEMBERED)


def test_where_an_object_lies_is_no_memory() -> None:
    said, *_ = failure(Hooks(should_stop_after_turn=unordered.address))

    assert said.endswith(
        "It says where an object lies, as `repr` does of objects that have no text of "
        "their own: that is another place in every process. Say what it holds, or its name."
    )


def test_the_smallest_view_that_shows_it_is_told() -> None:
    *_, view, program = failure(
        Hooks(should_stop_after_turn=unordered.joined), examples=60
    )

    assert len(view) < 700
    assert "should_stop_after_turn" not in view
    assert len(program.splitlines()) < 8


@pytest.mark.parametrize(
    "function",
    [unordered.Guard().stop, unordered.dispatched],
    ids=["a lock", "a dispatch by type"],
)
def test_what_holds_a_lock_or_weak_references_is_asked_elsewhere(function: Any) -> None:
    """And does not keep the others from being asked."""
    beside = Hooks("beside", should_stop_after_turn=function)

    assert check_hooks(beside, examples=FEW).unchecked == ()
    said, *_ = failure(beside, Hooks(should_stop_after_turn=unordered.joined))
    assert said.startswith("Hook 'joined' gave two answers ")


def test_a_hook_that_cannot_be_sent_is_warned_of_and_the_others_are_sent() -> None:
    held = Hooks("held", should_stop_after_turn=unordered.counting())

    with pytest.warns(
        UserWarning, match="hook 'held' cannot be sent to another process"
    ):
        (told,) = check_hooks(held, examples=FEW).unchecked
    assert told.startswith("hook 'held' cannot be sent to another process: ")
    assert "generator" in told
    said, *_ = failure(held, Hooks(should_stop_after_turn=unordered.joined))
    assert said.startswith("Hook 'joined' gave two answers ")


def test_a_process_that_has_ended_is_told_and_started_anew() -> None:
    ended = process_of("7")
    ended.ask(b"nothing")  # it runs by now, and has not to be killed
    ended.close()

    assert ended.ask(b"") == "another process was asked about the hooks, and ended (0)"
    assert process_of("7") is not ended
    assert str(process_of("7").ask(b"nothing")).startswith(
        "the hooks cannot be asked in another process: UnpicklingError: "
    )
    process_of("7").close()


class Runs:
    """Packed, this runs a piece of Python where it is loaded."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, (self.code,)


def running(code: str) -> bytes:
    """A question that runs this over there."""
    return pickle.dumps(Runs(code))


def order(*texts: str) -> bytes:
    """A question about one text, so that its answer is known."""
    return ORDER + json.dumps([texts]).encode()


@pytest.fixture
def process() -> Process:
    """A process of a seed that nobody else uses."""
    return process_of("8")


def told_alone(process: Process) -> None:
    """Asked, and not heard."""
    process.tell(order("first"))


def told_what_takes_long(process: Process) -> None:
    """Asked what takes it longer than anybody waits."""
    process.tell(running("import time; time.sleep(600)"))


def heard_in_part(process: Process) -> None:
    """Asked, and heard no further than the first bytes."""
    process.tell(order("first"))
    assert process.process.stdout is not None
    process.process.stdout.read(3)


INTERRUPTS: Final = (told_alone, told_what_takes_long, heard_in_part)


@pytest.mark.parametrize("leaves", INTERRUPTS, ids=lambda leaves: leaves.__name__)
def test_no_question_gets_the_answer_to_one_that_was_given_up(
    process: Process, leaves: Callable[[Process], None]
) -> None:
    """An interrupt may come at any time between asking and hearing."""
    leaves(process)

    assert process_of("8").ask(order("second")) == [["second"]]
    assert process.process.returncode is not None


def test_a_process_that_owes_an_answer_is_not_asked_another_question(
    process: Process,
) -> None:
    process.tell(order("first"))

    assert "another process was asked about the hooks, and ended " in str(
        process.ask(order("second"))
    )


def test_a_process_that_is_killed_is_told_as_one_that_ended(process: Process) -> None:
    """What was to be sent to it is dropped, whenever it died."""
    process.process.kill()
    process.process.wait()

    assert process.ask(order("first")) == (
        "another process was asked about the hooks, and ended "
        f"({process.process.returncode})"
    )


def test_a_process_that_does_not_end_is_killed(process: Process) -> None:
    """So nobody waits for it when a program ends."""
    said = process.ask(
        running("import threading as t; t.Thread(target=t.Event().wait).start()")
    )
    process.close()

    assert str(said).startswith("the hooks cannot be asked in another process: ")
    assert process.process.returncode != 0


def test_a_process_that_was_replaced_is_kept_by_nobody() -> None:
    replaced = process_of("8")
    kept = weakref.ref(replaced)
    replaced.tell(order("first"))

    assert process_of("8") is not replaced
    del replaced
    gc.collect()

    assert kept() is None


@pytest.mark.parametrize("registered", [True, False])
def test_what_a_program_has_registered_to_be_pickled_by_value_stays_so(
    *, registered: bool
) -> None:
    registry: Callable[[], set[str]] = cloudpickle.list_registry_pickle_by_value
    if registered:
        cloudpickle.register_pickle_by_value(unordered)
    before = set(registry())
    try:
        pack([unordered.joined])

        assert set(registry()) == before
        assert (unordered.__name__ in registry()) == registered
    finally:
        if registered:
            cloudpickle.unregister_pickle_by_value(unordered)
