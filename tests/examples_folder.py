"""Where the examples lie, and what they are called."""

from pathlib import Path
from typing import Final

EXAMPLES: Final = Path(__file__).parent / "examples"
NAMES: Final = [file.stem for file in EXAMPLES.glob("*.py")]
