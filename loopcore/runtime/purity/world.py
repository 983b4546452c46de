"""What belongs to the world: calls that read a clock, chance, the environment, I/O.

Built-in functions are known by their modules and by what they are bound to. What is
written in Python comes down to these, but for a few that are named here.
"""

import contextvars
import random
from collections.abc import Callable
from datetime import datetime
from types import CodeType, FrameType, ModuleType
from typing import Any, Final, Literal, TypeAlias

World: TypeAlias = Literal[
    "clock", "time zone", "randomness", "environment", "I/O", "global state"
]

CLOCKS: Final = frozenset(
    f"{name}{unit}"
    for name in (
        *("time", "monotonic", "perf_counter", "process_time", "thread_time"),
        "clock_gettime",
    )
    for unit in ("", "_ns")
)
READS_THE_CLOCK: Final = {
    "localtime": 0,
    "gmtime": 0,
    "ctime": 0,
    "asctime": 0,
    "strftime": 1,
}
"""Functions of `time` that read the clock if they are given no time: with so many arguments."""

DATES: Final = frozenset(("now", "utcnow", "today"))

ZONED: Final = frozenset(("localtime", "ctime", "mktime", "tzset"))
"""Functions of `time` that ask for the zone that the machine is set to."""

ENVIRONMENT: Final = frozenset(
    (
        "getcwd",
        "getcwdb",
        "getpid",
        "getppid",
        "getlogin",
        "uname",
        "cpu_count",
        "getuid",
    )
)
RANDOM: Final = frozenset(("urandom", "getrandom"))
PATHS: Final = frozenset(
    ("fspath", "fsencode", "fsdecode", "strerror", "get_terminal_size")
)
"""Of the operating system's functions, those that reach nothing."""

SYSTEM: Final = frozenset(("posix", "nt"))
STREAMS: Final = frozenset(
    (
        "_io",
        "io",
        "_socket",
        "socket",
        "_ssl",
        "ssl",
        "_sqlite3",
        "sqlite3",
        "select",
        "mmap",
    )
)
PROCESSES: Final = frozenset(("_posixsubprocess", "_winapi", "_multiprocessing"))
IN_MEMORY: Final = frozenset(("StringIO", "BytesIO", "IncrementalNewlineDecoder"))
BUILTINS: Final = frozenset(("print", "input", "breakpoint"))
DRAWS: Final = frozenset(("random", "getrandbits"))

NAMED: Final[dict[tuple[str, str], World]] = {
    ("os", "_Environ.__getitem__"): "environment",
    ("os", "_Environ.__setitem__"): "environment",
    ("os", "_Environ.__iter__"): "environment",
    ("os", "_Environ.__len__"): "environment",
    ("logging", "Logger.handle"): "I/O",
    ("threading", "Thread.start"): "I/O",
}
"""What is written in Python and comes down to nothing else that is known here."""

SETTINGS: Final = frozenset(
    (
        *("os", "posixpath", "ntpath", "pathlib", "collections", "shutil", "tempfile"),
        *("locale", "gettext", "platform", "getpass", "sysconfig", "site"),
        *("decouple", "dotenv", "dynaconf", "environ", "environs", "pydantic_settings"),
    )
)
"""Packages that are called to learn what the environment is.

Others look at it on their own account: `strptime` at the locale, pydantic for plug-ins.
"""

BUILT_IN: Final[dict[tuple[str, str], World]] = {
    ("_uuid", "generate_time_safe"): "clock",
    ("_uuid", "UuidCreate"): "clock",
    ("_thread", "start_new_thread"): "I/O",
    ("_thread", "start_new"): "I/O",
    ("_thread", "start_joinable_thread"): "I/O",
}
"""What is written in C, and is called by names of its own."""


def keeps_to_itself(package: str, world: World) -> bool:
    """Whether a package reaches a world only for itself: lines of a log are dated."""
    return package == "logging" and world in ("clock", "time zone", "environment")


def world_of_code(module: str, code: CodeType) -> World | None:
    """What a function that is written in Python reaches by itself."""
    return NAMED.get((module, code.co_qualname))


