"""What an import pulls in: who only wants the loop does not wait for anything else."""

import subprocess
import sys
from typing import Final

import pytest

HEAVY: Final = (
    *("httpx", "rich", "click", "multiprocessing", "hypothesis", "pytest"),
    *(
        "loopcore_adapters",
        "loopcore.cli",
        "loopcore.testing",
        "loopcore.runtime.purity",
    ),
)


@pytest.mark.parametrize(
    "module", ["loopcore", "loopcore.journal", "loopcore.policies"]
)
def test_the_loop_is_imported_without_what_stands_around_it(module: str) -> None:
    program = f"import {module}, sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(  # noqa: S603  # this very Python
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
