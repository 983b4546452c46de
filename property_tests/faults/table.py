"""The faults, in the order of a run: requests, replies, batches, gates, ends, the door."""

from typing import Final

from property_tests.faults.fault import Fault, Patch, fault
from property_tests.faults.policies import POLICIES

CALLS: Final = "property_tests/test_calls.py"
RUNS: Final = "property_tests/test_runs.py"
HOOKS: Final = "property_tests/test_hooks.py"
STEPS: Final = "property_tests/test_steps.py"
MERGING: Final = "property_tests/test_merging.py"
MACHINE: Final = "property_tests/test_machine.py"

NUMBER: Final = f"{RUNS}::test_a_run_that_wants_a_number_ends_with_one_or_says_why_not"

BATCH: Final = "loopcore/reducer/batch.py"
GATE: Final = "loopcore/reducer/gates.py"
RESULTS: Final = "loopcore/reducer/results.py"
MODEL: Final = "loopcore/reducer/model.py"
ANSWERS: Final = "loopcore/reducer/answers.py"
TURN: Final = "loopcore/reducer/turn.py"
STEP: Final = "loopcore/reducer/step.py"
WINDING: Final = "loopcore/reducer/winding.py"
NESTED: Final = "loopcore/reducer/nested.py"
QUEUES: Final = "loopcore/reducer/queues.py"
OUTPUT: Final = "loopcore/reducer/output.py"
DOOR: Final = "loopcore/reducer/door.py"
ASK: Final = "loopcore/reducer/ask.py"
OUT: Final = "loopcore/reducer/out.py"
STATE: Final = "loopcore/state.py"
FOLD: Final = "loopcore/hooks/fold.py"
MERGE: Final = "loopcore/hooks/merge.py"
POINTS: Final = "loopcore/hooks/points.py"
RULE: Final = "loopcore/hooks/rule.py"

REQUESTS: Final = (
    fault(
        "what a request shows is stored",
        MODEL,
        "requests=state.requests + 1,",
        "requests=state.requests + 1, transcript=shown.messages,",
        f"{HOOKS}::test_what_a_request_shows_is_stored_nowhere",
    ),
    fault(
        "a Continue resets the settings",
        STEP,
        "settings = _changed(state.settings, given)",
        "settings = _changed(config.settings, given)",
        f"{HOOKS}::test_a_request_shows_the_settings_as_changed_for_it_alone",
    ),
    fault(
        "a Prompt keeps the settings of the run before",
        STEP,
        "_changed(config.settings, given))",
        "_changed(state.settings, given))",
        f"{HOOKS}::test_a_request_shows_the_settings_as_changed_for_it_alone",
    ),
    fault(
        "a failed attempt that is tried again is stored",
        MODEL,
        "return _sleep(state, out, folded), None",
        'return _sleep(store(state, out, AssistantMessage("")), out, folded), None',
        f"{HOOKS}::test_a_retry_stores_nothing_and_waits",
    ),
    fault(
        "a hook's wish to try again beats another's to give up",
        MERGE,
        "return old and new",
        "return old or new",
        f"{HOOKS}::test_a_retry_stores_nothing_and_waits",
        f"{MERGING}::test_giving_up_beats_trying_again",
    ),
    fault(
        "a fallback model stays after its turn",
        MODEL,
        "        by=chosen(turn.by, folded),\n    )\n    state = evolve(state, turn=turn)",
        "        by=chosen(turn.by, folded),\n    )\n    state = evolve(state, turn=turn, "
        "settings=evolve(state.settings, model=turn.model or state.settings.model))",
        f"{HOOKS}::test_a_request_shows_the_settings_as_changed_for_it_alone",
    ),
    fault(
        "the calls of a reply cut by its length run",
        MODEL,
        'CUT: Final = frozenset(("length", "refusal"))',
        'CUT: Final = frozenset(("refusal",))',
        f"{CALLS}::test_calls_run_together_or_one_by_one",
    ),
)

