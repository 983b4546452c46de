"""What answers an effect, from what a test says in its place."""

from typing import Any, Final, assert_never

from returns.result import Success

from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.frozen import NotJson, a
from loopcore.inputs import Answer
from loopcore.runtime.outcome import opened, output_from, output_of_fault, spoken
from loopcore.testing.differences import clipped
from loopcore.testing.doubles.scripted import DECISIONS, FOREIGN, reply_of


class NoAnswer(TypeError):
    """What a test says is no answer to the effect."""


def answer_to(effect: Effect, said: Any) -> Answer:  # noqa: ANN401  # as EffectScript says
    """The answer that this makes to an effect; a function is asked for it.

    Raises:
        NoAnswer: for what is no answer to this effect.
    """
    value: Any = said(effect) if callable(said) else said
    if isinstance(value, Answer):
        return _own(effect, value)
    match effect:
        case CallModel():
            return _replied(effect, value)
        case RunTool():
            return _returned(effect, value)
        case RequestApproval():
            return _decided(effect, value)
        case Consult():
            return _told(effect, value)
        case Sleep():
            return _woken(effect, value)
        case _:
            assert_never(effect)


def _own(effect: Effect, answer: Answer) -> Answer:
    if answer.effect_id != effect.id:
        message = f"{effect.id} is not answered by an Answer to {answer.effect_id}"
        raise NoAnswer(message)
    return answer


def _replied(effect: CallModel, said: Any) -> Answer:  # noqa: ANN401  # what a model says
    try:
        return Answer(effect.id, reply_of(said, effect.model))
    except TypeError as problem:
        message = f"{effect.id} calls a model. {problem}"
        raise NoAnswer(message) from None


def _returned(effect: RunTool, said: Any) -> Answer:  # noqa: ANN401  # what a tool returns
    if isinstance(said, BaseException):
        return effect.reply(output_of_fault(said))
    if isinstance(said, FOREIGN):
        raise NoAnswer(NO_OUTPUT.format(effect.id, effect.spec.name, _brief(said)))
    return effect.reply(output_from(said))


def _decided(effect: RequestApproval, said: object) -> Answer:
    if isinstance(said, DECISIONS):
        return Answer(effect.id, said)
    raise NoAnswer(NO_DECISION.format(effect.id, _brief(said)))


def _told(effect: Consult, said: Any) -> Answer:  # noqa: ANN401  # what a service says
    if isinstance(said, BaseException):
        return effect.fail(spoken(said))
    if isinstance(said, FOREIGN):
        raise NoAnswer(NO_JSON.format(effect.id, effect.service, _brief(said)))
    match opened(said):
        case Success(value):
            return _json(effect, value)
        case failed:
            return effect.fail(str(failed.failure()))


def _json(effect: Consult, value: Any) -> Answer:  # noqa: ANN401  # as above
    try:
        return effect.reply(value)
    except NotJson as problem:
        raise NoAnswer(NO_JSON.format(effect.id, effect.service, problem)) from None


def _woken(effect: Sleep, said: object) -> Answer:
    if said is not None:
        raise NoAnswer(NO_PAUSE.format(effect.id, _brief(said)))
    return effect.done()


def _brief(said: object) -> str:
    return f"{a(said)}: {clipped(said)}"


NO_DECISION: Final = (
    "{} asks a person, who says Approve(), Edit({{...}}), Reject(...) or Respond(...), and "
    "not {}"
)
NO_OUTPUT: Final = (
    "{} runs the tool {!r}, which returns a text, parts, JSON or a ToolOutput, or raises, "
    "and does not say {}"
)
NO_JSON: Final = "{} asks the service {!r}, which says JSON or fails, and not this: {}"
NO_PAUSE: Final = "{} is a pause, whose end is None, and not {}"
