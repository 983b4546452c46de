"""A scenario, played through loopcore: scripted models and tools, tables as hooks."""

from typing import Final

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Continue,
    FollowUp,
    Input,
    LoopConfig,
    ModelError,
    Prompt,
    RunTool,
    State,
    Steer,
    ToolOutput,
    advance,
)
from loopcore.frozen import Json
from tests.traces import tables
from tests.traces.hooks import hooks, specs
from tests.traces.log import Log
from tests.traces.records import message, parts, reply, shown, texts

HOW: Final = {
    "done": "done",
    "terminated": "terminate",
    "hook": "should_stop",
    "model_error": "error",
    "aborted": "aborted",
    "hook_error": "raised",
}


def play(scenario: Json) -> Json:
    """What happens, in the words of a trace."""
    log = Log(scenario, texts(scenario))
    config = configure(log)
    history = map(message, scenario["initial_messages"])
    state = State.start(config, run_id="trace", transcript=history)
    for given in (*_queued(scenario, -1), _first(scenario)):
        state = _give(config, state, log, given)
    while state.waiting:
        for given in _next(state, log):
            state = _give(config, state, log, given)
    new = [shown(said, log.given) for said in state.new]
    return {**log.rows, "new_messages": new, "end": _end(state)}


def configure(log: Log) -> LoopConfig:
    """The configuration of a scenario."""
    scenario = log.scenario
    return LoopConfig(
        model=scenario["model"],
        system=scenario["system_prompt"],
        thinking=scenario["thinking"],
        tools=specs(scenario),
        hooks=hooks(log),
        parallel=scenario.get("execution") != "sequential",
        steering=tables.drain(scenario, "steering_mode"),
        follow_ups=tables.drain(scenario, "follow_up_mode"),
    )


def _first(scenario: Json) -> Input:
    prompts = tuple(map(message, scenario["prompts"]))
    return Prompt(prompts) if prompts else Continue()


def _queued(scenario: Json, turn: int) -> tuple[Input, ...]:
    """What enters a queue while this request is being made."""
    return tuple(
        kind((message(said),))
        for key, kind in (("steering", Steer), ("follow_ups", FollowUp))
        for entry in scenario.get(key, ())
        if entry["after_turn"] == turn
        for said in entry["messages"]
    )


def _give(config: LoopConfig, state: State, log: Log, given: Input) -> State:
    """One input, and a note of all that it led to."""
    state, effects = advance(config, state, given, at=log.clock / 1000).unwrap()
    for event in effects.tell:
        log.told(state, event)
    for effect in effects.perform:
        if isinstance(effect, CallModel):
            log.requested(effect)
        elif isinstance(effect, RunTool):
            log.started(effect)
    return state


def _next(state: State, log: Log) -> tuple[Input, ...]:
    """What happens next: the model replies, or the tool that is over first returns."""
    effect = state.waiting[0]
    if isinstance(effect, CallModel):
        return _replied(log, effect)
    first = min(log.running, key=lambda tool: tool.over)
    log.running.remove(first)
    log.clock, call = first.over, first.effect.call
    if log.scenario.get("abort", {}).get("in_tool") == call.id:
        return (Abort("a key was pressed"),)
    first.row["end_ms"] = log.clock
    log.rows["order"].append(f"ran:{call.id}")
    return (first.effect.reply(_output(log, first.effect)),)


def _replied(log: Log, effect: CallModel) -> tuple[Input, ...]:
    """The reply to a request; an abort meets one that has begun and said nothing yet."""
    number = len(log.rows["requests"]) - 1
    queued = _queued(log.scenario, number)
    if log.scenario.get("abort", {}).get("in_request") == number:
        heard = {effect.id: AssistantMessage(())}
        return (*queued, Abort("a key was pressed", partials=heard))
    return (*queued, _reply(effect, tables.reply(log.scenario, number)))


def _reply(effect: CallModel, given: Json) -> Answer:
    if "fail" in given:
        return effect.fail(ModelError(given["fail"], "bad_request"))
    return effect.reply(reply(given))


def _output(log: Log, run: RunTool) -> ToolOutput:
    given = tables.outcome(log.scenario, run.call.name, run.call.id)
    return ToolOutput(
        parts(given["content"]),
        details=given["details"],
        terminate=given["terminate"],
        outcome="raised" if given["raises"] else "error" if given["is_error"] else "ok",
    )


def _end(state: State) -> Json:
    assert state.stop is not None
    errors = [m.error for m in state.new if isinstance(m, AssistantMessage) and m.error]
    said = errors[-1].message if errors else state.stop.error or ""
    return {
        "how": HOW[state.stop.reason],
        "error": said.removeprefix("HookBug: ") or None,
        "requests": state.requests,
        "left_steering": len(state.steering),
        "left_follow_ups": len(state.follow_ups),
    }
