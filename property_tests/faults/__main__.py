"""Seed small faults into a copy of the code, and see that each is caught, by a named law.

    python -m property_tests.faults                 every fault, by the proving kit
    python -m property_tests.faults withdraw abort  those whose name has one of these words
    python -m property_tests.faults --tests         by the property tests that it names
    python -m property_tests.faults --all           by each whole suite

It prints a line a fault: caught or survived, after how many seconds, by which law or test.
It exits with 1 if one survives or is caught by another law, if the code has changed so that
a patch does not fit (its line then says stale, and in which file), or if the tests fail
without any fault. The first takes one minute, and is done by the tests too. With `--all` a
fault survives if no suite catches it: not the properties of runs, not the tests of the
decisions, not the traces; that takes about twenty minutes.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from attrs import frozen

from property_tests.faults.fault import Fault, Verdict, copied, judged, seeded, stale
from property_tests.faults.kit import CAUGHT
from property_tests.faults.table import FAULTS

SUITES: Final = {
    "properties": tuple(
        f"property_tests/test_{name}.py"
        for name in ("calls", "runs", "hooks", "steps", "merging", "ways", "machine")
    ),
    "decisions": ("tests/test_decisions_*.py",),
    "traces": ("tests/test_traces.py",),
}


def main(given: list[str] | None = None) -> int:
    """Judge the faults that are asked for: 0 if every one was caught."""
    parser = argparse.ArgumentParser(prog="property_tests.faults")
    parser.add_argument(
        "words", nargs="*", help="only faults whose name has one of these"
    )
    parser.add_argument("--tests", action="store_true", help="by the tests it names")
    parser.add_argument("--all", action="store_true", help="by every whole suite")
    asked = parser.parse_args(given)
    way = SUITES_WAY if asked.all else TESTS_WAY if asked.tests else KIT_WAY
    named = [f for f in FAULTS if not asked.words or _named(f, asked.words)]
    faults = [f for f in named if way.looks_at(f)]
    with tempfile.TemporaryDirectory() as where:
        copy = copied(Path(where))
        if not _passes(copy, way.tests(faults, copy)):
            return 1
        survived = [one for one in faults if not way.judge(one, copy)]
    say(f"{len(faults) - len(survived)} of {len(faults)} faults were caught")
    return 1 if survived else 0


def _passes(copy: Path, tests: Iterable[str]) -> bool:
    """Whether the tests pass without a fault: else it says nothing that they fail with."""
    found = judged(copy, tests)
    passed = found.how == "survived"
    said = "passed" if passed else "failed"
    say(f"{said:9} {found.seconds:5.1f} s  without a fault  {found.by}")
    return passed


def _named(one: Fault, words: Iterable[str]) -> bool:
    return any(word in one.name for word in words)


@frozen
class Way:
    """A way to judge faults: which it looks at, by which tests, and how."""

    looks_at: Callable[[Fault], bool]
    tests: Callable[[Iterable[Fault], Path], Iterable[str]]
    judge: Callable[[Fault, Path], bool]


def _by_kit(one: Fault, copy: Path) -> bool:
    """Whether the kit catches a fault, by the law that it should break."""
    caught = CAUGHT[one.name]
    return _told(one, _judge(one, copy, [caught.test], caught.law))


def _by_tests(one: Fault, copy: Path) -> bool:
    """Whether the tests that a fault names catch it."""
    return _told(one, _judge(one, copy, one.tests))


def _told(one: Fault, found: Verdict) -> bool:
    say(f"{found.how:9} {found.seconds:5.1f} s  {one.name}  [{found.by}]")
    return found.how == "caught"


def _by_suites(one: Fault, copy: Path) -> bool:
    """Whether any suite catches a fault."""
    found = {
        name: _judge(one, copy, _files(copy, tests)) for name, tests in SUITES.items()
    }
    said = "  ".join(f"{name}: {v.how} {v.seconds:.0f} s" for name, v in found.items())
    say(f"{one.name}  {said}")
    return any(verdict.how == "caught" for verdict in found.values())


def _files(copy: Path, patterns: Iterable[str]) -> list[str]:
    found = (path for pattern in patterns for path in sorted(copy.glob(pattern)))
    return [str(path.relative_to(copy)) for path in found]


def _judge(one: Fault, copy: Path, tests: Iterable[str], law: str = "") -> Verdict:
    changed = stale(one, copy)
    if changed:
        return Verdict("stale", f"mend its patch of {', '.join(changed)}", 0.0)
    with seeded(one, copy):
        return judged(copy, tests, law)


def say(line: str) -> None:
    """Print a line at once: each takes seconds to come."""
    print(line, flush=True)  # noqa: T201  # this is a command


KIT_WAY: Final = Way(
    lambda one: one.name in CAUGHT,
    lambda faults, _: dict.fromkeys(CAUGHT[one.name].test for one in faults),
    _by_kit,
)
TESTS_WAY: Final = Way(
    lambda one: bool(one.tests),
    lambda faults, _: dict.fromkeys(test for one in faults for test in one.tests),
    _by_tests,
)
SUITES_WAY: Final = Way(
    lambda one: bool(one.tests),
    lambda _, copy: _files(copy, (t for tests in SUITES.values() for t in tests)),
    _by_suites,
)

if __name__ == "__main__":
    sys.exit(main())
