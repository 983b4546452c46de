"""What the source engine does in a scenario, and what the decisions make of that.

A second, plain implementation. Without decisions it gives what was recorded; each name in
`decided` is a T row of the decisions, and changes what that row says, nothing else.
"""

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

from loopcore.frozen import Json
from tests.traces import tables
from tests.traces.source_batch import batch
from tests.traces.source_run import (
    Aborted,
    Engine,
    HookRaised,
    answer,
    close,
    finish,
    keep,
    refused,
    told,
)

End: TypeAlias = tuple[str, str | None]
"""How it ended, and the text of what went wrong."""


def source_engine(scenario: Json, decided: Collection[str] = ()) -> Json:
    """The trace of a scenario."""
    settings = {
        "model": scenario["model"],
        "thinking": scenario["thinking"],
        "system_prompt": scenario["system_prompt"],
        "tools": [tool["name"] for tool in scenario["tools"]],
    }
    engine = Engine(scenario, decided, list(scenario["initial_messages"]), settings)
    how, error = _run(engine)
    end = {
        "how": how,
        "error": error,
        "requests": len(engine.rows["requests"]),
        "left_steering": len(engine.queues["steering"]),
        "left_follow_ups": len(engine.queues["follow_ups"]),
    }
    return {**engine.rows, "new_messages": engine.new, "end": end}


def _run(engine: Engine) -> End:
    engine.rows["events"].append({"event": "agent_start"})
    end = _caught(engine)
    engine.rows["events"].append({"event": "agent_end", "n": len(engine.new)})
    return end


def _caught(engine: Engine) -> End:
    try:
        return _turns(engine)
    except Aborted:
        return "aborted", None
    except HookRaised as bug:
        if "T1" not in engine.decided:
            _lose_everything(engine, str(bug))
        return "raised", str(bug)


def _lose_everything(engine: Engine, text: str) -> None:
    """The source engine ends with a message about the failure, and that alone."""
    failure = _failed_reply(engine, f"<hook_raised> {text}")
    told(engine, failure)
    engine.new = [failure]


def _failed_reply(engine: Engine, text: str, reason: str = "error") -> Json:
    return {
        "role": "assistant",
        "content": [],
        "stop_reason": reason,
        "error_message": text,
        "model": engine.settings["model"],
    }


def _turns(engine: Engine) -> End:
    """Turns while calls or steering want one, then while follow-ups do."""
    _enqueue(engine, -1)
    _add(engine, *engine.scenario["prompts"])
    pending = _poll(engine, "steering")
    while True:
        more = True
        while more or pending:
            _add(engine, *pending)
            more, end = _turn(engine)
            if end:
                return end
            pending = _poll(engine, "steering")
        pending = _poll(engine, "follow_ups")
        if not pending:
            return "terminate" if engine.terminated else "done", None


def _enqueue(engine: Engine, turn: int) -> None:
    """What enters the queues while this request is being made."""
    for name in engine.queues:
        for entry in engine.scenario.get(name, ()):
            if entry["after_turn"] == turn:
                engine.queues[name] += entry["messages"]


POLLS: Final = {
    "steering": ("get_steering", "steering_mode"),
    "follow_ups": ("get_follow_up", "follow_up_mode"),
}


def _poll(engine: Engine, name: str) -> list[Json]:
    """Take from a queue; a poll that raises takes nothing."""
    hook, mode = POLLS[name]
    engine.polls[name] += 1
    engine.polled(hook, engine.polls[name] - 1)
    queue = engine.queues[name]
    taken = len(queue) if tables.drain(engine.scenario, mode) == "all" else 1
    engine.queues[name] = queue[taken:]
    return queue[:taken]


def _add(engine: Engine, *said: Json) -> None:
    told(engine, *said)
    keep(engine, *said)


