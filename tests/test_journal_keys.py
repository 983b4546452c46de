"""Keys lie with the adapters, and no journal has them."""

from pathlib import Path

import pytest

from loopcore import Interpreter, LoopConfig, run_sync
from loopcore_adapters import connect
from tests.chat_server import says_json, serving

KEY = "sk-very-secret-0123456789"


@pytest.mark.parametrize("wire", ["chat", "responses", "messages", "gemini"])
def test_a_key_that_a_server_says_again_is_in_no_journal(
    tmp_path: Path, wire: str
) -> None:
    """An error of a server may quote the key it was given."""
    path = tmp_path / "r.jsonl"

    said = {"error": {"message": f"{KEY} is no key", "type": "auth"}}

    with serving(says_json(said, 401)) as server:
        model = connect("x:y", wire=wire, base_url=server.url, api_key=KEY)
        config = LoopConfig(model=model)
        result = run_sync(config, Interpreter(model), "Hi!", journal=path)

    assert "model_error" in str(result.stop)
    assert KEY.encode() not in path.read_bytes()
