# steer.py
import asyncio

from loopcore import Abort, FollowUp, RunTool, Steer, stream
from loopcore.events import Ended

from app import config, interpreter

async def main(stop: asyncio.Event) -> None:
    live = stream(config, interpreter, "Plan a day out in Paris")
    live.send(FollowUp("Then put it in a table."))          # taken when the run would otherwise end
    async for event in live:
        match event:
            case Ended(RunTool(call=call)) if call.name == "weather":
                live.send(Steer("Indoors only, please."))   # joins at the next gap between turns
            case _:
                pass
        if stop.is_set():
            live.send(Abort("the user pressed stop"))       # nothing further is asked or run
    print(live.result.stop, live.result.output)
