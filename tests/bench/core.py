"""What the core costs, beside a hand-written loop on lists: `python tests/bench/core.py`.

One run on one machine: every figure is the best of several repetitions. Both loops do the
same work: a model that answers at once asks for one tool, whose arguments come as JSON text,
are parsed and validated; the tool answers at once; tokens are counted. Figures are
microseconds of the process's own time for each turn.
"""

import argparse
import asyncio
import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from attrs import evolve
from jsonschema_rs import validator_for

from loopcore import (
    AssistantMessage,
    CallModel,
    Continue,
    Interpreter,
    LoopConfig,
    Message,
    Model,
    RunTool,
    Settings,
    State,
    Text,
    Tool,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
    advance,
    run_sync,
)
from loopcore.hooks import (
    ContextUpdate,
    Hooks,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)

T = TypeVar("T")

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
}
SPEC: Final = ToolSpec("noop", "Does nothing.", SCHEMA)
SIZES: Final = (10, 100, 1_000, 10_000)
USAGE: Final = (10, 5)

FIVE: Final = (
    Hooks("shown", transform_context=lambda _: ContextUpdate(options={"n": 1})),
    Hooks(
        "counted",
        memo=0,
        before_tool_call=lambda view: ToolCallUpdate(memo=view.memo + 1),
    ),
    Hooks("shaped", after_tool_result=lambda view: ToolResultUpdate(view.text + "!")),
    Hooks("thinks", prepare_next_turn=lambda _: TurnUpdate(thinking="low")),
    Hooks("limited", should_stop_after_turn=lambda _: StopUpdate(stop=False)),
)


def wire_call(turn: int) -> dict[str, str]:
    """A tool call as a wire has it."""
    return {"id": f"call_{turn}", "name": "noop", "arguments": '{"x": 1}'}


# The hand-written loop, as people write it: messages are dicts in a list.


def list_loop(turns: int) -> list[dict[str, Any]]:
    """A plain loop that does what the reducer is asked to do here, and nothing else."""
    validator = validator_for(SCHEMA)
    tools: dict[str, Callable[..., str]] = {"noop": noop}
    spent = [0, 0]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for turn in range(turns + 1):
        reply = answer(turn, turns)
        messages.append(reply)
        spent[0] += reply["usage"][0]
        spent[1] += reply["usage"][1]
        for call in reply["tool_calls"]:
            messages.append(call_tool(tools, validator, call))  # noqa: PERF401
    return messages


def noop(x: int) -> str:  # noqa: ARG001  # it does nothing
    """Does nothing."""
    return "ok"


def answer(turn: int, turns: int) -> dict[str, Any]:
    """A model that answers at once."""
    calls = [wire_call(turn)] if turn < turns else []
    text = None if calls else "done"
    return {"role": "assistant", "content": text, "tool_calls": calls, "usage": USAGE}


def call_tool(
    tools: dict[str, Callable[..., str]], validator: Any, call: dict[str, str]
) -> dict[str, Any]:
    """Parse, validate, run, and keep errors from ending the loop."""
    arguments = json.loads(call["arguments"])
    if not validator.is_valid(arguments):
        return {"role": "tool", "tool_call_id": call["id"], "content": "invalid"}
    try:
        content = tools[call["name"]](**arguments)
    except Exception as error:  # noqa: BLE001  # as such loops do
        content = str(error)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


async def async_list_loop(turns: int) -> list[dict[str, Any]]:
    """The same, with a model and a tool that are awaited."""
    validator = validator_for(SCHEMA)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    spent = [0, 0]
    for turn in range(turns + 1):
        reply = await soon(answer(turn, turns))
        messages.append(reply)
        spent[0] += reply["usage"][0]
        spent[1] += reply["usage"][1]
        for call in reply["tool_calls"]:
            arguments = json.loads(call["arguments"])
            if not validator.is_valid(arguments):
                raise ValueError(arguments)
            content = await asyncio.create_task(soon("ok"))
            told = {"role": "tool", "tool_call_id": call["id"], "content": content}
            messages.append(told)
    return messages


async def soon(value: T) -> T:
    """The value, through an await."""
    return value


# The same work through the reducer, by hand and by `run`.


def reply_of(turn: int, turns: int) -> AssistantMessage:
    """The model's reply as a wire decodes it."""
    if turn == turns:
        return AssistantMessage("done", usage=Usage(*USAGE))
    call = wire_call(turn)
    parsed = ToolCall.parse(call["name"], call["arguments"], call["id"])
    return AssistantMessage((parsed,), finish="tools", usage=Usage(*USAGE))


def stepped(turns: int, hooks: tuple[Hooks, ...] = ()) -> State:
    """The reducer alone, driven by hand."""
    config = LoopConfig(model="test:m", tools=[SPEC], hooks=hooks)
    state = State.start(config, run_id="r")
    state, _ = advance(config, state, "go").unwrap()
    turn = 0
    while state.waiting:
        match state.waiting[0]:
            case CallModel() as asked:
                told = asked.reply(reply_of(turn, turns))
                turn += 1
            case RunTool() as asked_tool:
                told = asked_tool.reply("ok")
            case other:
                told = other.fail("nobody asks for this here")
        state, _ = advance(config, state, told).unwrap()
    return state


