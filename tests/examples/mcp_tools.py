# mcp_tools.py
import asyncio

from loopcore import Interpreter, LoopConfig, run
from loopcore_adapters import mcp

from app import model, weather

async def main() -> None:
    async with mcp("uvx", "mcp-server-git", prefix="git_") as git:     # a list of tools, like any others
        tools = [weather, *git]
        config = LoopConfig(model=model, tools=tools)
        result = await run(config, Interpreter(model, *tools), "What changed since Monday?")
        print(result.output)

if __name__ == "__main__":
    asyncio.run(main())
