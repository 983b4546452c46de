"""An agent loop as a pure function: `step(config, state) -> (state, effects)`."""
