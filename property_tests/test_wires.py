"""10: whatever a hook, model, tool or adapter does, every wire's servers take what is sent."""

from base64 import b64encode
from collections.abc import Iterable
from typing import Final

from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    Text,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
    project,
)
from loopcore.frozen import EMPTY
from loopcore.testing.invariants import Moment
from loopcore_adapters.connect import WIRES
from loopcore_adapters.loose import Json
from property_tests.programs import Program
from property_tests.strategies import programs
from property_tests.world import run
from tests.four_wires import SPEECH, Called, Said, Thought
from tests.wire_rules import MODELS, broken, encoder, requests


@frozen
class Sendable:
    """Everything that a model is shown, and everything that is stored, can be sent."""

    def see(self, moment: Moment) -> "Sendable":
        """A step was taken."""
        for effect in moment.effects.perform:
            if isinstance(effect, CallModel):
                judge(effect)
        if moment.after.transcript is not moment.before.transcript:
            judge(CallModel("i", "test:m", moment.after.transcript))
        return self


def judge(call: CallModel) -> None:
    """The call breaks no rule of any wire. What shows nothing cannot be sent."""
    tools = [tool for tool in call.tools if tool.parameters.get("type") == "object"]
    # A schema that is none is its author's slip, and so is an option that no server has.
    asked = evolve(call, tools=tuple(tools), options=EMPTY)
    if says_something(project(call.messages)):
        for wire, request in requests(asked).items():
            assert (wire, []) == (wire, broken(wire, request)), call


def says_something(messages: Iterable[Message]) -> bool:
    """Whether anything is left to ask a model with."""
    return any(isinstance(one, UserMessage) and one.text.strip() for one in messages)


@given(programs(depth=1))
def test_whatever_is_shown_can_be_sent_over_every_wire(program: Program) -> None:
    run(program, Sendable())


# Conversations that go over one wire after another.

SIGNATURES: Final = {wire: b64encode(wire.encode() * 3).decode() for wire in MODELS}
SAYS: Final = st.one_of(
    st.sampled_from(["Let me see.", " ", "中\u2028"]),
    st.builds(Thought, st.sampled_from(["Hm.", "Aha."]), st.just("")),
    st.builds(
        Called,
        st.sampled_from(["k", "call/3|fc", "x" * 70, "toolu_1", "functions.look:0"]),
        st.sampled_from(["look", "no such tool"]),
        st.dictionaries(st.sampled_from(["q", "n"]), st.integers() | st.text()),
    ),
)
TURN: Final = st.tuples(st.sampled_from(list(MODELS)), st.lists(SAYS, max_size=4))
RESULTS: Final[st.SearchStrategy[Json]] = st.sampled_from(
    ["ok", "", [Image("Y2F0", "image/png")], [Text("a"), Image("ZG9n", "image/jpeg")]]
)
LOOK: Final = ToolSpec("look", "Looks.")


def ignore(*_: object, **__: object) -> None:
    """Hears a reply as it comes."""


@given(st.data(), st.lists(TURN, min_size=1, max_size=6))
def test_a_conversation_goes_on_over_any_wire_at_any_turn(
    data: st.DataObject, turns: list[tuple[str, list[Said]]]
) -> None:
    """And back: each request is taken, and holds nobody's signature but its own model's.

    What an encoder kept of earlier requests changes none of its later ones.
    """
    encoders = {wire: encoder(wire) for wire in MODELS}
    history: list[Message] = [UserMessage("hi")]
    for wire, said in turns:
        call = CallModel("i", MODELS[wire], history, "Be kind.", (LOOK,))
        request = encoders[wire](call)
        assert (wire, []) == (wire, broken(wire, request))
        assert request == encoder(wire)(call)
        signed = {one for one in MODELS if SIGNATURES[one].encode() in request.body}
        assert signed <= {wire}
        reply = _read(wire, call, said)
        results = [
            ToolResultMessage(made.id, made.name, data.draw(RESULTS))
            for made in reply.calls
        ]
        history += [reply, *results, UserMessage("Go on.")]


def _read(wire: str, call: CallModel, said: list[Said]) -> AssistantMessage:
    """What is read of such a reply over this wire."""
    decoder = WIRES[wire].decode(call, ignore)
    signed = (
        evolve(one, signature=SIGNATURES[wire]) if isinstance(one, Thought) else one
        for one in said
    )
    decoder.feed(SPEECH[wire](*signed))
    found = decoder.finish()
    return found if isinstance(found, AssistantMessage) else AssistantMessage("(none)")
