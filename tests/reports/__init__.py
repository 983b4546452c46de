"""What users of comparable systems reported: rows of that table, each a test that names it."""