def driven(turns: int, hooks: tuple[Hooks, ...] = ()) -> State:
    """The whole of `run`: tasks, events, an interpreter."""
    replies = (reply_of(turn, turns) for turn in range(turns + 1))

    async def call(_effect: object, _tell: object) -> AssistantMessage:
        return next(replies)

    async def noop(x: int) -> str:  # noqa: ARG001
        return "ok"

    model, tool = Model("test:m", call), Tool(SPEC, noop)
    config = LoopConfig(model=model, tools=[tool], hooks=hooks)
    return run_sync(config, Interpreter(model, tool), "go", run_id="r").state


# Measuring.


def best(work: Callable[[], object], seconds: float) -> float:
    """The shortest of several repetitions, in seconds."""
    found, spent = float("inf"), 0.0
    while spent < seconds:
        gc.collect()
        begun = time.process_time()
        work()
        took = time.process_time() - begun
        found, spent = min(found, took), spent + took
    return found


def per_turn(work: Callable[[int], object], turns: int) -> float:
    """Microseconds a turn."""
    return best(lambda: work(turns), 0.6 if turns < max(SIZES) else 0.1) / turns * 1e6


KINDS: Final[dict[str, Callable[[int], object]]] = {
    "list loop": list_loop,
    "step": stepped,
    "step, five hooks": lambda turns: stepped(turns, FIVE),
    "async list loop": lambda turns: asyncio.run(async_list_loop(turns)),
    "run": driven,
    "run, five hooks": lambda turns: driven(turns, FIVE),
}


def table(sizes: tuple[int, ...]) -> Iterator[str]:
    """Microseconds a turn, by kind and size, with growth and the ratio to a list loop."""
    head = "".join(f"{size:>10,}" for size in sizes)
    yield f"{'µs a turn, at turns':<22}{head}   growth   ratio"
    rows = {
        kind: [per_turn(work, size) for size in sizes] for kind, work in KINDS.items()
    }
    for kind, row in rows.items():
        floor = rows[
            "async list loop" if "run" in kind or "async" in kind else "list loop"
        ]
        ratios = [mine / theirs for mine, theirs in zip(row, floor, strict=True)]
        figures = "".join(f"{figure:>10.1f}" for figure in row)
        growth = row[-1] / row[min(1, len(row) - 1)]
        yield f"{kind:<22}{figures}   {growth:6.2f}  {sorted(ratios)[len(ratios) // 2]:6.1f}"


def history(length: int) -> list[Message]:
    """A conversation of so many messages: prompts, calls, results, replies."""
    found: list[Message] = []
    while len(found) < length:
        n = len(found)
        found += [
            UserMessage(f"Question {n}: what is the weather in Paris, and why?"),
            AssistantMessage(
                [Text("Let me look."), ToolCall("noop", {"x": n}, f"call_{n}")],
                model="test:m",
                finish="tools",
                usage=Usage(100 + n, 20),
            ),
            ToolResultMessage(f"call_{n}", "noop", f"17 degrees, light rain ({n})"),
            AssistantMessage(f"It rains, as the answer {n} says.", model="test:m"),
        ]
    return found[:length]


def forks(length: int = 2_000) -> Iterator[str]:
    """What it costs to keep another future of a long run."""
    config = LoopConfig(model="test:m", tools=[SPEC])
    said = [*history(length - 1)[: length - 1], UserMessage("And now?")]
    state = State.start(config, run_id="r", transcript=said)
    seconds = best(lambda: [fork(state) for _ in range(1_000)], 0.5) / 1_000
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [fork(state) for _ in range(1_000)]
    size = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    tracemalloc.stop()
    yield f"fork of {length:,} messages: {seconds * 1e6:.1f} µs, {size:,.0f} bytes"


def fork(state: State) -> State:
    """Another future: the same past, another model from here on."""
    return evolve(state, run_id="another", settings=Settings("test:other"))


def saving(length: int = 1_000) -> Iterator[str]:
    """What it costs to save and load a conversation."""
    config = LoopConfig(model="test:m", tools=[SPEC])
    said = [*history(length - 1), UserMessage("And now?")]
    state = State.start(config, run_id="r", transcript=said)
    state, _ = advance(config, state, Continue()).unwrap()
    data = state.dumps()
    save = best(state.dumps, 0.5) / length * 1e6
    load = best(lambda: State.loads(data).unwrap(), 0.5) / length * 1e6
    whole = f"{len(data) / length:,.0f} bytes a message"
    yield f"saving {save:.1f} µs a message, loading {load:.1f} ({length:,} messages, {whole})"


def main() -> None:
    """Print it all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, nargs="*", default=SIZES)
    sizes = tuple(parser.parse_args().turns)
    for line in (*table(sizes), *forks(), *saving()):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
