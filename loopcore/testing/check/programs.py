"""Programs that can be pasted: what they import, and how a rule is written in them."""

import re
from importlib import import_module
from typing import Any, Final

from loopcore.hooks.rule import Hooks

MODULES: Final = ("loopcore", "loopcore.hooks")
NAME: Final = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*(?=[(.])")


def with_imports(program: str) -> str:
    """The program, with the names that it takes from the library imported first."""
    used, lines = set(NAME.findall(program)), list[str]()
    for module in MODULES:
        public: Any = import_module(module).__all__
        found = sorted(used & set(public))
        used -= set(public)
        if found:
            lines.append(f"from {module} import {', '.join(found)}")
    return "\n".join((*lines, program))


def written_out(hook: Hooks) -> str:
    """A rule as one writes it; where its functions have no names, a name for the rule."""
    named = {point: _name_of(f) for point, f in hook.functions.items()}
    if not all(named.values()):
        return re.sub(r"\W", "_", hook.name)
    given = [repr(hook.name), *(f"{point}={name}" for point, name in named.items())]
    given += [f"memo={hook.memo!r}"] if hook.memo is not None else []
    given += [f"tools={list(hook.tools)!r}"] if hook.tools is not None else []
    given += ["fail_closed=True"] if hook.fail_closed else []
    return f"Hooks({', '.join(given)})"


def _name_of(function: Any) -> str:  # noqa: ANN401  # a hook's function
    """The name that a function has in its module, if it has one."""
    name = str(getattr(function, "__qualname__", ""))
    return name if name.isidentifier() else ""
