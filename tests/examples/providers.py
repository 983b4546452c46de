# providers.py
from loopcore import Interpreter, LoopConfig, run_sync
from loopcore_adapters import connect

from app import weather

claude = connect("anthropic:claude-sonnet-4-5")     # reads ANTHROPIC_API_KEY
deepseek = connect("deepseek:deepseek-chat", wire="chat", base_url="https://api.deepseek.com/v1")

for model in (claude, deepseek):
    config = LoopConfig(model=model, tools=[weather], thinking="low")
    result = run_sync(config, Interpreter(model, weather), "Umbrella in Paris?")
    print(model.id, "->", result.output, result.usage)
