"""The vectors of the tool loop document, by theme: each is a test that names it."""
