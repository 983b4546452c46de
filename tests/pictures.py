"""The README's pictures, made of kept journals by a real browser.

    python -m tests.pictures            # all of them
    python -m tests.pictures view       # this one

Chromium is had as `tests/browser.py` says.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from attrs import evolve

from loopcore.journal import Journal
from loopcore_adapters.viewer import index, page
from tests.browser import Tab, browsing, chromium
from tests.many_runs import tried
from tests.viewing import CONFIG, FILES

PICTURES: Final = Path(__file__).parent.parent / ".assets"
KEPT: Final = Path(__file__).parent.parent / ".pytest_cache" / "d" / "chromium"
"""Where the tests keep their browser, too."""

SIZE: Final = 1280, 800
SCALE: Final = 1.25
"""How many points of a picture there are to one of the page."""


def view(tab: Tab, folder: Path) -> None:
    """The page of a run at one of its inputs, with what that changed."""
    journal = evolve(Journal.read(FILES[0]).unwrap(), path="")
    file = folder / "view.html"
    file.write_text(page(CONFIG, journal, at=7), encoding="utf-8")
    tab.opens(file)


def backtest(tab: Tab, folder: Path) -> None:
    """The first page of a backtest: what two rules change in many runs."""
    file = folder / "backtest.html"
    file.write_text(index(tried(1_000), {}), encoding="utf-8")
    tab.opens(file)


Picture: TypeAlias = Callable[[Tab, Path], None]

NAMES: Final[dict[str, Picture]] = {"view": view, "backtest": backtest}
"""Each picture by the name of its file: a function that brings a tab to how it looks."""


def make(*names: str, to: Path = PICTURES, kept: Path = KEPT) -> None:
    """Make these pictures, in this folder; the browser is kept in the other one."""
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with browsing(chromium(kept), folder / "profile") as browser:
            for name in names:
                tab = browser.tab()
                tab.is_sized(*SIZE, SCALE)
                NAMES[name](tab, folder)
                (to / f"{name}.png").write_bytes(tab.picture())


if __name__ == "__main__":
    make(*(sys.argv[1:] or NAMES))
