"""The impure shell: tools, models, the interpreter, and what drives a run."""
