"""A server may change its tools: a run that asks for it offers what there is."""

import math
from typing import Any, Final

import pytest
from returns.result import Failure, Success

from loopcore import (
    Answer,
    CallModel,
    Consult,
    Effect,
    Interpreter,
    LoopConfig,
    Perform,
    Prompt,
    RunTool,
    ServiceError,
    State,
    Tell,
    ToolCall,
    ToolSpec,
    run,
)
from loopcore.frozen import freeze
from loopcore.hooks import UNSET, ContextView, Hooks, Need
from loopcore.testing import ScriptedModel
from loopcore_adapters import mcp
from loopcore_adapters.tool_servers.changes import digest, offering, told
from loopcore_adapters.tool_servers.server import ToolServer
from tests.leaks import alone
from tests.mcp_raw import HELLO, Json, in_turn, says, scripted, tool
from tests.mcp_using import SDK, given, over_http, results, until

SERVICE: Final = "mcp:clerk"


def spec(name: str, says: str = "Serves.", **more: Any) -> ToolSpec:
    return ToolSpec(name, says, **more)


def asked(hook: Hooks, *tools: ToolSpec, **seen: Any) -> Any:
    """What the rule says to a request that would offer these tools."""
    state = State.start(LoopConfig(model="m"), run_id="r")
    view = ContextView(
        state=state, messages=[], model="m", tools=tools, **{"memo": hook.memo, **seen}
    )
    assert hook.transform_context is not None
    return hook.transform_context(view)


def heard(*tools: ToolSpec) -> Any:
    """The service's answer that these are the tools."""
    return {"tools": Success(freeze(told(tools)))}


# The rule.


def test_the_service_is_asked_for_what_is_not_known() -> None:
    hook = offering(SERVICE, [spec("a")], None)

    assert Need.service("tools", SERVICE, digest(told([spec("a")]))) == asked(
        hook, spec("a")
    )


@pytest.mark.parametrize("answer", [Success(None), Failure(ServiceError("gone"))])
def test_without_news_nothing_changes(answer: Any) -> None:
    hook = offering(SERVICE, [spec("a")], None)

    assert asked(hook, spec("a"), answers={"tools": answer}) is None


def test_a_list_that_was_told_once_is_remembered() -> None:
    hook = offering(SERVICE, [spec("a")], None)
    update = asked(hook, spec("a"), answers=heard(spec("b")))

    assert Need.service("tools", SERVICE, digest(told([spec("b")]))) == asked(
        hook, spec("a"), memo=freeze(update.memo)
    )
    assert [spec("b")] == list(
        asked(
            hook,
            spec("a"),
            memo=freeze(update.memo),
            answers={"tools": Success(None)},
        ).tools
    )


@pytest.mark.parametrize(
    ("shown", "now", "offered"),
    [
        pytest.param("xab", "abc", "xabc", id="one is new"),
        pytest.param("xab", "a", "xa", id="one is gone"),
        pytest.param("xab", "", "x", id="all are gone"),
        pytest.param("axb", "cb", "xbc", id="one is gone and one is new"),
        pytest.param("xa", "abc", "xa", id="a run that offers only some is kept so"),
        pytest.param(
            "abx", "abx", "abx", id="a new one of another's name is not offered"
        ),
        pytest.param("", "abc", "", id="a run that offers none is kept so"),
    ],
)
def test_what_is_offered_is_what_there_is(shown: str, now: str, offered: str) -> None:
    hook = offering(SERVICE, [spec("a"), spec("b")], None)

    update = asked(hook, *map(spec, shown), answers=heard(*map(spec, now)))

    tools = map(spec, shown) if update.tools is UNSET else update.tools
    assert offered == "".join(tool.name for tool in tools)


def test_a_tool_that_changed_keeps_how_it_is_run() -> None:
    hook = offering(SERVICE, [spec("a", timeout=5)], 5)
    mine = spec("a", needs_approval=True, timeout=9)

    update = asked(hook, mine, answers=heard(spec("a", "Serves better.")))

    wanted = spec("a", "Serves better.", needs_approval=True, timeout=9)
    assert (wanted,) == update.tools


def test_a_tool_that_did_not_change_keeps_what_was_made_of_it() -> None:
    hook = offering(SERVICE, [spec("a")], None)
    mine = spec("a", "My own words.")

    update = asked(hook, mine, answers=heard(spec("a"), spec("b")))

    assert (mine, spec("b")) == update.tools


