# terminal.py
import asyncio

from loopcore import RunTool, stream
from loopcore.events import Delta, Ended, RunEnd, Started

from app import config, interpreter

async def main() -> None:
    live = stream(config, interpreter, "Do I need an umbrella in Paris?")
    async for event in live:
        match event:
            case Delta(text=text) if text: print(text, end="", flush=True)
            case Started(RunTool(call=call)): print(f"\n· {call.name} {dict(call.arguments)}")
            case Ended(RunTool(), seconds=seconds): print(f"  {seconds:.1f} s")
            case RunEnd(stop=stop): print(f"\n[{stop}]")
            case _: pass
    print(live.result.usage)

asyncio.run(main())
