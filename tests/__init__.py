"""Tests: sentences about what loopcore does."""