def test_a_new_tool_has_the_timeout_of_the_others() -> None:
    hook = offering(SERVICE, [], 5)

    update = asked(hook, answers=heard(spec("a")))

    assert (spec("a", timeout=5),) == update.tools


# A run.


def live(model: ScriptedModel, server: ToolServer) -> tuple[LoopConfig, Interpreter]:
    """A run that offers what the server has."""
    config = LoopConfig(model=model, tools=server, hooks=[server.hook])
    return config, Interpreter(model, *server).wrap(server.around)


def offered(requests: list[CallModel]) -> list[list[str]]:
    """The tools of each request, of those that come and go."""
    return [[t.name for t in r.tools if t.name in "page cook"] for r in requests]


def test_a_new_tool_is_offered_in_the_next_turn_and_can_be_run() -> None:
    model = ScriptedModel(
        ToolCall("hire", {"name": "page"}),
        ToolCall("page"),
        ToolCall("dismiss", {"name": "page"}),
        "Done.",
    )

    async def main() -> Any:
        async with mcp(*SDK) as server:
            return await run(*live(model, server), "Go.")

    result = alone(main())
    assert [
        ("ok", "hired"),
        ("ok", "at your service"),
        ("ok", "dismissed"),
    ] == results(result)
    assert [[], ["page"], ["page"], []] == offered(model.requests)


def test_a_new_tool_is_heard_of_over_http() -> None:
    model = ScriptedModel(ToolCall("cook"), "Done.")

    async def main(url: str) -> Any:
        async with mcp(url=url) as server:
            await until(lambda: server.changed)
            await server.refresh()
            config, interpreter = live(model, server)
            await given(server, "hire", name="cook")
            await until(lambda: server.changed)
            return await run(config, interpreter, "Go.")

    with over_http() as url:
        assert [("ok", "at your service")] == results(alone(main(url)))


CHANGED: Final = {"method": "notifications/tools/list_changed"}


def lists(*names: str) -> Any:
    """The answer that these are the tools."""
    return {"result": {"tools": [tool(name) for name in names]}}


def test_an_older_server_is_heard_too() -> None:
    model = ScriptedModel(ToolCall("a"), ToolCall("b"), "Done.")
    grown: Json = {"first": [CHANGED], **says()}
    command = scripted(
        tools__list=in_turn(lists("a"), lists("a", "b")),
        tools__call=in_turn(grown, {"repeat": True}),
    )

    async def main() -> Any:
        async with mcp(*command) as server:
            assert not server.changed
            return await run(*live(model, server), "Go.")

    assert [("ok", ""), ("ok", "{}")] == results(alone(main()))


def test_a_server_whose_tools_do_not_change_is_not_asked_again() -> None:
    fixed: Json = {"result": {**HELLO, "capabilities": {"tools": {}}}}

    async def main() -> bool:
        async with mcp(*scripted(tool("a"), initialize=fixed)) as server:
            await given(server, "a")
            return server.changed

    assert not alone(main())


MODERN: Final = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def test_a_newer_server_that_does_not_say_what_changed_is_asked_each_turn() -> None:
    discovered = {**HELLO, **MODERN, "supportedVersions": ["2026-07-28"]}
    more = {"result": {"tools": [tool("a"), tool("b")], **MODERN}}
    command = scripted(
        server__discover={"result": discovered},
        tools__list=in_turn({"result": {"tools": [tool("a")], **MODERN}}, more),
    )

    async def main() -> list[str]:
        async with mcp(*command) as server:
            await until(lambda: server.changed)
            await server.refresh()
            assert server.changed
            return [tool.spec.name for tool in server]

    assert ["a", "b"] == alone(main())


LIST_IS_LOST: Final = {"error": {"code": -32603, "message": "the list is lost"}}


def test_what_has_become_a_tool_that_is_none_is_told_so() -> None:
    """NaN is read by the SDK, and JSON has none."""
    odd = tool("odd", inputSchema={"type": "object", "default": math.nan})
    command = scripted(tools__list=in_turn(lists("a"), {"result": {"tools": [odd]}}))

    async def main() -> list[str]:
        async with mcp(*command) as server:
            with pytest.raises(
                ConnectionError, match=r"no model can be told of: .*nan"
            ):
                await server.refresh()
            return [tool.spec.name for tool in server]

    assert ["a"] == alone(main())