BATCHES: Final = (
    fault(
        "results are stored backwards",
        STATE,
        "return tuple(slot.message for slot in self.slots if isinstance(slot, Done))",
        "return tuple(s.message for s in self.slots[::-1] if isinstance(s, Done))",
        f"{CALLS}::test_every_call_has_its_one_result_beside_it",
    ),
    fault(
        "a tool that is sequential runs with the others",
        BATCH,
        "one_by_one = not config.parallel or _sequential(turn, calls)",
        "one_by_one = not config.parallel",
        f"{CALLS}::test_calls_run_together_or_one_by_one",
    ),
    fault(
        "every batch runs one by one",
        BATCH,
        "one_by_one = not config.parallel or _sequential(turn, calls)",
        "one_by_one = True",
        f"{CALLS}::test_calls_run_together_or_one_by_one",
    ),
    fault(
        "one result that terminates ends the run",
        TURN,
        "return bool(done) and all(done)",
        "return any(done)",
        f"{CALLS}::test_results_are_what_tools_gave_as_shaped_by_hooks",
    ),
    fault(
        "after_tool_call is asked about blocked calls",
        GATE,
        "return Settled(slot.call, slot.spec, view.arguments, output)",
        "return Settled(slot.call, slot.spec, view.arguments, output, ran=True)",
        f"{CALLS}::test_results_are_what_tools_gave_as_shaped_by_hooks",
    ),
    fault(
        "what a failed guard should hold back is stored",
        RESULTS,
        "if folded.fault and folded.guarded:",
        "if folded.fault and folded.guarded and slot is None:",
        f"{CALLS}::test_results_are_what_tools_gave_as_shaped_by_hooks",
    ),
    fault(
        "the tokens of a nested run are counted twice",
        NESTED,
        "return put(spend(state, child.usage), place, settled)",
        "return put(spend(spend(state, child.usage), child.usage), place, settled)",
        f"{STEPS}::test_tokens_are_counted_once",
    ),
    fault(
        "the timer of a nested run goes on after its end",
        NESTED,
        "timer = (e.id for e in state.pending.values() if _is_timer(e, place))",
        "timer = (e.id for e in state.pending.values() if _is_timer(e, -1))",
        f"{STEPS}::test_what_waits_is_what_was_asked_and_not_answered",
        f"{MACHINE}",
    ),
    fault(
        "what a nested run waits for is not told",
        STATE,
        "return (*inner, *self.pending.values())",
        "return (*inner[:0], *self.pending.values())",
        f"{STEPS}::test_what_waits_is_what_was_asked_and_not_answered",
    ),
)

GATES: Final = (
    Fault(
        "a Block is lifted by a later Allow",
        (
            Patch(
                MERGE,
                "return new if _rank(new) > _rank(old) else old",
                "return new",
            ),
            Patch(POINTS, " or isinstance(view.decision, Block)", ""),
        ),
        (f"{CALLS}::test_only_what_its_gate_lets_through_is_run",),
    ),
    fault(
        "a Block does not end its chain",
        POINTS,
        " or isinstance(view.decision, Block)",
        "",
        f"{CALLS}::test_a_chain_ends_at_a_block_and_at_arguments_that_do_not_fit",
    ),
    fault(
        "a tool that needs approval runs without",
        GATE,
        'return "" if spec.needs_approval else None',
        "return None",
        f"{CALLS}::test_only_what_its_gate_lets_through_is_run",
    ),
    fault(
        "an Allow does not lift a tool's need of approval",
        GATE,
        "        case Allow():\n            return None\n",
        "",
        f"{CALLS}::test_only_what_its_gate_lets_through_is_run",
    ),
    fault(
        "a call that was rejected runs",
        BATCH,
        "return put(state, n, _rejected(slot, text))",
        "return _approved(config, state, out, n, slot) if text else state",
        f"{CALLS}::test_only_what_its_gate_lets_through_is_run",
    ),
    fault(
        "an edited call does not pass its gate again",
        BATCH,
        "return put(state, n, evolve(slot, edited=arguments))",
        "return _approved(config, state, out, n, evolve(slot, arguments=arguments))",
        f"{CALLS}::test_only_what_its_gate_lets_through_is_run",
    ),
    fault(
        "a person is asked about an edited call again",
        GATE,
        "question=None if slot.approved else _question(slot.spec, view.decision)",
        "question=_question(slot.spec, view.decision)",
        f"{CALLS}::test_only_what_its_gate_lets_through_is_run",
    ),
    fault(
        "arguments that a hook changed reach no tool",
        GATE,
        "        arguments=view.arguments,\n        question=",
        "        question=",
        f"{CALLS}::test_only_what_its_gate_lets_through_is_run",
    ),
    fault(
        "a hook is asked about every tool",
        RULE,
        "return function if view.tool in self.tools else None",
        "return function",
        f"{HOOKS}::test_hooks_are_asked_in_order_and_what_stands_is_told",
    ),
    fault(
        "hooks are asked backwards",
        FOLD,
        "for place, hook in enumerate(hooks):",
        "for place, hook in reversed(list(enumerate(hooks))):",
        f"{HOOKS}::test_hooks_are_asked_in_order_and_what_stands_is_told",
    ),
    fault(
        "a hook remembers what it wrote in a pass that was abandoned",
        ASK,
        "return _park(state, out, point, n, name, need), None",
        "state = evolve(state, memos=FrozenDict({**state.memos, **folded.memos}))\n"
        "            return _park(state, out, point, n, name, need), None",
        f"{HOOKS}::test_a_hook_remembers_what_it_wrote_in_a_pass_that_was_kept",
    ),
    fault(
        "the later of two stops is kept",
        MERGE,
        "return old if old or new is UNSET else new",
        "return new if new else old",
        f"{MERGING}::test_any_stop_is_a_stop_and_the_first_is_kept",
    ),
    fault(
        "hooks may store calls without results",
        STATE,
        "    if mended is history:\n        return\n",
        "    if mended is not None:\n        return\n",
        f"{CALLS}::test_every_call_has_its_one_result_beside_it",
    ),
)

