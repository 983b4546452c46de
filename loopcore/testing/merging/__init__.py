"""What `check_merge_laws` merges: classes of updates, and what their verdicts decide."""
