"""The calls of a reply in the source engine: gated, run together, finished in order."""

from collections.abc import Iterable, Sequence

from attrs import define

from loopcore.frozen import Json
from tests.traces import tables
from tests.traces.source_arguments import source_arguments
from tests.traces.source_run import (
    Aborted,
    Engine,
    HookRaised,
    answer,
    close,
    finish,
    refused,
)


@define
class Slot:
    """A call: `args` once its gate let it through, `result` once it has one."""

    call: Json
    args: Json = None
    result: Json = None


def batch(engine: Engine, reply: Json, wanted: Sequence[Json]) -> list[Json]:
    """The results of a reply's calls, in source order."""
    results: list[Json] = []
    groups = [[call] for call in wanted] if _one_by_one(engine, wanted) else [wanted]
    try:
        for group in groups:
            _cycle(engine, [Slot(call) for call in group], results)
    except (HookRaised, Aborted) as stopped:
        if isinstance(stopped, HookRaised) and "T1" not in engine.decided:
            raise
        unanswered = wanted[len(results) :]
        results += (answer(engine, call, "<aborted>") for call in unanswered)
        close(engine, reply, results)
        raise
    return results


def _one_by_one(engine: Engine, wanted: Iterable[Json]) -> bool:
    offered = engine.settings["tools"]
    known = [call["name"] for call in wanted if call["name"] in offered]
    modes = [tables.tool(engine.scenario, name).get("mode") for name in known]
    return "sequential" in (engine.scenario.get("execution"), *modes)


def _cycle(engine: Engine, slots: Sequence[Slot], results: list[Json]) -> None:
    """Gate, run and finish these calls together."""
    if engine.cancelled:
        results += (finish(engine, s.call, refused("<aborted>")) for s in slots)
        return
    try:
        for slot in slots:
            _gate(engine, slot)
    except HookRaised:
        if "T1" in engine.decided:
            results += _kept(engine, slots)
        raise
    stopped: Exception | None = _execute(engine, slots)
    for slot in slots:
        stopped = _finish(engine, slot, results) or stopped
    if stopped:
        raise stopped


def _kept(engine: Engine, slots: Sequence[Slot]) -> Iterable[Json]:
    """A gate raised: what was refused before it keeps its answer, nothing is run."""
    gated = [slot for slot in slots if slot.args is not None or slot.result]
    for slot in gated:
        if slot.result:
            yield finish(engine, slot.call, slot.result)
        else:
            yield answer(engine, slot.call, "<aborted>")


def _finish(engine: Engine, slot: Slot, results: list[Json]) -> HookRaised | None:
    """The after-hook, then the result; with T1 it is kept though the hook raises."""
    bug = None
    if slot.result is None:
        results.append(answer(engine, slot.call, "<aborted>"))
        return None
    try:
        _after(engine, slot)
    except HookRaised as raised:
        if "T1" not in engine.decided:
            raise
        bug = raised
    results.append(finish(engine, slot.call, slot.result))
    return bug


def _gate(engine: Engine, slot: Slot) -> None:
    """Find its tool, make its arguments fit, ask the before-hook."""
    name = slot.call["name"]
    if name not in engine.settings["tools"]:
        slot.result = refused("<unknown_tool>")
        return
    tool = tables.tool(engine.scenario, name)
    raw = tables.prepared(tool.get("prepare_arguments", {}), slot.call["arguments"])
    args = source_arguments(tool.get("parameters"), raw, engine.decided)
    if args is None:
        slot.result = refused("<invalid_arguments>")
    elif engine.installed("before_tool_call"):
        _before(engine, slot, args)
    else:
        slot.args = args


def _before(engine: Engine, slot: Slot, args: Json) -> None:
    name, call_id = slot.call["name"], slot.call["id"]
    decision = tables.decided(engine.scenario, "before_tool_call", call_id, name)
    row = {
        "call_id": call_id,
        "tool": name,
        "args": args,
        "n_context": len(engine.context),
        "block": bool(decision.get("block")),
    }
    engine.called("before_tool_call", row, call_id)
    if decision.get("block"):
        slot.result = refused(decision.get("reason") or "<blocked>")
    else:
        slot.args = args


def _execute(engine: Engine, slots: Sequence[Slot]) -> Aborted | None:
    """Run these together, in virtual time; with T4 an abort cuts it off."""
    started = [
        (_started(engine, slot), slot) for slot in slots if slot.args is not None
    ]
    start = engine.clock
    for row, slot in sorted(started, key=lambda pair: _delay(engine, pair[1])):
        engine.clock = start + _delay(engine, slot)
        if engine.scenario.get("abort", {}).get("in_tool") == slot.call["id"]:
            engine.cancelled = True
            if "T4" in engine.decided:
                return Aborted()
        row["end_ms"] = engine.clock
        engine.rows["order"].append(f"ran:{slot.call['id']}")
        slot.result = _ran(engine, slot)
    return None


def _started(engine: Engine, slot: Slot) -> Json:
    row = {
        "call_id": slot.call["id"],
        "tool": slot.call["name"],
        "args": slot.args,
        "start_ms": engine.clock,
        "end_ms": None,
    }
    engine.rows["tool_runs"].append(row)
    engine.rows["order"].append(f"run:{slot.call['id']}")
    return row


def _outcome(engine: Engine, slot: Slot) -> Json:
    return tables.outcome(engine.scenario, slot.call["name"], slot.call["id"])


def _delay(engine: Engine, slot: Slot) -> int:
    delay: int = _outcome(engine, slot)["delay_ms"]
    return delay


def _ran(engine: Engine, slot: Slot) -> Json:
    given = _outcome(engine, slot)
    dropped = given["is_error"] and "T7" not in engine.decided
    return {
        "content": given["content"],
        "details": given["details"],
        "is_error": given["is_error"],
        "terminate": given["terminate"] and not dropped,
    }


def _after(engine: Engine, slot: Slot) -> None:
    """The after-hook of a call that ran."""
    if slot.args is None or not engine.installed("after_tool_call"):
        return
    name, call_id = slot.call["name"], slot.call["id"]
    update = tables.decided(engine.scenario, "after_tool_call", call_id, name)
    row = {
        "call_id": call_id,
        "tool": name,
        "args": slot.args,
        "n_context": len(engine.context),
        **slot.result,
        "override": sorted(update),
    }
    engine.called("after_tool_call", row, call_id)
    slot.result = {**slot.result, **update}
