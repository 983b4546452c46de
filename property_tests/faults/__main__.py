"""Seed small faults into a copy of the code, and see that the suite catches each.

    python -m property_tests.faults                 every fault, by the tests it names
    python -m property_tests.faults withdraw abort  those whose name has one of these words
    python -m property_tests.faults --all           every fault, by each whole suite

It prints a line a fault: caught or survived, by which test, after how many seconds. It
exits with 1 if one survives, if the code has changed so that a patch does not fit (its
line then says stale, and in which file), or if the tests fail without any fault. With
`--all` a fault survives if no suite catches it: not the properties of runs, not the tests
of the decisions, not the traces; that takes about twenty minutes.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from property_tests.faults.fault import Fault, Verdict, copied, judged, seeded, stale
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
    parser.add_argument("--all", action="store_true", help="by every whole suite")
    asked = parser.parse_args(given)
    faults = [f for f in FAULTS if not asked.words or _named(f, asked.words)]
    with tempfile.TemporaryDirectory() as where:
        copy = copied(Path(where))
        if not _passes(faults, copy, whole=asked.all):
            return 1
        judge = _by_suites if asked.all else _by_tests
        survived = [one for one in faults if not judge(one, copy)]
    say(f"{len(faults) - len(survived)} of {len(faults)} faults were caught")
    return 1 if survived else 0


def _passes(faults: Iterable[Fault], copy: Path, *, whole: bool) -> bool:
    """Whether the tests pass without a fault: else it says nothing that they fail with."""
    named = dict.fromkeys(test for one in faults for test in one.tests)
    suites = [test for tests in SUITES.values() for test in tests]
    found = judged(copy, _files(copy, suites) if whole else named)
    passed = found.how == "survived"
    said = "passed" if passed else "failed"
    say(f"{said:9} {found.seconds:5.1f} s  without a fault  {found.by}")
    return passed


def _named(one: Fault, words: Iterable[str]) -> bool:
    return any(word in one.name for word in words)


def _by_tests(one: Fault, copy: Path) -> bool:
    """Whether the tests that a fault names catch it."""
    found = _judge(one, copy, one.tests)
    say(f"{found.how:9} {found.seconds:5.1f} s  {one.name}  {found.by}")
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


def _judge(one: Fault, copy: Path, tests: Iterable[str]) -> Verdict:
    changed = stale(one, copy)
    if changed:
        return Verdict("stale", f"mend its patch of {', '.join(changed)}", 0.0)
    with seeded(one, copy):
        return judged(copy, tests)


def say(line: str) -> None:
    """Print a line at once: each takes seconds to come."""
    print(line, flush=True)  # noqa: T201  # this is a command


if __name__ == "__main__":
    sys.exit(main())
