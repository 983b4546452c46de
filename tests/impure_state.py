"""A module in which a hook counts."""

count = 0