ENDS: Final = (
    fault(
        "steering is taken twice a turn",
        TURN,
        'drain(open_turn(state), out, "steering", config.steering)',
        'drain(drain(open_turn(state), out, "steering", config.steering)[0], out, '
        '"steering", config.steering)',
        f"{RUNS}::test_what_is_queued_is_said_once_or_withdrawn",
    ),
    fault(
        "follow-ups go before steering",
        TURN,
        'drain(open_turn(state), out, "steering", config.steering)',
        'drain(open_turn(state), out, "follow_ups", config.follow_ups)',
        f"{RUNS}::test_what_is_queued_is_said_once_or_withdrawn",
    ),
    fault(
        "a withdrawal takes back what has another key",
        QUEUES,
        "return given.key is None or given.key == queued.key",
        "return bool(queued.messages)",
        f"{RUNS}::test_what_is_queued_is_said_once_or_withdrawn",
    ),
    fault(
        "messages injected after a batch that terminates make no turn",
        TURN,
        "if steered or turn.again or _unfinished(turn):",
        "if steered or (turn.again and not _terminated(turn)) or _unfinished(turn):",
        f"{RUNS}::test_a_stop_beats_injected_messages_and_these_beat_the_end",
    ),
    fault(
        "a stop after injected messages makes a request",
        TURN,
        'return (evolve(state, ending=stop), "end") if stop else (state, "next_turn")',
        'return (evolve(state, ending=stop), "end") if stop and not the_turn('
        'state).again else (state, "next_turn")',
        f"{RUNS}::test_a_stop_beats_injected_messages_and_these_beat_the_end",
    ),
    fault(
        "a reply that does not fit is sent back once too often",
        OUTPUT,
        "return state.repairs < config.repairs and not refused",
        "return state.repairs <= config.repairs and not refused",
        NUMBER,
    ),
    fault(
        "a refusal is sent back",
        OUTPUT,
        "return state.repairs < config.repairs and not refused",
        "return state.repairs < config.repairs",
        NUMBER,
    ),
    fault(
        "an abort goes on with the calls that wait",
        WINDING,
        "    slots = tuple(map(_closed, turn.slots))\n"
        "    turn = evolve(turn, slots=slots, at=0)\n"
        '    return evolve(state, turn=turn), "after_tool_call"',
        "    turn = evolve(turn, first=0, last=len(turn.slots), at=0)\n"
        '    return evolve(state, turn=turn), "prepare_tool_call"',
        f"{RUNS}::test_nothing_is_asked_after_an_abort",
    ),
    fault(
        "an abort does not reach the runs inside",
        WINDING,
        "    state = abort_children(config, state, out, given)\n",
        "",
        f"{RUNS}::test_starts_and_ends_balance",
    ),
    fault(
        "what waits is not cancelled when a hook fails",
        WINDING,
        "cancel(state, out, tuple(state.pending), by)",
        'cancel(state, out, tuple(state.pending)[: "Abort" in by and 99], by)',
        f"{CALLS}::test_an_edited_call_may_fail_at_its_gate_while_others_run",
    ),
    fault(
        "what a model had streamed at an abort is not paid for",
        WINDING,
        "_keep(spend(state, streamed.usage), out, streamed)",
        "_keep(state, out, streamed)",
        f"{STEPS}::test_tokens_are_counted_once",
    ),
    fault(
        "a turn that is over ends again",
        WINDING,
        "if turn is None or turn.over:",
        "if turn is None:",
        f"{RUNS}::test_starts_and_ends_balance",
    ),
)

INPUTS: Final = (
    fault(
        "time goes back",
        DOOR,
        "max(state.now, at)",
        "at",
        f"{MACHINE}",
    ),
    fault(
        "how an effect ended is forgotten",
        OUT,
        "        closed=state.closed.with_(effect.id, closed),\n",
        "",
        f"{MACHINE}",
    ),
    fault(
        "an answer is taken twice",
        ANSWERS,
        "    if effect is None:\n        raise",
        "    if effect is None and answer.effect_id in state.closed:\n"
        "        return answer\n    if effect is None:\n        raise",
        f"{MACHINE}",
    ),
    fault(
        "an edit that does not fit is taken",
        ANSWERS,
        "    if isinstance(effect, RequestApproval) and isinstance(answer.value, Edit):\n",
        "    if isinstance(effect, RequestApproval) and effect is None:\n",
        f"{CALLS}::test_only_what_its_gate_lets_through_is_run",
    ),
    fault(
        "the seed depends on the process",
        STATE,
        'int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")',
        "hash(name) % 2**48",
        f"{STEPS}::test_the_seed_of_hashes_does_not_matter",
    ),
)

FAULTS: Final = (*REQUESTS, *BATCHES, *GATES, *ENDS, *INPUTS, *POLICIES)