@pytest.mark.parametrize(
    ("answer", "why"),
    [(LIST_IS_LOST, "MCPError: the list is lost"), ({"silence": True}, "TimeoutError")],
    ids=["an error", "silence"],
)
def test_what_cannot_be_asked_now_is_told_so(answer: Json, why: str) -> None:
    command = scripted(tools__list=in_turn(lists("a"), answer, lists("b")))

    async def main() -> list[str]:
        async with mcp(*command, start_timeout=0.5) as server:
            with pytest.raises(ConnectionError, match=f"are not known now: {why}"):
                await server.refresh()
            assert server.changed
            await server.refresh()
            return [tool.spec.name for tool in server]

    assert ["b"] == alone(main())


def test_a_server_that_is_gone_leaves_the_run_what_it_had() -> None:
    model = ScriptedModel(ToolCall("a"), "Done.")
    changed: Json = {"first": [CHANGED], **says()}
    command = scripted(
        tools__list=in_turn(lists("a"), LIST_IS_LOST), tools__call=changed
    )

    async def main() -> Any:
        async with mcp(*command) as server:
            return await run(*live(model, server), "Go.")

    assert "done" == str(alone(main()).stop)
    assert [["a"], ["a"]] == [[t.name for t in r.tools] for r in model.requests]


def test_a_second_prompt_still_offers_what_is_new() -> None:
    model = ScriptedModel("One.", "Two.")
    command = scripted(tools__list=in_turn(lists("a"), lists("a", "b")))

    async def main() -> None:
        async with mcp(*command) as server:
            config, interpreter = live(model, server)
            await server.refresh()
            first = await run(config, interpreter, "Go.")
            state = State.loads(first.state.dumps()).unwrap()
            await run(config, interpreter, "Go on.", state=state)

    alone(main())
    assert [["a", "b"]] * 2 == [[t.name for t in r.tools] for r in model.requests]


@pytest.mark.parametrize("order", [["dry", "server"], ["server", "dry"]])
def test_no_new_tool_passes_by_what_is_put_round_the_effects(order: list[str]) -> None:
    model = ScriptedModel(ToolCall("b"), "Done.")
    command = scripted(
        tools__list=in_turn(lists("a"), lists("a", "b")), tools__call={"exit": 1}
    )

    async def dry(effect: Effect, tell: Tell, inner: Perform) -> Answer | None:
        if isinstance(effect, RunTool):
            return effect.reply("(dry run)")
        return await inner(effect, tell)

    async def main() -> Any:
        async with mcp(*command) as server:
            config = LoopConfig(model=model, tools=server, hooks=[server.hook])
            interpreter = Interpreter(model, *server)
            for one in order:
                interpreter = interpreter.wrap(dry if one == "dry" else server.around)
            await server.refresh()
            return results(await run(config, interpreter, "Go."))

    assert [("ok", "(dry run)")] == alone(main())


def test_a_tool_that_nobody_has_stays_unknown() -> None:
    model = ScriptedModel(ToolCall("ghost"), "Done.")

    async def main() -> Any:
        async with mcp(*scripted(tool("a"))) as server:
            interpreter = live(model, server)[1]
            config = LoopConfig(model=model, tools=[])
            prompt = Prompt("Go.", tools=[spec("ghost")])
            return results(await run(config, interpreter, prompt))

    [(outcome, _)] = alone(main())
    assert "unknown_tool" == outcome


def test_without_the_service_the_run_waits_for_it() -> None:
    model = ScriptedModel("Done.")

    async def main() -> Any:
        async with mcp(*scripted(tool("a")), prefix="clerk_") as server:
            config = LoopConfig(model=model, tools=server, hooks=[server.hook])
            return await run(config, Interpreter(model, *server), "Go.")

    [waiting] = alone(main()).waiting
    assert isinstance(waiting, Consult)
    assert SERVICE == waiting.service


def test_two_servers_have_rules_of_their_own() -> None:
    async def main() -> list[str]:
        async with (
            mcp(*scripted(tool("a")), prefix="one_") as one,
            mcp(*scripted(tool("a")), prefix="two_") as two,
        ):
            config = LoopConfig(
                model="m", tools=[*one, *two], hooks=[one.hook, two.hook]
            )
            return [tool.name for tool in config.settings.tools]

    assert ["one_a", "two_a"] == alone(main())
