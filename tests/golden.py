"""Golden journals: runs of all kinds, recorded once by each version of the format.

`python -m tests.golden` records those that are not there yet; it changes none that is. They
prove that later versions read what this one wrote, and do the same.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import frozen

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Consult,
    Continue,
    CustomMessage,
    Effect,
    FollowUp,
    Image,
    LoopConfig,
    ModelError,
    Prompt,
    RequestApproval,
    RunTool,
    ServiceError,
    Sleep,
    State,
    Steer,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
    Withdraw,
    advance,
)
from loopcore.events import Stop
from loopcore.hooks import (
    Ask,
    Block,
    Hooks,
    Need,
    ToolCallUpdate,
    ToolCallView,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.journal import Journal, Recorder, fork
from loopcore.messages import FAULTS, OUTCOMES, transcript
from loopcore.policies import (
    ask_before,
    compact,
    limits,
    redact,
    retry,
    sliding_window,
    truncate_results,
)

FOLDER: Final = Path(__file__).parent / "data" / "journals" / "1"
ANY: Final = {"type": "object"}
ADD: Final = ToolSpec(
    "add",
    "Add.",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
)
LOOK: Final = ToolSpec("look", "Look.", ANY)
PAY: Final = ToolSpec("pay", "Pay.", ANY, needs_approval=True, on_interrupt="retry")
WAIT: Final = ToolSpec("wait", "Wait.", ANY, elsewhere=True)


def config(
    *hooks: Hooks, tools: Any = (ADD, LOOK, PAY, WAIT), **more: Any
) -> LoopConfig:
    return LoopConfig(model="test:golden", tools=tools, hooks=hooks, **more)


def call(name: str, id: str, **arguments: Any) -> ToolCall:  # noqa: A002  # as calls have it
    return ToolCall(name, arguments, id)


def said(*parts: Any, **more: Any) -> AssistantMessage:
    content = [Text(part) if isinstance(part, str) else part for part in parts]
    return AssistantMessage(content, model="test:golden", usage=Usage(12, 3), **more)


@frozen
class Scene:
    """A configuration, what is given, and what models and people answer, in order.

    It begins in the state to which a `past` led; its file is left and opened again after
    so many inputs, when what then waits is left to somebody else. `seconds` are what each
    answer took.
    """

    config: LoopConfig
    given: tuple[Any, ...]
    answers: tuple[Any, ...] = ()
    past: Callable[[], State] | None = None
    rests: tuple[int, ...] = ()
    seconds: float | None = None


def policy(view: ToolCallView) -> Block | Need | None:
    """Ask a service once."""
    if "verdict" not in view.answers:
        return Need.service("verdict", "policy", {"tool": view.tool})
    return None


def counted(view: ToolCallView) -> ToolCallUpdate:
    return ToolCallUpdate(memo={"seen": view.memo["seen"] + 1})


def failing(view: ToolResultView) -> None:
    raise ValueError(view.text)


def unsure(view: ToolCallView) -> Ask | None:
    return Ask(f"Is {view.tool} all right?") if view.tool == "look" else None


def looked(view: ToolResultView) -> Need | None:
    """Ask a service about what a tool gave."""
    if "found" in view.answers:
        return None
    return Need.service("found", "reader", {"text": view.text})


def forgets(view: TurnView) -> TurnUpdate | None:
    """After the first turn, begin again with other messages and settings."""
    if view.turn > 1:
        return None
    kept = transcript(view.transcript[:1])
    said = (CustomMessage("note", {"kept": 1}), SystemMessage("Be kind."))
    return TurnUpdate(
        said, model="test:other", system="Be brief.", tools=[ADD], transcript=kept
    )


def enough(view: TurnView) -> Stop | bool:
    return view.turn > 1 or Stop("limit", "seen enough")


PICTURE: Final = Image("iVBORw0KGgo=", "image/png")
THOUGHT: Final = Thinking("hm…\u2028", "c2ln")
TWO: Final = (call("add", "c1", a=1, b=2), call("look", "c2", at="π"))
CHILD: Final = config(tools=(LOOK,), system="Inner.").as_tool(
    "child", "Do it.", timeout=9
)
SCENES: Final[dict[str, Scene]] = {
    "plain": Scene(config(), ("Hello!",), (said("Hi. 👋"),)),
    "tools": Scene(
        config(),
        ("Go!", Steer("hurry", "k"), FollowUp("and then?", "f")),
        (
            said(THOUGHT, *TWO),
            "3",
            ToolOutput([Text("seen"), PICTURE]),
            said("so"),
            said("end"),
        ),
    ),
    "one_by_one": Scene(
        config(parallel=False), ("Go!",), (said(*TWO), "3", "seen", said("ok"))
    ),
    "people": Scene(
        config(ask_before("look")),
        ("Pay!",),
        (
            said(
                call("pay", "c1", cents=5),
                call("look", "c2"),
                call("pay", "c3", cents=7),
            ),
            {"cents": 4},
            "respond",
            "reject",
            "paid 4",
            said("done"),
        ),
    ),
    "rules": Scene(
        config(
            Hooks("counted", memo={"seen": 0}, before_tool_call=counted),
            redact("secret"),
            truncate_results(20, tail=5),
            sliding_window(3),
            limits(turns=3),
            system="Be brief.",
        ),
        ("the secret",),
        (
            said(*TWO),
            "3",
            "a secret, and much more text than fits",
            said(call("look", "c3")),
            "more",
            said(call("look", "c4")),
            "enough",
        ),
    ),
    "needs": Scene(
        config(Hooks(before_tool_call=policy), compact(3, keep=2)),
        ("Go!",),
        (
            said(call("look", "c1")),
            {"allow": True},
            "seen",
            said(call("look", "c2")),
            {"allow": True},
            "seen",
            said("a summary"),
            said("done"),
        ),
    ),
    "retries": Scene(
        config(retry(3, fallback=("test:other",))),
        ("Go!",),
        (
            ModelError("busy", "overloaded", retry_after=2.5, status=529),
            None,
            ModelError("cut", "cut_stream", partial=said("I w")),
            None,
            said("at last"),
        ),
    ),
    "abort": Scene(config(), ("Go!",), (said(*TWO), "3", Abort("no more"))),
    "abort_of_a_reply": Scene(
        config(),
        ("Go!",),
        (Abort(partials={"golden.1.1.model.1": said("I w", TWO[0])}),),
    ),
    "nested": Scene(
        config(tools=(CHILD, ADD)),
        ("Go!",),
        (
            said(call("child", "c1", prompt="inner"), TWO[0]),
            said(call("look", "i1")),
            "seen",
            "3",
            said("inner done"),
            said("outer done"),
        ),
    ),
    "typed": Scene(
        config(tools=(), output=int),
        ("A number?",),
        (said("seven"), said("It is 7.")),
    ),
    "wrong": Scene(
        config(),
        ("Go!",),
        (
            said(
                ToolCall.parse("add", "{not json", "c1"),
                call("nosuch", "c2"),
                call("add", "c3", a="x"),
                call("add", "", a=1, b=2),
            ),
            ToolOutput("", outcome="timeout"),
            said(call("look", "c5"), finish="length"),
            ModelError("no", "auth", status=401, request_id="r-1"),
        ),
    ),
    "hook_error": Scene(
        config(Hooks(after_tool_call=failing)), ("Go!",), (said(*TWO), "3", "seen")
    ),
    "queues": Scene(
        config(steering="all"),
        (
            Steer("early"),
            Prompt([UserMessage("go"), UserMessage([PICTURE])], thinking="high"),
            Steer("a", "x"),
            Steer("b", "x"),
            Withdraw("x"),
            FollowUp("last"),
        ),
        (said("one"), said("two")),
    ),
    "elsewhere": Scene(
        config(), ("Go!",), (said(call("wait", "c1")), "from outside", said("ok"))
    ),
    "approved": Scene(
        config(Hooks("unsure", before_tool_call=unsure)),
        ("Go!",),
        (said(call("look", "c1")), "approve", "seen", said("ok")),
    ),
    "settings": Scene(
        config(options={"temperature": 0}),
        (Prompt("Go!", model="test:a", system="A.", tools=[LOOK], thinking="low"),),
        (
            ModelError("no", "server"),
            Continue(model="test:b", system="B.", tools=[ADD], thinking=None),
            said("two"),
        ),
    ),
    "unserved": Scene(
        config(Hooks(before_tool_call=policy)),
        ("Go!",),
        (said(call("look", "c1")), ServiceError("nobody there"), "seen", said("ok")),
    ),
    "rewritten": Scene(
        config(Hooks("forgets", prepare_next_turn=forgets)),
        ("Go!",),
        (said(call("add", "c1", a=1, b=2)), "3", said("so")),
    ),
    "hook_stop": Scene(
        config(Hooks("never", should_stop_after_turn=lambda _: True)),
        ("Go!",),
        (said(call("look", "c1")), "seen"),
    ),
    "limit": Scene(
        config(Hooks("enough", should_stop_after_turn=enough)),
        ("Go!", FollowUp("and then?")),
        (said(call("look", "c1")), "seen"),
    ),
    "terminated": Scene(
        config(),
        ("Go!",),
        (said(call("look", "c1")), ToolOutput("the end", terminate=True, details=[1])),
    ),
    "mistyped": Scene(
        config(tools=(), output=int, repairs=1),
        ("A number?",),
        (said("seven"), said("eight")),
    ),
    "outcomes": Scene(
        config(),
        ("Go!",),
        (
            said(*(call("look", f"c{n}") for n, _ in enumerate(OUTCOMES))),
            *(ToolOutput(name, outcome=name) for name in OUTCOMES),
            attrs.evolve(said("ok"), usage=Usage(1, 2, 3, 4, 5, cost=0.25)),
        ),
    ),
    "left": Scene(
        config(),
        ("Go!",),
        (said(*TWO), "3", "seen", said("ok")),
        rests=(2, 3),
        seconds=0.25,
    ),
    "faults": Scene(
        config(),
        ("Go!",),
        (
            *(
                one
                for name in FAULTS
                for one in (ModelError("no", name, request_id="r"), Continue())
            ),
            said("ok"),
        ),
    ),
    "finishes": Scene(
        config(),
        ("Go!",),
        (
            said("a", finish="end"),
            *(
                one
                for name in ("length", "refusal", "error", "aborted")
                for one in (Prompt("On!"), said("b", finish=name))
            ),
            Prompt("On!"),
            said(TWO[0], finish="tools"),
            "3",
            said("end"),
        ),
    ),
    "from_a_talk": Scene(
        config(),
        ("More?",),
        (said("ok"),),
        past=lambda: State.start(
            config(),
            run_id="golden",
            seed=7,
            transcript=[
                SystemMessage("Be kind."),
                UserMessage([Text("Hi!"), PICTURE]),
                said(THOUGHT, TWO[0]),
                ToolResultMessage("c1", "add", "3", "error", {"a": 1}),
                said("I w", finish="error", error=ModelError("cut", "cut_stream")),
                CustomMessage("note", [None, 1.5]),
                said("Three."),
            ],
        ),
    ),
    "from_a_fork": Scene(
        config(tools=(CHILD, ADD)),
        (),
        ("seen", "3", said("inner done"), said("outer done")),
        past=lambda: forked("nested", at=3),
    ),
    "from_a_fork_of_a_turn": Scene(
        config(parallel=False),
        (Continue(model="test:other"),),
        (said("ok"),),
        past=lambda: forked("one_by_one", turn=1),
    ),
    "from_queues": Scene(
        config(),
        (),
        ("3", "seen", said("a"), said("b")),
        lambda: state_after("tools", 4),
    ),
    "from_a_batch": Scene(
        config(parallel=False),
        (Steer("quick", "k"), FollowUp("then?")),
        ("seen", said("ok"), said("ok again")),
        past=lambda: state_after("one_by_one", 3),
    ),
    "from_a_question": Scene(
        config(ask_before("look")),
        (),
        ("approve", "respond", "reject", "paid", said("done")),
        past=lambda: state_after("people", 2),
    ),
    "from_a_need": Scene(
        config(Hooks("looked", before_tool_call=policy, after_tool_call=looked)),
        (),
        ({"allow": 1}, {"allow": 2}, "seen", {"ok": True}, "3", {"ok": 1}, said("x")),
        past=lambda: state_after("from_a_need", 2, ("Go!", said(*TWO))),
    ),
    "from_a_settled_call": Scene(
        config(Hooks("looked", after_tool_call=looked)),
        (),
        ({"ok": True}, "3", {"ok": 1}, said("x")),
        past=lambda: state_after("from_a_settled_call", 3, ("Go!", said(*TWO), "s")),
    ),
    "from_an_end": Scene(
        config(Hooks("forgets", prepare_next_turn=forgets)),
        ("Again!",),
        (said("once more"), said("end")),
        past=lambda: state_after("rewritten", 4),
    ),
    "from_a_repair": Scene(
        config(tools=(), output=int),
        (),
        (said("7"),),
        past=lambda: state_after("typed", 2),
    ),
}


def answer(effect: Effect, value: Any) -> Any:  # an Answer
    """What a scene says, as the answer of this effect."""
    match effect:
        case CallModel() if isinstance(value, ModelError):
            return effect.fail(value)
        case Consult() if isinstance(value, ServiceError):
            return effect.fail(value.message)
        case CallModel() | Consult() | RunTool():
            return effect.reply(value)
        case RequestApproval():
            return _decided(effect, value)
        case Sleep():
            return effect.done()


def _decided(asked: RequestApproval, value: Any) -> Any:  # an Answer
    match value:
        case "approve":
            return asked.approve()
        case "reject":
            return asked.reject("not this one")
        case "respond":
            return asked.respond("done by hand")
        case _:
            return asked.edit(**value)


def play(scene: Scene, take: Callable[..., State], state: State) -> State:
    """Let it happen; `take` takes an input and the time."""
    clock = 1_700_000_000.0
    for given in scene.given:
        state = take(state, given, clock)
        clock += 0.25
    for value in scene.answers:
        waiting = [e for e in state.waiting if not _is_timer(e)]
        given = value if isinstance(value, SAID) else answer(waiting[0], value)
        if isinstance(given, Answer) and scene.seconds:
            given = attrs.evolve(given, seconds=scene.seconds)
        state = take(state, given, clock)
        clock += 1.5
    return state


SAID: Final = (Prompt, Continue, Abort)
"""Inputs that stand among the answers."""


def begun(name: str) -> State:
    return State.start(SCENES[name].config, run_id="golden")


def state_after(name: str, count: int, given: tuple[Any, ...] = ()) -> State:
    """Where a scene, or what is given here under its configuration, stands after so many."""
    scene = SCENES[name]
    states = [begun(name)]

    def take(state: State, given: Any, at: float) -> State:
        states.append(advance(scene.config, state, given, at=at).unwrap()[0])
        return states[-1]

    played = Scene(scene.config, given[:1], given[1:]) if given else scene
    play(played, take, states[0])
    return State.loads(states[count].dumps()).unwrap()


def forked(name: str, *, turn: int | None = None, at: int | None = None) -> State:
    """The fork of a golden journal, which has a name of its own."""
    past, under = Journal.read(FOLDER / f"{name}.jsonl").unwrap(), SCENES[name].config
    return fork(under, past, turn=turn, at=at, run_id="other").unwrap()


def _is_timer(effect: Effect) -> bool:
    return isinstance(effect, Sleep) and ".sleep." not in effect.id


def record(name: str, path: Path) -> None:
    """Record a scene there."""
    scene = SCENES[name]
    state = scene.past() if scene.past else begun(name)
    count = state.inputs
    recording = Recorder(path).open(scene.config, state)

    def take(state: State, given: Any, at: float) -> State:
        nonlocal recording
        moved, effects = recording.advance(scene.config, state, given, at=at).unwrap()
        tools = [e.id for e in effects.perform if isinstance(e, RunTool)]
        if tools:
            recording.started(tools)
        if moved.inputs - count in scene.rests:
            recording.left([e.id for e in moved.waiting if isinstance(e, RunTool)])
            recording.close()
            recording = Recorder(path).open(scene.config, moved)
        return moved

    play(scene, take, state)
    recording.close()


def missing() -> Iterable[str]:
    """The scenes that were not recorded yet."""
    return [name for name in SCENES if not (FOLDER / f"{name}.jsonl").exists()]


if __name__ == "__main__":
    for scene_name in missing():
        record(scene_name, FOLDER / f"{scene_name}.jsonl")
