"""The names of `loopcore.events`."""

from typing import get_args

from loopcore import events


def test_every_event_is_among_the_public_names() -> None:
    kinds = {kind.__name__ for kind in get_args(events.Event)}
    assert set() == kinds - set(events.__all__)


def test_what_events_are_made_of_is_not_among_them() -> None:
    """Only what the module itself defines is exported."""
    foreign = [
        name
        for name in events.__all__
        if getattr(getattr(events, name), "__module__", events.__name__)
        not in {events.__name__, "typing", "types"}
    ]
    assert [] == foreign
