"""Golden journals: runs of all kinds, recorded once by each version of the format.

`python -m tests.golden` records those that are not there yet; it changes none that is. They
prove that later versions read what this one wrote, and do the same.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    Consult,
    Effect,
    FollowUp,
    Image,
    LoopConfig,
    ModelError,
    Prompt,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    Steer,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolSpec,
    Usage,
    UserMessage,
    Withdraw,
)
from loopcore.hooks import (
    Block,
    Hooks,
    Need,
    ToolCallUpdate,
    ToolCallView,
    ToolResultView,
)
from loopcore.journal import Recorder
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
    """A configuration, what is given, and what models and people answer, in order."""

    config: LoopConfig
    given: tuple[Any, ...]
    answers: tuple[Any, ...] = ()


def policy(view: ToolCallView) -> Block | Need | None:
    """Ask a service once."""
    if "verdict" not in view.answers:
        return Need.service("verdict", "policy", {"tool": view.tool})
    return None


def counted(view: ToolCallView) -> ToolCallUpdate:
    return ToolCallUpdate(memo={"seen": view.memo["seen"] + 1})


def failing(view: ToolResultView) -> None:
    raise ValueError(view.text)


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
}


def answer(effect: Effect, value: Any) -> Any:  # an Answer
    """What a scene says, as the answer of this effect."""
    match effect:
        case CallModel() if isinstance(value, ModelError):
            return effect.fail(value)
        case CallModel() | Consult() | RunTool():
            return effect.reply(value)
        case RequestApproval():
            return _decided(effect, value)
        case Sleep():
            return effect.done()


def _decided(asked: RequestApproval, value: Any) -> Any:  # an Answer
    match value:
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
        given = value if isinstance(value, Abort) else answer(waiting[0], value)
        state = take(state, given, clock)
        clock += 1.5
    return state


def _is_timer(effect: Effect) -> bool:
    return isinstance(effect, Sleep) and ".sleep." not in effect.id


def record(name: str, path: Path) -> None:
    """Record a scene there."""
    scene = SCENES[name]
    state = State.start(scene.config, run_id="golden")
    with Recorder(path).open(scene.config, state) as recording:

        def take(state: State, given: Any, at: float) -> State:
            moved, effects = recording.advance(
                scene.config, state, given, at=at
            ).unwrap()
            tools = [e.id for e in effects.perform if isinstance(e, RunTool)]
            if tools:
                recording.started(tools)
            return moved

        play(scene, take, state)


def missing() -> Iterable[str]:
    """The scenes that were not recorded yet."""
    return [name for name in SCENES if not (FOLDER / f"{name}.jsonl").exists()]


if __name__ == "__main__":
    for scene_name in missing():
        record(scene_name, FOLDER / f"{scene_name}.jsonl")
