"""What pytest leaves alone, and Ctrl-C for the tests that press it."""

import signal

collect_ignore = ["examples"]  # they are run by test_examples.py

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As for whatever a shell starts in the background, and for its children: these would
    # wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
