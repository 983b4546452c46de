"""Who wrote a field is told by who wrote it, not by what Python makes of equal values."""

from loopcore.hooks import ContextUpdate, Hooks
from tests.driving import begin, config


def test_a_field_is_the_later_writers_even_if_the_value_is_the_same() -> None:
    """Architecture 5: identity, which a reload does not keep, may not decide `by`."""
    same = ContextUpdate(system="as before")
    hooks = [Hooks(name, transform_context=lambda view: same) for name in ("a", "b")]  # noqa: ARG005

    request = begin(config(*hooks)).one_request

    assert request.by == {"system": "b"}
