"""The JSON form of records and of states, and what is said of any other JSON."""

import json
import time
from typing import Any, Final

import pytest
from attrs import frozen
from returns.result import Failure, Success

from loopcore import (
    AssistantMessage,
    CallModel,
    CustomMessage,
    Effect,
    Event,
    Input,
    LoopConfig,
    Message,
    ModelError,
    RunTool,
    State,
    Text,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore.codec import DecodeError, from_json, register, to_json
from loopcore.events import HookWrote, Stop
from loopcore.frozen import UNSET, FrozenDict, Json, evolve, freeze, vector
from loopcore.hooks import Ask, Hooks, Need, StopUpdate, ToolCallUpdate, TurnUpdate
from loopcore.inputs import Answer, Edit, Value
from loopcore.settings import Settings
from loopcore.state import Turn
from tests.counting import FOR_EVER, calls
from tests.driving import Run, Spy, begin, call, config

# The form of a record.


@pytest.mark.parametrize(
    ("value", "kind", "form"),
    [
        (Usage(3), Usage, {"input": 3}),
        (Usage(), Usage, {}),
        (UserMessage("hi"), UserMessage, {"parts": [{"type": "Text", "text": "hi"}]}),
        (CustomMessage("note"), Message, {"type": "CustomMessage", "kind": "note"}),
        (ToolCallUpdate(Ask()), ToolCallUpdate, {"decision": {"type": "Ask"}}),
        (TurnUpdate(thinking=None), TurnUpdate, {"thinking": None}),
        (StopUpdate("why"), StopUpdate, {"stop": "why"}),
        (StopUpdate(Stop("hook")), StopUpdate, {"stop": {"reason": "hook"}}),
        (
            Settings("m", tools=[ToolSpec("t")]),
            Settings,
            {"model": "m", "tools": [{"name": "t"}]},
        ),
        (ToolOutput(""), Value, {"type": "ToolOutput", "parts": []}),
        (freeze({"type": "x"}), Value, {"json": {"type": "x"}}),
        (None, Value, {"json": None}),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_record_is_an_object_of_what_it_does_not_leave_at_its_default(
    value: object, kind: Any, form: Json
) -> None:
    assert form == json.loads(json.dumps(to_json(value, kind)))
    assert value == from_json(kind, form)


def wrote(update: object) -> HookWrote:
    return HookWrote(run_id="r", turn=1, at=None, hook="h", point="p", update=update)


@pytest.mark.parametrize(
    ("update", "form"),
    [
        (StopUpdate("x"), {"$record": "StopUpdate", "stop": "x"}),
        (freeze({"stop": "x"}), {"stop": "x"}),
        (
            freeze({"$record": "StopUpdate"}),
            {"$record": None, "json": {"$record": "StopUpdate"}},
        ),
        (freeze({"a": {"$record": 1}}), {"a": {"$record": 1}}),
        (freeze([{"$record": 1}]), [{"$record": 1}]),
    ],
    ids=["record", "like a record", "named like one", "deeper", "in an array"],
)
def test_a_record_and_any_json_are_told_apart_where_anything_may_stand(
    update: object, form: Json
) -> None:
    saved = json.loads(json.dumps(to_json(wrote(update), Event)))

    assert form == saved["update"]
    assert wrote(update) == from_json(Event, saved)


def test_an_unregistered_record_has_no_form_where_anything_may_stand() -> None:
    with pytest.raises(TypeError, match="a Usage has no JSON form"):
        to_json(wrote(Usage(1)))


def test_a_name_is_registered_once() -> None:
    twin = type("StopUpdate", (), {})

    with pytest.raises(
        ValueError, match="another record is registered as 'StopUpdate'"
    ):
        register(twin)


def test_json_comes_back_frozen_and_vectors_as_ours() -> None:
    effect = CallModel("e", "m", vector([UserMessage("x")]), options={"a": [1]})
    back = from_json(Effect, json.loads(json.dumps(to_json(effect, Effect))))

    assert isinstance(back.options, FrozenDict)
    assert back.options["a"] == (1,)
    assert type(vector()) is type(back.messages)


def test_lone_surrogates_are_replaced_as_everywhere() -> None:
    back = from_json(Settings, json.loads('{"model": "a\\ud800"}'))

    assert back.model == "a\ufffd"


# What is wrong with other JSON.


@frozen
class Pair:
    """A record whose constructor compares its fields."""

    one: int
    other: int

    def __attrs_post_init__(self) -> None:
        if self.one == self.other:
            message = "they are equal"
            raise ValueError(message)


WRONG: Final[list[tuple[Any, Json, str]]] = [
    (Turn, {}, "missing field 'number'"),
    (Turn, {"number": 1, "x": 1}, "unknown field 'x'"),
    (Turn, {"number": 1, "a b": 1}, "unknown field \"['a b']\""),
    (Turn, {"number": "1"}, "'number' must be an int, is '1'"),
    (Turn, {"number": True}, "'number' must be an int, is true"),
    (
        Turn,
        {"number": 2**13000},
        "'number' is too large a number",
    ),
    (
        Turn,
        {"number": 1, "usage": {"cost": 1e999}},
        "'usage.cost' is too large a number",
    ),
    (
        Turn,
        {"number": 1, "usage": {"cost": 10**400}},
        "'usage.cost' is too large a number",
    ),
    (
        Turn,
        {"number": 1, "usage": {"cost": "1"}},
        "'usage.cost' must be a number or null, is '1'",
    ),
    (Turn, {"number": 1, "over": 1}, "'over' must be a bool, is 1"),
    (Turn, {"number": 1, "model": []}, "'model' must be a str or null, is an array"),
    (Turn, {"number": 1, "slots": {}}, "'slots' must be an array, is an object"),
    (Turn, {"number": 1, "slots": [{}]}, "missing field 'slots[0].type'"),
    (Turn, {"number": 1, "slots": [3]}, "'slots[0]' must be an object, is 3"),
    (
        Turn,
        {"number": 1, "slots": [{"type": "Odd"}]},
        "'slots[0].type' must be one of 'Waiting', 'Ready', 'Asked', 'Running', 'Settled', ",
    ),
    (
        Turn,
        {"number": 1, "slots": [{"type": "Waiting", "call": {"name": "t", "type": 1}}]},
        "unknown field 'slots[0].call.type'",
    ),
    (
        Turn,
        {"number": 1, "thinking": "hard"},
        "'thinking' must be one of 'off', 'low', 'medium', 'high', is 'hard'",
    ),
    (
        ToolCall,
        {"name": "t", "arguments": 3},
        "'arguments' is an int, not a JSON object",
    ),
    (
        ToolSpec,
        {"name": "t", "parameters": {"a": [1e999]}},
        "\"parameters['a'][0]\" is inf, which JSON does not have",
    ),
    (
        Event,
        {"type": "HookWrote", "update": {"$record": "Usage"}},
        "\"update['$record']\" must be one of",
    ),
    (
        Answer,
        {"effect_id": "e", "value": {"json": 1, "x": 2}},
        "unknown field 'value.x'",
    ),
    (Answer, {"effect_id": "e", "value": {}}, "missing field 'value.json'"),
    (Answer, {"effect_id": "e", "value": 3}, "'value' must be an object, is 3"),
    (Stop, {"reason": "bored"}, "'reason' is refused: Stop(reason=...) takes one of"),
    (Usage, [], "must be an object, is an array"),
    (Settings, {"model": 3}, "'model' must be a str, is 3"),
    (
        Effect,
        {"type": "Sleep", "id": "e", "seconds": "1"},
        "'seconds' must be a number, is '1'",
    ),
    (
        Answer,
        {"effect_id": "e", "value": {"json": [1e999]}},
        "'value.json[0]' is inf, which",
    ),
    (type(None), 1, "must be null, is 1"),
    (Pair, {"one": 1, "other": 1}, "is refused: they are equal"),
]


@pytest.mark.parametrize(("kind", "form", "sentence"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named_with_its_path(
    kind: Any, form: Json, sentence: str
) -> None:
    with pytest.raises(DecodeError) as refused:
        from_json(kind, form)

    assert str(refused.value).startswith(sentence)


def test_a_path_may_begin_where_the_data_was_found() -> None:
    with pytest.raises(DecodeError) as refused:
        from_json(Usage, {"x": 1}, "lines[3]")

    assert DecodeError("lines[3].x", "unknown field") == refused.value


# States.

CALLS: Final = call("a", n=1), call("b")


def saved(state: State) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(state.dumps())
    return data


def problem(data: object) -> str:
    text = data if isinstance(data, bytes | str) else json.dumps(data)
    return str(State.loads(text).failure())


def waiting() -> Run:
    """A run in its second turn, of which a request waits."""
    return begin(config()).says("so", *CALLS).ran("a", "1").ran("b", "2")


def test_a_saved_state_is_a_complete_resume_token() -> None:
    run = waiting()
    loaded = State.loads(run.state.dumps()).unwrap()
    again = Run(run.config, loaded, run.told)

    assert run.state == loaded
    assert run.says("done").state == again.says("done").state


def test_a_state_is_read_from_text_too() -> None:
    state = waiting().state

    assert State.loads(state.dumps().decode()) == Success(state)


def test_the_envelope_names_format_and_version() -> None:
    data = saved(waiting().state)

    assert data["format"] == "loopcore.state"
    assert data["version"] == 1


def test_what_the_transcript_holds_is_referred_to() -> None:
    data = saved(waiting().state)["state"]

    assert data["new"] == [[0, 4]]
    assert data["pending"][0]["messages"] == [[0, 4]]


def test_what_is_referred_to_is_shared_after_loading() -> None:
    state = State.loads(waiting().state.dumps()).unwrap()
    (effect,) = state.pending.values()

    assert isinstance(effect, CallModel)
    assert effect.messages is state.transcript
    assert state.new is state.transcript


def test_what_a_hook_shows_instead_is_written_whole_between_the_ranges() -> None:
    def shorten(view: Any) -> Any:
        first, *rest = view.messages
        return vector([UserMessage("in short"), *rest]) if rest else [first]

    run = begin(config(Hooks("shorten", transform_context=shorten)))
    state = run.says("so", *CALLS).ran("a").ran("b").state
    written = saved(state)["state"]["pending"][0]["messages"]

    assert [to_json(UserMessage("in short"), Message), [1, 4]] == json.loads(
        json.dumps(written)
    )
    assert State.loads(state.dumps()) == Success(state)


def test_a_copy_of_a_stored_message_is_referred_to_unless_its_json_differs() -> None:
    """As Python values, the arguments {"n": 1} and {"n": True} are equal."""
    one: Message = AssistantMessage([ToolCall("a", {"n": 1}, "c")])
    copy: Message = AssistantMessage([ToolCall("a", {"n": 1}, "c")])
    other: Message = AssistantMessage([ToolCall("a", {"n": True}, "c")])
    start = begin(config()).state
    state = evolve(start, transcript=vector([one]), new=vector([copy, other]))
    back = State.loads(state.dumps()).unwrap()

    assert [0, 1] == saved(state)["state"]["new"][0]
    _, kept = back.new
    assert isinstance(kept, AssistantMessage)
    assert kept.calls[0].arguments["n"] is True


def test_messages_in_another_order_come_back_in_it() -> None:
    start = begin(config(), "one").state
    said: list[Message] = [UserMessage(str(n)) for n in range(4)]
    history = vector(said)
    state = evolve(start, transcript=history, new=vector(reversed(history)))

    assert State.loads(state.dumps()) == Success(state)


def nested() -> Run:
    inner = LoopConfig(model="test:inner", tools=[ToolSpec("look")])
    outer = config(tools=[inner.as_tool("sub", "A run inside.")])
    return begin(outer).says(call("sub", prompt="go")).says("hm", call("look"))


def test_a_nested_run_refers_to_its_own_transcript() -> None:
    run = nested().ran("look", "x" * 1000)
    child = saved(run.state)["state"]["turn"]["slots"][0]["child"]

    assert child["pending"][0]["messages"] == [[0, 3]]
    assert State.loads(run.state.dumps()) == Success(run.state)


def test_a_waiting_state_is_about_as_large_as_its_transcript() -> None:
    """D93 aside: the request that waits and the run's own messages are the same ones."""
    state = long(200)
    alone = evolve(state, new=vector(), pending=FrozenDict())

    assert len(state.dumps()) < len(alone.dumps()) + 300


def long(turns: int) -> State:
    """A state of 4 messages a turn that waits for its model."""
    history: list[Message] = []
    for n in range(turns):
        id_ = f"call_{n}"
        history += [
            UserMessage(f"Question {n}, which is as long as a question usually is."),
            AssistantMessage(
                [Text("I will look that up."), ToolCall("search", {"limit": n}, id_)],
                model="test:model",
                finish="tools",
                usage=Usage(1200 + n, 34),
            ),
            ToolResultMessage(id_, "search", "It is sunny, 23 degrees, a light wind."),
            AssistantMessage("It is sunny.", model="test:model", usage=Usage(1300, n)),
        ]
    return begin(config(), transcript=history).state


def test_saving_and_loading_is_as_much_work_as_a_state_is_long() -> None:
    short, four = long(50), long(200)

    assert calls(lambda: saved_again(four)) < 4.5 * calls(lambda: saved_again(short))


def saved_again(state: State) -> None:
    """Save a state, and load it."""
    assert State.loads(state.dumps()) == Success(state)


# What is not a saved state.


def test_a_newer_version_says_to_upgrade() -> None:
    """Mistake 15."""
    data = saved(waiting().state) | {"version": 3}

    assert problem(data) == (
        "was written in state format 3; this loopcore reads 1 to 1. Upgrade loopcore."
    )


def test_an_unknown_field_is_named_from_the_state_on() -> None:
    """Mistake 15."""
    data = saved(begin(config()).says(*CALLS).state)
    data["state"]["turn"]["slots"][0]["priority"] = 1

    assert problem(data) == "unknown field 'turn.slots[0].priority'"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"\xff\xfe\xfd", "is not JSON: "),
        ("[" * 100_000, "is nested too deeply"),
        ('{"format": NaN}', "is not JSON: NaN is not JSON"),
        (f'{{"version": {"9" * 5000}}}', "is not JSON: Exceeds the limit"),
        ("[]", 'is not a saved state: it has no "format": "loopcore.state"'),
        (
            '{"format": []}',
            'is not a saved state: it has no "format": "loopcore.state"',
        ),
        ('{"format": "loopcore.state"}', "missing field 'version'"),
        ('{"format": "loopcore.state", "version": "1"}', "'version' must be an int"),
        (
            '{"format": "loopcore.state", "version": 0}',
            "was written in state format 0; this loopcore reads 1 to 1.",
        ),
        ('{"format": "loopcore.state", "version": 1}', "must be an object, is null"),
        ('{"format": "loopcore.state", "version": 1, "x": 1}', "unknown field 'x'"),
        (
            '{"format": "loopcore.state", "version": 1, "state": {}}',
            "missing field 'run_id'",
        ),
    ],
    ids=range(13),
)
def test_what_is_no_saved_state_is_told_in_a_sentence(
    data: bytes | str, sentence: str
) -> None:
    assert problem(data).startswith(sentence)


def test_what_is_wrong_deep_down_is_found_at_once() -> None:
    """Each level was once decoded again to name the place: twice a level."""
    state = saved(begin(config()).says(call("a")).state)["state"]
    text, found = json.dumps(state), state | {"bogus": 1}
    for _ in range(25):
        outer = json.loads(text) | {"pending": []}
        outer["turn"]["slots"][0]["child"] = found
        found = outer
    data = json.dumps(saved(RUNNING) | {"state": found})
    began = time.process_time()

    assert problem(data).endswith(".child.turn.slots[0].child.bogus'")
    assert time.process_time() - began < FOR_EVER


def test_a_state_within_a_state_without_end_is_refused() -> None:
    slot: dict[str, Json] = {"type": "Running", "call": {"name": "x"}, "arguments": {}}
    held: Json = None
    for _ in range(150):
        turn = {"number": 1, "slots": [{**slot, "spec": {"name": "x"}, "child": held}]}
        held = {"run_id": "r", "seed": 1, "settings": {"model": "m"}, "turn": turn}
    data = {"format": "loopcore.state", "version": 1, "state": held}

    assert problem(data) == "is nested too deeply"


@pytest.mark.parametrize(
    ("ranges", "sentence"),
    [
        ([[0, 5]], "'new[0]' must be a range [start, stop] in 0 to 4, is [0, 5]"),
        ([[-1, 2]], "'new[0]' must be a range [start, stop] in 0 to 4, is [-1, 2]"),
        ([[2, 2]], "'new[0]' must be a range [start, stop] in 0 to 4, is [2, 2]"),
        (
            [[False, True]],
            "'new[0]' must be a range [start, stop] in 0 to 4, is [False",
        ),
        ([[0, 1, 2]], "'new[0]' must be a range [start, stop] in 0 to 4, is [0, 1, 2]"),
        (
            [[0, 2], [1, 3]],
            "'new[1]' must be a range [start, stop] in 2 to 4, is [1, 3]",
        ),
        ([3], "'new[0]' must be an object, is 3"),
        ({}, "'new' must be an array, is an object"),
    ],
    ids=range(8),
)
def test_a_reference_out_of_bounds_is_named(ranges: object, sentence: str) -> None:
    data = saved(waiting().state)
    data["state"]["new"] = ranges

    assert problem(data).startswith(sentence)


# A loaded state is one that a run can go on from.


def parked() -> Run:
    need = Need.service("k", "policy")
    return begin(config(Hooks("asks", before_tool_call=Spy(need)))).says(*CALLS)


def asked() -> Run:
    return begin(config(Hooks("asks", before_tool_call=Spy(Ask("?"))))).says(*CALLS)


def set_to(data: dict[str, Any], path: str, value: object) -> None:
    *way, end = path.split("/")
    last: Any = int(end) if end.isdigit() else end
    found: Any = data
    for step in way:
        found = found[int(step) if step.isdigit() else step]
    if value is UNSET:
        del found[last]
    else:
        found[last] = value


RUNNING: Final = begin(config()).says(*CALLS).state
UNSOUND: Final[list[tuple[State, str, object, str]]] = [
    (RUNNING, "run_id", "", "'run_id' is empty"),
    (RUNNING, "inputs", -1, "'inputs' is below 0"),
    (
        RUNNING,
        "stage",
        "dancing",
        "'stage' must be one of idle, rest, transform_context,",
    ),
    (RUNNING, "stage", UNSET, "'turn' must be empty, as the stage is 'idle'"),
    (RUNNING, "turn", UNSET, "'turn' is missing, though the stage is 'rest'"),
    (RUNNING, "turn/reply", UNSET, "'turn.reply' is missing"),
    (RUNNING, "turn/first", 2.5, "'turn.first' must be an int, is 2.5"),
    (RUNNING, "turn/first", 3, "'turn.last' and first must be in 0 to 2, in order"),
    (RUNNING, "turn/last", 3, "'turn.last' and first must be in 0 to 2, in order"),
    (RUNNING, "turn/at", -1, "'turn.at' must be in 0 to 2, is -1"),
    (RUNNING, "turn/at", 3, "'turn.at' must be in 0 to 2, is 3"),
    (
        RUNNING,
        "pending/0/id",
        "r.1.1.run.1",
        "'pending[1]' has the id of another effect",
    ),
    (
        RUNNING,
        "pending/0/id",
        "r.1.1.run.2",
        "'pending[0].id' has no place in the turn",
    ),
    (
        RUNNING,
        "pending/0/id",
        "r.1.1.run.x",
        "'pending[0].id' has no place in the turn",
    ),
    (
        RUNNING,
        "pending/0/id",
        "r.run." + "9" * 99,
        "'pending[0].id' has no place in the turn",
    ),
    (
        RUNNING,
        "known",
        [{"hook": "h", "key": "k", "effect_id": "e"}],
        "'known' does not go",
    ),
    (
        RUNNING,
        "inbox",
        {"type": "Continue"},
        "'inbox' starts a run, though one is open",
    ),
    (
        RUNNING,
        "inbox",
        {"type": "Answer", "effect_id": "r.1.1.run.0", "value": {"json": 1}},
        "'inbox' is no answer that 'r.1.1.run.0' waits for",
    ),
    (
        RUNNING,
        "inbox",
        {"type": "Answer", "effect_id": "x", "value": {"json": 1}},
        "'inbox' is no answer that 'x' waits for",
    ),
    (
        State.start(config(), run_id="r"),
        "inbox",
        {"type": "Abort"},
        "'inbox' stops a run",
    ),
    (parked().state, "stage", "rest", "'known' does not go with the stage 'rest'"),
    (
        parked().state,
        "stage",
        "after_tool_result",
        "'turn.at' must be the place of a Settled",
    ),
    (parked().state, "turn/at", 2, "'turn.at' must be the place of a Ready"),
    (parked().state, "stage", "on_model_error", "'turn.error' is missing"),
    (parked().state, "pending", UNSET, "'known[0].effect_id' is neither answered nor"),
    (asked().state, "pending/0/id", "r.1.1.ask.9", "'pending[0].id' has no place"),
    (asked().state, "pending/0/type", "RunTool", "unknown field 'pending[0].question'"),
    (
        RUNNING,
        "pending/0",
        {"type": "Consult", "id": "e", "service": "s"},
        "'pending[0].id' has no place in the turn: 'e'",
    ),
    (
        nested().state,
        "inbox",
        {"type": "Answer", "effect_id": "r.1.1.run.0.1.1.run.9", "value": {"json": 1}},
        "'inbox' is no answer that 'r.1.1.run.0.1.1.run.9' waits for",
    ),
    (
        parked().state,
        "inbox",
        {
            "type": "Answer",
            "effect_id": "r.1.1.before_tool_call.0.asks.k",
            "value": {"type": "ToolOutput", "parts": []},
        },
        "'inbox' is no answer that 'r.1.1.before_tool_call.0.asks.k' waits for",
    ),
    (
        nested().state,
        "turn/slots/0/child/run_id",
        "",
        "'turn.slots[0].child.run_id' is empty",
    ),
]


@pytest.mark.parametrize(
    ("state", "path", "value", "sentence"), UNSOUND, ids=range(len(UNSOUND))
)
def test_an_unsound_state_is_refused(
    state: State, path: str, value: object, sentence: str
) -> None:
    data = saved(state)
    set_to(data["state"], path, value)

    assert problem(data).startswith(sentence)


DOUBLED: Final[list[tuple[Run, str, dict[str, object], str]]] = [
    (begin(config()).says(*CALLS), "z.0", {}, "'pending[1].id' has the place of 'r.1."),
    (asked(), "zz.ask.0", {}, "'pending[1].id' has the place of 'r.1.1.ask.0'"),
    (begin(config()), "z", {}, "'pending[1].id' has the place of 'r.1.1.model.1'"),
    (
        begin(config()),
        "r.1.1.sleep.1",
        {"type": "Sleep", "seconds": 1},
        "'pending[1].id' has the place of 'r.1.1.model.1'",
    ),
]


@pytest.mark.parametrize(
    ("run", "name", "form", "sentence"), DOUBLED, ids=range(len(DOUBLED))
)
def test_an_answer_is_awaited_once(
    run: Run, name: str, form: dict[str, object], sentence: str
) -> None:
    """Another effect for the same place would meet a run that has gone on."""
    data = saved(run.state)
    pending = data["state"]["pending"]
    pending.insert(1, (form or pending[0]) | {"id": name})

    assert problem(data).startswith(sentence)


@pytest.mark.parametrize("run", [begin(config()).says(*CALLS), asked()])
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("arguments", {"n": 2}),
        ("arguments", {"n": True}),
        ("call/name", "b"),
        ("spec/description", "Harmless."),
    ],
)
def test_what_is_shown_or_run_is_what_the_turn_holds(
    run: Run, path: str, value: object
) -> None:
    """A person must not approve other arguments than those that run."""
    data = saved(run.state)
    set_to(data["state"], f"pending/0/{path}", value)
    field = path.split("/", maxsplit=1)[0]

    assert problem(data) == f"'pending[0].{field}' is not that of turn.slots[0]"


