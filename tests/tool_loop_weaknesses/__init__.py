"""The weaknesses of the tool loop document's engine, by theme: each is shown gone."""
