"""From what the command line says to a conversation, and from its end to an exit code."""

import asyncio
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from loopcore import Answer, Continue, Prompt, RunResult, State, Stream, stream
from loopcore.cli.app import (
    App,
    Besides,
    connected_to,
    embedded,
    loaded,
    together,
    tools_of,
)
from loopcore.cli.conversation import Conversation
from loopcore.cli.mistakes import FAILED, INTERRUPTED, Mistake
from loopcore.cli.options import Options
from loopcore.cli.saving import (
    is_journal,
    recorded_in,
    reserve,
    save,
    saved_as,
    saved_in,
)
from loopcore.cli.show import Ending, Show
from loopcore.cli.terminal import person, show_for
from loopcore.frozen import counted, evolve
from loopcore.journal import Recorder
from loopcore.reducer.door import answerable

FINE: Final = frozenset(("done", "terminated", "hook"))
"""The reasons to stop that are no failure."""


@frozen
class Session:
    """An app that is talked to.

    `changes` are what each prompt changes of the app's settings; `lost` answers the tools
    that were under way when another journal was left: it goes on in a file of its own.
    """

    command: str
    options: Options
    app: App
    besides: Besides
    show: Show
    conversation: Conversation
    changes: dict[str, Any] = field(factory=dict[str, Any])
    lost: tuple[Answer, ...] = ()

    @property
    def state(self) -> State:
        """Where the run is."""
        return self.conversation.live.state

    @property
    def model(self) -> str:
        """The model that the next prompt is for."""
        return str(self.changes.get("model", self.app.config.model))

    def say(self, text: str) -> None:
        """Give a prompt, and follow what comes of it."""
        self.conversation.give(Prompt(text, **self.changes))

    def go_on(self) -> None:
        """Perform what it waits for; one that stopped before its answer continues."""
        stopped = self.state.stop and not self.state.waiting
        if stopped and answerable(self.state):
            self.conversation.give(Continue())
            return
        waiting = {effect.id for effect in self.state.waiting}
        lost = (answer for answer in self.lost if answer.effect_id in waiting)
        self.conversation.give(*lost)

    def use(self, model: str) -> None:
        """Ask this model from the next prompt on."""
        self.besides.add(connected_to(model))
        self.changes["model"] = model

    def title(self, kind: str) -> str:
        """What it is, in a line."""
        tools = self.changes.get("tools", self.app.config.tools)
        said = [f"{kind} {self.state.run_id}", self.model, counted(len(tools), "tool")]
        if self.options.journal:
            said.append(str(self.options.journal))
        return " · ".join(said)

    @property
    def is_kept(self) -> bool:
        """Whether it is to be saved: it waits, or somebody asked for that."""
        options = self.options
        return bool(options.save or options.resume or self.state.waiting)

    def finish(self, file: Path | None = None) -> None:
        """Say how it ended, and keep it, if it is to be kept: in this file, if in any."""
        ending = self.conversation.ending
        try:
            kept = self._kept(ending, file) if self.is_kept else ending
        except Mistake:
            self.show.end(ending)  # it cannot be saved, but it is told
            raise
        self.show.end(kept)

    def _kept(self, ending: Ending, file: Path | None) -> Ending:
        options = self.options
        file = options.save or options.resume or options.journal or file or self.file
        if file != options.journal:
            save(self.state, file)
        if not self.state.waiting:
            return evolve(ending, saved=str(file))
        go_on = self.options.go_on(self.command, self.app.name, file)
        return evolve(ending, saved=str(file), go_on=go_on)

    @property
    def file(self) -> Path:
        """Where it is saved if nobody says where."""
        return saved_as(self.state.run_id)

    @property
    def exit_code(self) -> int:
        """What the shell is told."""
        return exit_code(
            self.conversation.ending.result, interrupted=self.conversation.interrupted
        )


def exit_code(result: RunResult, *, interrupted: bool) -> int:
    """0 for a run that came to its end or waits, 1 for one that failed."""
    if result.stop is None or result.stop.reason in FINE:
        return 0
    aborted = result.stop.reason == "aborted"
    return INTERRUPTED if aborted and interrupted else FAILED


def opened(
    command: str, name: str | None, options: Options, runner: asyncio.Runner
) -> Session:
    """A session of this app, in which nothing was said yet."""
    options, past = _resumed(options)
    _reserve(options, is_new=past is None)
    state = saved_in(options.resume) if options.resume else None
    tools = [tool for module in options.tools for tool in tools_of(module)]
    app = loaded(name) if name else embedded(_model(options, state), tools)
    state, lost = _gone_on(past, app, options) if past else (state, ())
    besides, show = Besides(), show_for(options)
    live = _stream(app, besides, state, options)
    conversation = Conversation(runner, live, show, person(options))
    session = Session(command, options, app, besides, show, conversation, lost=lost)
    if name and tools:
        besides.add(*tools)
        session.changes["tools"] = together(app.config, tools)
    if options.model and (name or state):
        session.use(options.model)
    for word in ("system", "thinking"):
        if (value := getattr(options, word)) is not None:
            session.changes[word] = value
    return session


def _gone_on(
    past: Path, app: App, options: Options
) -> tuple[State, tuple[Answer, ...]]:
    """The run of a journal, and what its recorder would answer were it the same file."""
    state, lost = recorded_in(past, app.config, options.redact)
    return state, (() if options.journal == past else lost)


KEEPS_ITS_NAME: Final = (
    "--run-id names a new run; one that is resumed keeps its own name."
)


def _resumed(options: Options) -> tuple[Options, Path | None]:
    """A journal that is resumed is recorded further, unless another one is named."""
    past = options.resume
    if past and options.run_id is not None:
        raise Mistake(KEEPS_ITS_NAME)
    if past and is_journal(past):
        return evolve(options, resume=None, journal=options.journal or past), past
    if options.redact and not options.journal:
        raise Mistake(NO_RECORD)
    return options, None


NO_RECORD: Final = (
    "--redact is about what --journal records; a saved run is whole, or it could not go "
    "on. Give --journal, too."
)


def _reserve(options: Options, *, is_new: bool) -> None:
    if options.journal and is_new:
        reserve(options.journal, "--journal")
    if options.save and options.save != options.resume:
        reserve(options.save, "--save")
    if options.run_id and not (options.save or options.journal):
        reserve(saved_as(options.run_id), "--save")


def _model(options: Options, state: State | None) -> str | None:
    """The model of an embedded app: a saved run goes on with its own."""
    return state.settings.model if state else options.model


def _stream(
    app: App, besides: Besides, state: State | None, options: Options
) -> Stream:
    interpreter = app.interpreter.wrap(besides.around)
    if state is None:
        named = options.run_id
        run_id = interpreter.new_run_id() if named is None else named
        state = State.start(app.config, run_id=run_id)
    file = options.journal
    journal = Recorder(file, redact=options.redact) if file else None
    return stream(app.config, interpreter, state=state, journal=journal)