def test_an_input_that_was_not_stepped_is_saved_with_the_state() -> None:
    run = asked()
    edit: Input = run.asked("a").edit(n=2)
    state = evolve(run.state, inbox=edit)

    assert State.loads(state.dumps()) == Success(state)
    assert isinstance(edit, Answer)
    assert isinstance(edit.value, Edit)


def test_an_input_may_be_for_the_outer_or_the_nested_run() -> None:
    inner = LoopConfig(model="test:inner")
    outer = config(tools=["b", inner.as_tool("sub", "A run inside.")])
    run = begin(outer).says(call("sub", prompt="go"), call("b"))
    states = [
        evolve(run.state, inbox=given)
        for given in (run.tool("b").reply("x"), run.one_request.reply("y"))
    ]

    assert [Success(state) for state in states] == [
        State.loads(state.dumps()) for state in states
    ]


def test_what_pends_after_a_fork_keeps_its_old_ids() -> None:
    """A fork is the same state under another run_id."""
    state = evolve(RUNNING, run_id="fork")
    back = State.loads(state.dumps()).unwrap()

    assert [effect.id for effect in back.waiting] == ["r.1.1.run.0", "r.1.1.run.1"]
    assert all(isinstance(effect, RunTool) for effect in back.waiting)


def test_a_run_that_failed_is_saved_with_its_error() -> None:
    state = begin(config()).fails(ModelError("busy", "overloaded", status=529)).state

    assert State.loads(state.dumps()) == Success(state)


def test_failures_are_compared_by_what_they_say() -> None:
    assert State.loads("[]") == State.loads("[]")
    assert {State.loads("[]").failure()} == {State.loads("[]").failure()}
    assert Failure(DecodeError("a", "b")) != Failure(DecodeError("a", "c"))
