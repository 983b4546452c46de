# app.py
from loopcore import Interpreter, LoopConfig, run_sync, tool
from loopcore_adapters import connect

@tool
def weather(city: str) -> str:
    """Today's weather in a city."""
    return f"{city}: 17 °C, light rain"

model = connect("local:qwen2.5-coder-0.5b")         # embedded: no key, no server
config = LoopConfig(model=model, tools=[weather])   # what the run is: data and pure functions
interpreter = Interpreter(model, weather)           # who does the work: everything impure

if __name__ == "__main__":
    print(run_sync(config, interpreter, "Do I need an umbrella in Paris?").output)
