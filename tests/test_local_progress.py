"""Progress: lines in a file, a bar on a terminal."""

import io

from loopcore_adapters.local.progress import Meter


class Terminal(io.StringIO):
    """A terminal that keeps what is written on it."""

    def isatty(self) -> bool:
        return True


def test_a_file_of_progress_has_a_line_for_each_quarter() -> None:
    out = io.StringIO()
    meter = Meter(out, lambda: 0.0)
    meter.say("begun")
    for done in range(0, 401, 10):
        meter.at(done * 1_000_000, 400_000_000)
    assert out.getvalue().splitlines() == [
        "begun",
        "  25 %: 100 of 400 MB",
        "  50 %: 200 of 400 MB",
        "  75 %: 300 of 400 MB",
        "  100 %: 400 of 400 MB",
    ]


def test_a_terminal_has_a_bar_that_is_drawn_over() -> None:
    """At most ten times a second, and the next line stands under it."""
    out, times = Terminal(), iter([0.0, 0.0, 0.05, 0.05, 1.0, 1.0, 1.01, 1.01])
    meter = Meter(out, lambda: next(times))
    for done in (100, 150, 200, 400):
        meter.at(done * 1_000_000, 400_000_000)
    meter.say("done")
    assert out.getvalue().split("\r") == [
        "",
        "  ███████····················· 25 %: 100 of 400 MB, 0 MB/s ",
        "  ██████████████·············· 50 %: 200 of 400 MB, 100 MB/s ",
        "  ████████████████████████████ 100 %: 400 of 400 MB, 297 MB/s \ndone\n",
    ]
