"""Run a loop to its end, or to what cannot be had here."""

from functools import partial

from loopcore.config import LoopConfig, T
from loopcore.reducer import Given, RunResult
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.live import JournalLike, Live, beginning
from loopcore.runtime.sync import run_here
from loopcore.state import State


async def run(
    config: LoopConfig[T],
    interpreter: Interpreter,
    *given: Given,
    state: State | None = None,
    run_id: str | None = None,
    journal: JournalLike | None = None,
) -> RunResult[T]:
    """Give these to a run, perform what it wants, until it stops or has to wait.

    It waits for what this interpreter cannot do, such as an approval where nobody can be
    asked: then the returned state is the resume token. Cancelling the task that awaits
    this is a crash, not an abort: what is in flight is cancelled and awaited, and the
    exception goes on. With LOOPCORE_CHECK=1 in the environment every hook is asked twice,
    and one that says two things of the same view ends the run as a hook_error.

    Args:
        config: what the run is.
        interpreter: who does the work.
        given: a text or message (a prompt), and inputs, answers to approvals among them;
            may be nothing, to perform what the state waits for. They are taken in order,
            all or none. A second prompt would come while the first one is worked on and
            is refused as "busy": `Steer` and `FollowUp` are for saying more.
        state: a run to go on with; without it a new one begins. It keeps its model,
            system prompt and tools until a prompt takes those of `config`.
        run_id: the new run's name; by default the interpreter invents one.
        journal: a file, or a `Recorder`; each input is written before the run goes on. A
            new run needs a new file; with `state`, the file that ends in that state is
            gone on with. Of tools that were under way when that file was left, those with
            `on_interrupt="report"` are answered as interrupted.

    Raises:
        Rejected: if the run cannot take what is given.
        TypeError: for what a run cannot be given, saying what to write.
        ValueError: if the interpreter lacks what the configuration offers.
        FileExistsError: if there is such a file, and the run is new.
        JournalError: if the journal is damaged, of another state, or being written.
    """
    live = Live(config, interpreter, beginning(config, interpreter, state, run_id))
    live.begin(given, journal)
    try:
        while await live.move():
            pass
    finally:
        await live.close()
    return live.result


def run_sync(
    config: LoopConfig[T],
    interpreter: Interpreter,
    *given: Given,
    state: State | None = None,
    run_id: str | None = None,
    journal: JournalLike | None = None,
) -> RunResult[T]:
    """`run` for code that is not asynchronous, in an event loop of its own.

    Raises:
        RuntimeError: where an event loop is already running.
    """
    work = partial(
        run,
        config,
        interpreter,
        *given,
        state=state,
        run_id=run_id,
        journal=journal,
    )
    return run_here(work, "run_sync()", 'result = await run(config, interpreter, "…")')
