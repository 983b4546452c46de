"""What pytest leaves alone, and what a machine says that is no part of a test."""

import os
import signal
from typing import Final

collect_ignore = ["examples"]  # they are run by test_examples.py

TERMINAL: Final = ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES")
for name in TERMINAL:
    os.environ.pop(name, None)

for name in ("no_proxy", "NO_PROXY"):
    # The tests' servers are here, and no proxy stands between.
    besides = filter(None, (os.environ.get(name), "127.0.0.1", "localhost"))
    os.environ[name] = ",".join(besides)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As for whatever a shell starts in the background, and for its children: these would
    # wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
