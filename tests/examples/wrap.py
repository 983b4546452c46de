# wrap.py
from loopcore import Answer, Effect, Perform, RunTool, Tell, run_sync

from app import config, interpreter

async def dry(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
    """One choke point: nothing is done unless this function lets it through."""
    if isinstance(effect, RunTool):
        print("would run", effect.call.name, effect.arguments, "with key", effect.id)
        return effect.reply("(dry run)")
    return await inner(effect, tell)

run_sync(config, interpreter.wrap(dry), "Umbrella in Paris?")
