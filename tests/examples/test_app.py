# test_app.py
from loopcore import Interpreter, LoopConfig, ToolCall, run_sync
from loopcore.testing import ScriptedModel

from app import weather

def test_it_looks_before_it_answers() -> None:
    model = ScriptedModel(ToolCall("weather", {"city": "Paris"}), "Yes, take one.")
    config = LoopConfig(model=model, tools=[weather])
    result = run_sync(config, Interpreter(model, weather), "Umbrella?")
    assert result.output == "Yes, take one."
    assert [m.text for m in result.messages] == ["Umbrella?", "", "Paris: 17 °C, light rain", "Yes, take one."]
    model.assert_complete()                        # fails if the script ran over or under
