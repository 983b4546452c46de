# typed.py
import attrs
from loopcore import Interpreter, LoopConfig, NotDone, run_sync

from app import model

@attrs.frozen
class Recipe:
    title: str
    minutes: int = attrs.field(validator=attrs.validators.gt(0))   # a raising validator is a repair request
    steps: list[str]

config = LoopConfig(model=model, output=Recipe, repairs=2)
try:
    recipe = run_sync(config, Interpreter(model), "A quick pasta").unwrap()
    print(recipe.title, recipe.minutes)             # a Recipe, for the type checker too
except NotDone as why:
    print(why)                                      # output_error: 'minutes' must be > 0 (after 2 repairs)
    print(why.state.transcript)                     # nothing is lost
