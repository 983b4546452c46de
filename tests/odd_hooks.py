"""Hooks that are right, and odd: none of them breaks a law."""

import calendar
import copy
import decimal
import io
import json
import logging
import random
import re
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import formatdate, parsedate_to_datetime
from fractions import Fraction
from functools import cache, lru_cache, partial, reduce
from operator import attrgetter
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from loopcore.hooks import StopUpdate, TurnView

WORD: Final = re.compile(r"\w+")
HARMFUL: Final = frozenset(("rm", "dd", "mkfs"))


@cache
def squares(n: int) -> int:
    """A pure function that remembers."""
    return n * n


@lru_cache(maxsize=2)
def words(text: str) -> tuple[str, ...]:
    """One that remembers a little."""
    return tuple(WORD.findall(text))


def cached(view: TurnView) -> str | None:
    """Calls what is remembered."""
    found = words(view.message.text)
    return "long" if len(found) + squares(view.turn) > 60 else None


def seeded(view: TurnView) -> bool:
    """A sample that the run's seed decides."""
    chance = random.Random(view.state.seed + view.turn)  # noqa: S311  # it repeats
    return chance.random() < 0.1


def seeded_later(view: TurnView) -> bool:
    """The same, of a generator that is given its seed before it draws."""
    chance = random.Random()  # noqa: S311  # as above
    chance.seed(view.state.seed)
    return chance.choice((True, False)) and view.turn > 90


def patterned(view: TurnView) -> str | None:
    """Patterns that are compiled when they are needed."""
    found = re.search(r"(?i)\bstop\b", view.message.text)
    return found[0] if found else None


def exact(view: TurnView) -> str | None:
    """Numbers that are exact, under a context of its own."""
    with decimal.localcontext() as context:
        context.prec = 6
        cost = decimal.Decimal(view.usage.output) / decimal.Decimal(7)
    return "dear" if cost + Fraction(1, 3).__trunc__() > 10**9 else None


def copied(view: TurnView) -> StopUpdate:
    """A memo that is copied, and changed where it is its own."""
    memo = copy.deepcopy(view.memo)
    return StopUpdate(memo={"n": memo["n"] + 1} if memo else {"n": 1})


def looked_up(view: TurnView) -> str | None:
    """A set that is only asked for what it has."""
    return "harmful" if any(w in HARMFUL for w in words(view.message.text)) else None


def sorted_set(view: TurnView) -> str | None:
    """A set whose order is settled."""
    tools = {call.name for call in view.message.calls}
    return f"many: {', '.join(sorted(tools))}" if len(tools) > 2 else None


def in_memory(view: TurnView) -> str | None:
    """Writes to a stream in memory, and reads it."""
    out = io.StringIO()
    print(view.turn, view.model, file=out, sep="|")
    return out.getvalue() if view.turn > 40 else None


def traced(view: TurnView) -> str | None:
    """Formats an error that it caught."""
    try:
        json.loads(view.message.text)
    except ValueError:
        return traceback.format_exc() if view.turn > 50 else None
    return None


def identified(view: TurnView) -> bool:
    """Remembers by `id`, within one call."""
    seen = {id(m) for m in view.results}
    return any(id(m) not in seen for m in view.results)


def late(view: TurnView) -> bool:
    """Tells the time from the view, in a zone that is read once."""
    when = datetime.fromtimestamp(view.now or 0, tz=UTC)
    return when.astimezone(ZoneInfo("Europe/Berlin")).year > 2900


def zoned(view: TurnView) -> bool:
    """Times whose zone is always said."""
    when = datetime.fromtimestamp(*(view.now or 0, UTC))  # noqa: DTZ006  # it is given
    again = datetime.fromisoformat(when.isoformat()) + timedelta(hours=view.turn)
    told = time.strftime("%Y", time.gmtime(again.timestamp()))
    return int(told) > 2900 + again.astimezone(tz=UTC).day


def imported(view: TurnView) -> bool:  # noqa: ARG001  # whatever it sees
    """Imports when it is needed."""
    import colorsys  # noqa: PLC0415  # what is odd about it

    return colorsys.rgb_to_hsv(0, 0, 0) == (1, 1, 1)


def parsed(view: TurnView) -> bool:
    """Reads times from texts, which looks at the locale by itself."""
    day = datetime.strptime("2020-01-02 +0000", "%Y-%m-%d %z")
    hour = time.strptime("12:30", "%H:%M")
    return day.year > 2900 + hour.tm_hour + view.turn


def mailed(view: TurnView) -> str | None:
    """Texts of mails and calendars, of a time that is given."""
    sent = parsedate_to_datetime(formatdate(view.now or 0))
    month = calendar.month_name[sent.month]
    with calendar.different_locale(("C", None)):
        page = calendar.TextCalendar().formatmonth(sent.year, sent.month)
    return page if month not in page else None


def formatted(view: TurnView) -> str | None:
    """A line as `logging` writes it, which is written nowhere."""
    record = logging.makeLogRecord({"msg": "turn %s", "args": (view.turn,)})
    line = logging.Formatter("%(levelname)s %(message)s").format(record)
    return line if "turn" not in line else None


def typed(view: TurnView) -> str | None:
    """Makes a type for what it reads, for which pydantic looks for plug-ins."""
    known = TypeAdapter(list[int])
    return "many" if len(known.validate_python([view.turn])) > 1 else None


class Rule:
    """A rule with a table that it makes when it is made."""

    def __init__(self, most: int) -> None:
        self.most, self.table = most, {n: n * n for n in range(most)}

    def __call__(self, view: TurnView) -> bool:
        return self.table.get(view.turn, 0) > self.most**2

    def method(self, view: TurnView) -> bool:
        """The same, as a method."""
        return self(view)


class Large:
    """A rule with more than anybody looks through."""

    def __init__(self) -> None:
        self.table = [(n, "n", (n,)) for n in range(6_000)]

    def __call__(self, view: TurnView) -> bool:
        return view.turn > len(self.table)

    def method(self, view: TurnView) -> bool:
        """The same, as a method."""
        return self(view)


def bound(most: int, view: TurnView) -> bool:
    """A function of two, whose first is given."""
    return reduce(max, map(attrgetter("seconds_of"), ()), 0) > most + view.turn


ODD: Final[dict[str, Callable[[Any], Any]]] = {
    "a cache of pure functions": cached,
    "a seeded generator": seeded,
    "a generator that is seeded later": seeded_later,
    "re": patterned,
    "decimal": exact,
    "deepcopy": copied,
    "a set that is looked up": looked_up,
    "a set that is sorted": sorted_set,
    "print into memory": in_memory,
    "an error that is formatted": traced,
    "ids within one call": identified,
    "a time zone": late,
    "times whose zone is said": zoned,
    "an import": imported,
    "times in texts": parsed,
    "mails and calendars": mailed,
    "a line of a log": formatted,
    "a type of pydantic": typed,
    "an object": Rule(5),
    "a method": Rule(5).method,
    "a method of an object too large to look through": Large().method,
    "a partial": partial(bound, 10_000),
}
