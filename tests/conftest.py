"""What pytest leaves alone."""

collect_ignore = ["examples"]  # they are run by test_examples.py