def world_of_builtin(function: Any, arguments: Callable[[], int]) -> World | None:  # noqa: ANN401  # untyped upstream
    """What a built-in function reaches; `arguments` says how many it is called with."""
    name: str = function.__name__
    owner: object = getattr(function, "__self__", None)
    if isinstance(owner, ModuleType):
        return _of_module(owner.__name__, name, arguments)
    if isinstance(owner, contextvars.ContextVar):
        return "global state"
    if isinstance(owner, type):
        return _of_dates(owner, name, arguments) if _is_date(owner) else None
    if isinstance(owner, datetime):
        return "time zone" if _takes_the_zone(owner, name, arguments) else None
    if isinstance(owner, random.Random):
        return "randomness" if name in DRAWS else None
    return _of_object(type(owner))


def _of_dates(owner: type, name: str, arguments: Callable[[], int]) -> World | None:
    """What a class of dates or times reaches; a time can be given its zone."""
    if name == "fromtimestamp":
        said = issubclass(owner, datetime) and arguments() > 1
        return None if said else "time zone"
    return "clock" if name in DATES else None


def _takes_the_zone(owner: datetime, name: str, arguments: Callable[[], int]) -> bool:
    """Whether the machine's zone is taken for one that was not said."""
    if name == "astimezone":
        return owner.tzinfo is None or arguments() == 0
    return name == "timestamp" and owner.tzinfo is None


def _is_date(owner: type) -> bool:
    return any(base.__module__ == "datetime" for base in owner.__mro__)


def _of_object(kind: type) -> World | None:
    if kind.__module__.startswith("numpy.random"):
        return "randomness"
    bases = [base for base in kind.__mro__ if base.__module__ in STREAMS]
    memory = any(base.__name__ in IN_MEMORY for base in bases)
    return "I/O" if bases and not memory else None


def _of_module(module: str, name: str, arguments: Callable[[], int]) -> World | None:
    if module == "time":
        return _of_time(name, arguments)
    if module in SYSTEM:
        return _of_system(name)
    if module == "builtins":
        return "I/O" if name in BUILTINS else None
    if (module, name) in BUILT_IN:
        return BUILT_IN[module, name]
    if module == "_locale":
        return "environment"
    opens = module in STREAMS and name not in (
        "text_encoding",
        "inet_aton",
        "inet_pton",
    )
    return "I/O" if opens or module in PROCESSES else None


def _of_time(name: str, arguments: Callable[[], int]) -> World | None:
    if name == "sleep":
        return "I/O"
    reads = name in READS_THE_CLOCK and READS_THE_CLOCK[name] >= arguments()
    if reads or name in CLOCKS:
        return "clock"
    return "time zone" if name in ZONED else None


def _of_system(name: str) -> World | None:
    if name in RANDOM:
        return "randomness"
    if name in ENVIRONMENT:
        return "environment"
    pure = name in PATHS or name.startswith(("_", "W"))
    return None if pure else "I/O"


def called_as(function: Any) -> str:  # noqa: ANN401  # a built-in function
    """A built-in function as one writes it, such as `time.time`."""
    owner: object = getattr(function, "__self__", None)
    name: str = function.__name__
    if isinstance(owner, ModuleType):
        module = MODULES.get(owner.__name__, owner.__name__)
        return name if module == "builtins" else f"{module}.{name}"
    if isinstance(owner, type):
        return f"{owner.__name__}.{name}"
    if isinstance(owner, random.Random):
        return f"random.{name}"
    return f"{type(owner).__name__}.{name}"


MODULES: Final = {
    "posix": "os",
    "nt": "os",
    "_io": "builtins",
    "io": "builtins",
    "_socket": "socket",
    "_sqlite3": "sqlite3",
}


def named_as(frame: FrameType) -> str:
    """A function that is written in Python, as one writes it, such as `uuid.uuid4`."""
    module = str(frame.f_globals.get("__name__", "")).split("._")[0]
    name = frame.f_code.co_qualname.removesuffix(".__init__").removeprefix("Random.")
    return f"{module}.{name}" if module and module != "__main__" else name
