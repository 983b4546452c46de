"""The outside of loopcore: models over wires, an embedded one, and what else acts."""
