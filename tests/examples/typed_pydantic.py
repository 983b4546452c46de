# typed_pydantic.py
from loopcore import Interpreter, LoopConfig, run
from pydantic import BaseModel, Field

from app import model

class Restaurant(BaseModel):
    name: str
    dishes: list[str] = Field(min_length=1)

async def pick() -> Restaurant | None:
    config = LoopConfig(model=model, output=Restaurant)
    result = await run(config, Interpreter(model), "An Italian place for a romantic dinner")
    return result.output                            # None if it stopped for another reason: see result.stop
