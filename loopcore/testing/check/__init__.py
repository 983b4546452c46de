"""`check_hooks`: the laws that hooks keep, tried on what real runs show them."""

from collections.abc import Iterable, Mapping
from typing import Final
from warnings import warn

from loopcore.config import Nested
from loopcore.hooks.rule import Hooks
from loopcore.testing.check.checking import Check, CheckedHooks
from loopcore.testing.check.course import Offer
from loopcore.testing.check.offered import toolsets
from loopcore.testing.check.one_view import Cares
from loopcore.tools import ToolLike

__all__ = ["CheckedHooks", "check_hooks"]

EXAMPLES: Final = 200


def check_hooks(
    *hooks: Hooks,
    tools: Iterable[ToolLike | Nested] = (),
    examples: int = EXAMPLES,
    services: Mapping[str, Iterable[object]] | None = None,
    cares: Cares | None = None,
) -> CheckedHooks:
    """Assert that hooks are total, deterministic, pure, honest about fields and memory.

    They run, each by itself and all together in this order, in real runs that are made
    up. What is tried of each: that it answers every view, the same one and an equal one
    the same, here, after a reload, beside a fork and in a process of another hash seed;
    that it reaches no clock, chance, environment, file or global; that it leaves its view
    alone and writes only fields of its point; that it keeps calls beside their results;
    that its memo is JSON and stays small; that no later hook lifts what it forbids.

    Args:
        hooks: the rules.
        tools: what runs offer; give those whose arguments the hooks read.
        examples: how many runs are made up.
        services: what services say that hooks ask for: name -> some JSON. Others may say
            anything, and all may fail.
        cares: whether the hooks may say anything about a view; they must not about others.

    Returns:
        What was seen: a hook that was never asked has not been checked.

    Raises:
        AssertionError: naming hook, point, line, the law, and the smallest view.

    >>> polite = Hooks("polite", transform_context=lambda view: None)
    >>> check_hooks(polite, examples=5).unchecked
    ()
    """
    __tracebackhide__ = True
    _refuse_others(hooks)
    services = {name: tuple(said) for name, said in (services or {}).items()}
    _refuse_nothing(hooks, examples, services)
    given = tuple(tools)
    offer = Offer.of(toolsets(hooks, given), services)
    check = Check(hooks, offer, cares, made_up=not given)
    failure = check.found(examples)
    if failure is not None:
        raise failure from None
    for said in check.unchecked:
        warn(f"check_hooks did not try all: {said}", stacklevel=2)
    return check.checked


def _refuse_nothing(
    hooks: tuple[Hooks, ...], examples: int, services: Mapping[str, Iterable[object]]
) -> None:
    """Raise ValueError for what would check nothing."""
    idle = [hook.name for hook in hooks if not hook.functions]
    if idle:
        message = (
            f"hook {idle[0]!r} has no function; give one: Hooks(before_tool_call=...)"
        )
        raise ValueError(message)
    if examples < 1:
        message = f"check_hooks(examples={examples}): at least one run is needed"
        raise ValueError(message)
    silent = [name for name, said in services.items() if not said]
    if silent:
        message = (
            f"check_hooks(services=...): {silent[0]!r} has nothing to say. List what it may "
            "say, or leave it out: then it says anything."
        )
        raise ValueError(message)


def _refuse_others(hooks: tuple[object, ...]) -> None:
    for hook in hooks:
        if not isinstance(hook, Hooks):
            message = (
                f"check_hooks({hook!r}): give rules, such as "
                "Hooks(before_tool_call=no_deletes)"
            )
            raise TypeError(message)
    if not hooks:
        message = "check_hooks() checks the hooks that it is given; it got none"
        raise TypeError(message)
