"""What the child process of `engine` runs: llama.cpp's own server, until the parent ends.

It is run as a file and imports nothing of ours. It reads its order, one line of JSON, from
standard input, and answers with one line; once standard input ends, whatever ended the
parent, it ends too.
"""

import json
import os
import signal
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Serve what the order says."""
    # The terminal sends Ctrl-C to both; it is for the parent to decide what it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = json.loads(sys.stdin.readline())
    sys.path[:] = order["import_from"]
    xllamacpp: Any = import_module("xllamacpp")  # only now can it be found
    server = xllamacpp.Server(_params(xllamacpp.CommonParams(), order))
    print(json.dumps({"url": server.listening_address}), flush=True)  # noqa: T201  # the answer
    sys.stdin.read()
    # To tear the server down takes up to 30 s while it still speaks.
    os._exit(0)


def _params(params: Any, order: dict[str, Any]) -> Any:  # noqa: ANN401  # untyped upstream
    params.model.path = order["path"]
    params.chat_template = order["template"]
    params.n_ctx = order["context"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"]
    params.api_keys = [order["key"]]  # nobody else on this machine may use it
    params.n_parallel = 1  # further calls wait in its queue
    params.cache_ram_mib = 256  # prompts of other conversations; 8 GB if not said
    # A batch of a prompt cannot be cancelled: by default that would be minutes' work.
    params.n_batch = params.n_ubatch = 64
    params.verbosity = 1  # errors only
    params.ui = params.endpoint_slots = False
    return params


if __name__ == "__main__":
    main()
