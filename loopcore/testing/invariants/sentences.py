"""Laws that whoever drives a run keeps watch over itself, by what they say."""

from typing import Final

ALL_IS_SAID: Final = "of everything that is asked, somebody says what may come of it"
ANSWERS_ARE_TAKEN: Final = "13: what waits takes its answer"