def _turn(engine: Engine) -> tuple[bool, End | None]:
    """One request and what follows; whether calls want another, or how the run ends."""
    reply = _request(engine)
    _add(engine, reply)
    wanted = [block for block in reply["content"] if block["type"] == "tool_call"]
    if reply["stop_reason"] in ("error", "aborted"):
        return False, _failed(engine, reply, wanted)
    if reply["stop_reason"] == "length" and "T2" in engine.decided:
        results = [finish(engine, call, refused("<truncated>")) for call in wanted]
    else:
        results = batch(engine, reply, wanted)
    close(engine, reply, results)
    engine.terminated = bool(results) and all(r["terminate"] for r in results)
    if _after_turn(engine, reply, results):
        return False, ("should_stop", None)
    return bool(results) and not engine.terminated, None


def _failed(engine: Engine, reply: Json, wanted: Sequence[Json]) -> End:
    """A failed reply ends the run; with T3 its calls are answered."""
    calls = wanted if "T3" in engine.decided else ()
    close(engine, reply, [answer(engine, call, "<truncated>") for call in calls])
    return reply["stop_reason"], reply.get("error_message")


def _request(engine: Engine) -> Json:
    """What the model answers."""
    try:
        sent = _projected(engine)
    except HookRaised:
        if "T1" in engine.decided:
            close(engine, None, ())
        raise
    number = len(engine.rows["requests"])
    row = {"request": number, "messages": sent, **engine.settings}
    engine.rows["requests"].append(row)
    engine.rows["order"].append(f"request:{number}")
    _enqueue(engine, number)
    if engine.scenario.get("abort", {}).get("in_request") == number:
        engine.cancelled = True
    if engine.cancelled:
        return _failed_reply(engine, "aborted", "aborted")
    return _answer(engine, tables.reply(engine.scenario, number))


def _projected(engine: Engine) -> list[Json]:
    history = engine.context
    if engine.installed("transform_context"):
        rule = engine.scenario["hooks"]["transform_context"]
        history = tables.transformed(rule, history, _user)
        row = {"n": len(engine.context), "n_out": len(history)}
        engine.called("transform_context", row)
    engine.polled("convert_to_llm", len(engine.rows["requests"]))
    return [said for said in history if said["role"] != "custom"]


def _user(text: str) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _answer(engine: Engine, given: Json) -> Json:
    if "fail" in given:
        return _failed_reply(engine, given["fail"])
    rest = {key: value for key, value in given.items() if key != "stream"}
    reply = {"role": "assistant", **rest, "model": engine.settings["model"]}
    if reply["stop_reason"] == "aborted" and "T5" in engine.decided:
        reply["stop_reason"] = "error"
    return reply


def _after_turn(engine: Engine, reply: Json, results: Sequence[Json]) -> bool:
    """The two hooks of a clean turn; whether the run is to stop."""
    turn = len(engine.rows["requests"]) - 1
    ended = tables.turn_end(reply, [result["message"] for result in results])
    seen = {**ended, "turn": turn}
    del seen["event"]
    if engine.installed("prepare_next_turn"):
        turns = engine.scenario["hooks"]["prepare_next_turn"]["turns"]
        update = turns.get(str(turn), {})
        row = {**seen, **_sizes(engine), "update": sorted(update)}
        engine.called("prepare_next_turn", row)
        _prepare(engine, update)
    if not engine.installed("should_stop_after_turn"):
        return False
    rule = engine.scenario["hooks"]["should_stop_after_turn"]
    stop = tables.stops(rule, turn, len(engine.new))
    engine.called("should_stop_after_turn", {**seen, **_sizes(engine), "stop": stop})
    return stop


def _sizes(engine: Engine) -> Json:
    return {"n_context": len(engine.context), "n_new": len(engine.new)}


def _prepare(engine: Engine, update: Json) -> None:
    if "messages" in update:
        engine.context = list(update["messages"])
    for key in engine.settings:
        engine.settings[key] = update.get(key, engine.settings[key])
