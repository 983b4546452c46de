"""Every order in which things can happen, breadth first, each different state once."""

import time
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from attrs import define, field
from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.effects import Effect
from loopcore.frozen import EMPTY, UNSET, Unset
from loopcore.inputs import Answer, Edit, Input
from loopcore.reducer import Given
from loopcore.reducer.door import input_of
from loopcore.state import State
from loopcore.testing.configured import configured
from loopcore.testing.doubles.scripted import Reply
from loopcore.testing.explore.choices import (
    BOTH,
    Choices,
    Decide,
    Outcomes,
    Unsaid,
    begun_by,
    listed,
)
from loopcore.testing.explore.found import Counterexample, Exploration
from loopcore.testing.explore.known import refuse_unknown
from loopcore.testing.explore.limits import Endless, limits_of
from loopcore.testing.explore.states import Numbers
from loopcore.testing.explore.ways import Link, Node, inputs_of, linked
from loopcore.testing.invariants import (
    LAWS,
    Broken,
    Check,
    Coded,
    Law,
    Unfailing,
    Watch,
    laws_of,
)
from loopcore.testing.invariants.moment import name_of
from loopcore.testing.invariants.sentences import ALL_IS_SAID, ANSWERS_ARE_TAKEN
from loopcore.testing.invariants.told import saved
from loopcore.testing.telling import Progress, Tell, to_terminal

RUN_ID: Final = "r"


def explore(  # noqa: PLR0913  # each is a kind of thing that can happen
    config: AnyConfig,
    *given: Given,
    replies: Iterable[Reply],
    tools: Outcomes = EMPTY,
    also: Iterable[Given] = (),
    check: Check | Law | None = None,
    bound: int | Unset | None = UNSET,
    services: Outcomes = EMPTY,
    decisions: Iterable[Decide] = BOTH,
    progress: Tell | None = None,
    hooks_may_fail: bool = False,
) -> Exploration:
    """Every order in which things can happen, breadth first; what breaks a law, or `check`.

    Args:
        config: what the run is. Nothing is performed.
        given: what it is given first, such as a prompt.
        replies: what the model says, request by request; the last is said again, but if it
            calls tools "done" is said instead.
        tools: for each tool, all that may come of a call: what it returns, an exception
            that it raises, or a function of the `RunTool`. For a nested run: the replies,
            of which its model may give any at each request.
        also: what may happen beside, at any moment, each at most once.
        check: a function of a state; False, a text that says why, or an AssertionError
            says that it is broken. Or a law.
        bound: how many states to visit at most; None for all there are. By default 10,000,
            and ways of 200 inputs: if there is more, that is an error and no result.
        services: for each service that hooks consult, all it may give: JSON or an
            exception; and for each hook that asks a model, the replies.
        decisions: how a person may decide: functions of the `RequestApproval`.
        progress: told about once a second how far it is, and nothing at the end; by
            default a terminal is told.
        hooks_may_fail: whether a hook may fail, closed or not. Else that is a broken law: it
            ends runs, and what would have come after it is not seen.

    Returns:
        What was seen; `.counterexample` is the shortest order in which something is
        broken, or None.

    Raises:
        Endless: if there are more states or longer ways, and no `bound` was given.
        Rejected: if what is given first is refused.
        ValueError: for outcomes of a tool that there is not, for a list with nothing in it,
            and without an input.
    """
    begins = begun_by("explore", given)
    beside = tuple(map(input_of, listed("also", also)))
    choices = Choices.among(replies, tools, services, decisions)
    refuse_unknown(configured("explore()", config), (*begins, *beside), choices.tools)
    ours = LAWS if hooks_may_fail else (*LAWS, Unfailing())
    search = Search(
        len(ours),
        choices,
        beside,
        *limits_of(bound),
        Progress(progress or to_terminal()),
    )
    first = Watch.of(config, *ours, *laws_of(check), run_id=RUN_ID)
    try:
        complete = search.run(first, begins)
    except Broken as broken:
        return search.found(False, _counterexample(broken, search.link, first))  # noqa: FBT003
    finally:
        search.progress.over()
    found = search.found(complete)
    if not complete and bound is UNSET:
        raise Endless(found, time.monotonic() - search.began)
    return found


def _counterexample(broken: Broken, link: Link | None, first: Watch) -> Counterexample:
    config = first.config.plain
    return Counterexample(broken.law, broken.said, inputs_of(link), config, first.state)


