"""`mcp` refuses what cannot work before anything starts, and names tools soundly."""

import re
import sys
from typing import Any

import pytest

from loopcore.hooks import Hooks
from loopcore_adapters import mcp
from loopcore_adapters.tool_servers.names import named
from loopcore_adapters.tool_servers.target import Target

URL = "https://host/mcp"


@pytest.mark.parametrize(
    ("command", "options", "why"),
    [
        (
            (),
            {},
            "give a command, as in mcp('uvx', 'mcp-server-git'), or url=; not both.",
        ),
        (("a",), {"url": URL}, "or url=; not both."),
        (("",), {}, "the command's first word is empty; it names the program."),
        ((), {"url": "host/mcp"}, "url= is no address; write 'https://host/mcp'."),
        ((), {"url": "http://["}, "url= is no address; write 'https://host/mcp'."),
        ((), {"url": "http://h:x/"}, "url= is no address; write 'https://host/mcp'."),
        ((), {"url": "http://h/m\n"}, "url= is no address; write 'https://host/mcp'."),
        ((), {"url": "http://u:p@h/"}, "holds a name or a password; pass headers=."),
        (
            ("a",),
            {"headers": {"a": "b"}},
            "headers= go with url=; a command is given env=.",
        ),
        ((), {"url": URL, "env": {"a": "b"}}, "env= goes with a command"),
        ((), {"url": URL, "headers": {"a b": "c"}}, "headers['a b'] has a character"),
        ((), {"url": URL, "headers": {"a": "b\n"}}, "headers['a'] has a character"),
        (
            ("a",),
            {"prefix": "a.b"},
            "prefix='a.b': names of tools have letters, digits",
        ),
        (("a",), {"prefix": "a" * 33}, "leaves too little of the 64 characters"),
        (("a",), {"timeout": 0}, "timeout=0; give seconds above 0, or None to wait."),
        (("a",), {"start_timeout": 0}, "start_timeout=0; give seconds above 0."),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_give(
    command: tuple[str, ...], options: Any, why: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        mcp(*command, **options)


def test_without_the_sdk_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)

    with pytest.raises(ValueError, match=re.escape('pip install "loopcore[mcp]"')):
        mcp("a")


@pytest.mark.parametrize(
    "url",
    [
        "https://host:81/s3cret",
        "https://host:81/mcp?key=s3cret",
        "https://host:81?key=s3cret",
        "https://s3cret:s3cret@host:81",
        "https://host:81#s3cret",
    ],
)
def test_no_secret_is_printed(url: str) -> None:
    target = Target(url=url, headers={"a": "s3cret"}, env={"a": "s3cret"})

    assert "mcp(url='https://host:81')" == str(target)
    assert "s3cret" not in repr(target) + target.name + target.service


def test_no_argument_of_a_command_is_told_to_a_model() -> None:
    target = Target(("/bin/uvx", "--quiet", "mcp-server-git", "--key", "s3cret"))

    assert "uvx mcp-server-git" == target.name
    assert "s3cret" not in target.service


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (Target(("uvx", "mcp-server-git"), prefix="git_"), "git"),
        (Target(("/usr/bin/python3", "/home/me/server.py")), "python3 server.py"),
        (Target(("serve",)), "serve"),
        (Target(url="http://127.0.0.1:80/mcp"), "http://127.0.0.1:80"),
    ],
)
def test_a_server_has_a_name_that_models_are_told(target: Target, name: str) -> None:
    assert name == target.name


def test_a_service_is_of_one_server_and_can_name_a_hook() -> None:
    targets = [
        Target(("uvx", "a.b")),
        Target(("uvx", "a.b", "c")),
        Target(url="http://h/a"),
        Target(url="http://h/b"),
        Target(("uvx", "a.b"), prefix="git_"),
    ]

    services = [target.service for target in targets]

    assert 5 == len(set(services))
    assert "mcp:git" == services[-1]
    assert services == [Hooks(service).name for service in services]


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("log", "git_log"),
        ("log.all", "git_log_all"),
        ("größe", "git_gr__e"),
        ("a" * 60, "git_" + "a" * 60),
    ],
)
def test_names_are_what_every_model_service_takes(tool: str, name: str) -> None:
    assert {tool: name} == named([tool], "git_", {})


def test_long_names_are_cut_and_stay_apart() -> None:
    names = named(["a" * 61 + "b", "a" * 61 + "c"], "git_", {})

    assert [64, 64] == [len(name) for name in names.values()]
    assert 2 == len(set(names.values()))


def test_a_name_that_is_taken_is_marked_whichever_comes_first() -> None:
    names = named(["a.b", "a_b", "a/b"], "", {})

    assert names == named(["a_b", "a/b", "a.b"], "", {})
    assert "a_b" == names["a_b"]
    assert 3 == len(set(names.values()))


def test_a_tool_keeps_its_name_whatever_comes_later() -> None:
    names = named(["a.b"], "", {})

    later = named(["a_b", "a.b"], "", names)

    assert "a_b" == later["a.b"]
    assert "a_b" != later["a_b"]
