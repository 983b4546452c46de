# unfold.py
from loopcore import Interpreter, LoopConfig, Tool, tool
from loopcore.hooks import Hooks, TurnUpdate, TurnView

from app import model, weather

def opens(door: Tool, *inner: Tool, alone: bool = False) -> Hooks:
    """A tool that opens into others: once it was called, the next turn has these instead."""

    def unfold(view: TurnView) -> TurnUpdate | None:
        if not any(result.name == door.spec.name and not result.is_error for result in view.results):
            return None
        kept = [] if alone else [spec for spec in view.tools if spec != door.spec]
        return TurnUpdate(tools=[*kept, *inner])

    return Hooks(f"opens_{door.spec.name}", prepare_next_turn=unfold)

@tool
def travel() -> str:
    """Opens the tools for planning a journey: trains, hotels."""
    return "You can call trains and hotels now."
@tool
def trains(to: str) -> str:
    """Trains to a city."""
    return f"the 8:04 to {to}"
@tool
def hotels(city: str) -> str:
    """Rooms in a city."""
    return f"a room in {city}"

config = LoopConfig(model=model, tools=[weather, travel], hooks=[opens(travel, trains, hotels)])
interpreter = Interpreter(model, weather, travel, trains, hotels)   # who acts is told of all of them