@define(eq=False)
class Search:
    """What was seen so far, under so many laws of ours and then those of the user."""

    ours: int
    choices: Choices
    also: tuple[Input, ...]
    bound: float
    deepest: float
    progress: Progress
    numbers: Numbers = field(factory=Numbers)
    seen: set[Hashable] = field(factory=set[Hashable])
    orders: dict[frozenset[Hashable], Hashable] = field(
        factory=dict[frozenset[Hashable], Hashable]
    )
    known: dict[Hashable, list[Answer]] = field(factory=dict[Hashable, list[Answer]])
    reasons: Counter[str] = field(factory=Counter[str])
    steps: int = 0
    depth: int = 0
    link: Link | None = None
    more: bool = False
    began: float = field(factory=time.monotonic)

    def run(self, first: Watch, given: Iterable[Input]) -> bool:
        """Visit every state, or as many as the bound allows. Whether it was every one.

        Raises:
            Broken: if a law does not hold; `link` is the way to it.
        """
        queue = deque([self.begun(first, given)])
        while queue:
            node = queue.popleft()
            queue.extend(self.after(node))
            if self.more:
                return False
            self.unchanged(node)
            self.report(len(queue))
        return True

    def after(self, node: Node) -> Iterator[Node]:
        """The new states that one input leads to, as many as the bound allows."""
        for one in self.moves(node):
            found = self.take(node, *one)
            if self.more:
                return
            if found is not None:
                yield found

    def begun(self, first: Watch, given: Iterable[Input]) -> Node:
        """The state with which the orders begin."""
        watch = first
        for one in given:
            self.link = linked(self.link, one)
            taken = watch.take(one)
            if isinstance(taken, Failure):
                raise taken.failure()
            watch = taken.unwrap()
            self.steps += 1
        node = self.node(watch, self.kinds(), frozenset())
        self.visit(node)
        return node

    def kinds(self) -> tuple[int, ...]:
        """What may happen beside, by its number; equal inputs have the same."""
        return tuple(sorted(self.also.index(one) for one in self.also))

    def moves(
        self, node: Node
    ) -> Iterator[tuple[Input, tuple[int, ...], frozenset[Hashable] | None]]:
        """All that may happen next, what is left then, and the answers so far."""
        state = node.watch.state
        for effect in state.waiting:
            for answer in self.answers(node, effect):
                yield answer, node.left, self.with_answer(node, answer)
        for n in dict.fromkeys(node.left):
            at = node.left.index(n)
            yield self.also[n], node.left[:at] + node.left[at + 1 :], None

    def answers(self, node: Node, effect: Effect) -> list[Answer]:
        """What an effect may be answered."""
        state = node.watch.state
        key = self.numbers.of(effect), state.requests
        if key not in self.known:
            try:
                self.known[key] = self.choices.of(state, effect)
            except Unsaid as problem:
                self.link = node.link
                assert node.link is not None  # noqa: S101  # an input led to the effect
                raise Broken(
                    ALL_IS_SAID, str(problem), state, node.link.given
                ) from None
        return self.known[key]

    def with_answer(self, node: Node, answer: Answer) -> frozenset[Hashable] | None:
        """The answers with this one; an edit passes a gate that sees what else is run."""
        if node.answers is None or isinstance(answer.value, Edit):
            return None
        return node.answers | {self.numbers.of(answer)}

    def take(
        self,
        node: Node,
        given: Input,
        left: tuple[int, ...],
        answers: frozenset[Hashable] | None,
    ) -> Node | None:
        """The state after this input, if it is one that was not seen."""
        self.link = linked(node.link, given)
        taken = node.watch.take(given)
        if isinstance(taken, Failure):
            self.refused(node, given, taken.failure().kind)
            return None
        self.steps += 1
        found = self.node(taken.unwrap(), left, answers)
        return found if self.visit(found) else None

    def node(
        self,
        watch: Watch,
        left: tuple[int, ...],
        answers: frozenset[Hashable] | None,
    ) -> Node:
        """Where the newest input led."""
        return Node(watch, self.link, left, answers, self.memory(watch))

    def memory(self, watch: Watch) -> tuple[Hashable, ...]:
        """What the user's laws remember; `LAWS` need nothing that the state does not tell."""
        return tuple(map(self.numbers.memory, watch.laws[self.ours :]))

    def unchanged(self, node: Node) -> None:
        """Refuse a law that is not as it was: every way from here has changed it."""
        if node.memory == self.memory(node.watch):
            return
        for law in node.watch.laws[self.ours :]:
            if self.numbers.memory(law) not in node.memory:
                raise TypeError(CHANGES.format(name_of(law), type(law).__name__))

    def refused(self, node: Node, given: Input, kind: str) -> None:
        """What was refused did not happen; but what waits takes its answer."""
        if isinstance(given, Answer) and kind != "invalid_arguments":
            raise Broken(
                ANSWERS_ARE_TAKEN, f"it was refused as {kind}", node.watch.state, given
            )

    def visit(self, node: Node) -> bool:
        """Whether a state is new; what must hold of each is looked at."""
        state = node.watch.state
        here = self.numbers.state(state), node.left
        self.same_order(node, here)
        key = here, node.memory
        if key in self.seen:
            return False
        length = node.link.length if node.link else 0
        if len(self.seen) >= self.bound or length > self.deepest:
            self.more = True
            return False
        self.seen.add(key)
        if self.link:
            self.depth = max(self.depth, self.link.length)
            _saved(state, self.link.given)
        if state.stop:
            self.reasons[state.stop.reason] += 1
        return True

    def same_order(self, node: Node, key: Hashable) -> None:
        """The same answers in another order come to the same."""
        if node.answers is None or node.link is None:
            return
        if self.orders.setdefault(node.answers, key) != key:
            said = "another order of these answers comes to another state"
            raise Broken(ORDER, said, node.watch.state, node.link.given)

    def found(
        self,
        complete: bool,  # noqa: FBT001  # as it is stored
        counterexample: Counterexample | None = None,
    ) -> Exploration:
        """What it came to."""
        return Exploration(
            states=len(self.seen),
            steps=self.steps,
            depth=self.depth,
            reasons=self.reasons,
            complete=complete,
            counterexample=counterexample,
        )

    def report(self, left: int) -> None:
        """Say how far it is, about once a second."""
        seen = f"explored {len(self.seen):,} states"
        self.progress.say(f"{seen}, {left:,} are left to look at")


ORDER: Final = "3: the order of answers does not matter"
CHANGES: Final = (
    "The law {!r} changes itself. Runs are forked, so its see() has to leave it as it is "
    "and return a new one: `return {}(...)`."
)


def _saved(state: State, given: Input) -> None:
    try:
        saved(state)
    except AssertionError as problem:
        raise Broken(name_of(Coded()), str(problem), state, given) from problem
