"""Measure the peak memory and the CPU time that evil replies and files take until they are refused.

    .venv/bin/python benchmarks/bench_memory_limits.py

The cases are the tables of ``tests/hostile``; each runs in a process of its own. Targets: at most 400 MB with
the program itself, and at most 1 s of CPU for a file of YAML.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from http.server import ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.figures import Figure, print_entries, script_parser
from hengwen.errors import BackendError, HengwenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

TESTS = Path(__file__).resolve().parents[1] / "tests"
MAX_MEGABYTES = 400
MAX_YAML_SECONDS = 1
SERVER_ERRORS = ("backslashes", "bomb")
"""Bodies that come with the status 500."""


def refused(function: Callable[[], object]) -> tuple[float, float]:
    """Return the peak megabytes and the seconds of CPU of a process in which a function must raise."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(function, sender))
    process.start()
    sender.close()
    megabytes, seconds = receiver.recv()  # EOFError: it did not raise, or died
    process.join()
    return megabytes, seconds


def _run(function: Callable[[], object], sender: Connection) -> None:
    begin = time.process_time()
    try:
        function()
    except HengwenError:
        seconds = time.process_time() - begin
        sender.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, seconds))


def ask(client: str, url: str) -> None:
    """Send one request by a backend."""
    from hengwen.backends import LangChainBackend, OpenAIBackend
    from hengwen.records import Request

    async def send() -> None:
        backend: Any = (
            OpenAIBackend(model="m", base_url=url)
            if client == "openai"
            else LangChainBackend(model="openai:m", base_url=url)
        )
        await backend.complete(Request(messages=(("user", "hi"),)))

    asyncio.run(send())


def serve() -> None:
    """Print port and names of the bodies, and serve them until standard input closes."""
    import test_bodies  # type: ignore[import-not-found]

    server = ThreadingHTTPServer(("127.0.0.1", 0), test_bodies._Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps([server.server_address[1], list(test_bodies.BODIES)]), flush=True)
    sys.stdin.read()


def body_figures() -> Iterator[Figure]:
    """Measure each body with each client."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port, names = json.loads(server.stdout.readline())
        for client in ("openai", "langchain"):
            with suppress(BackendError):  # loads the client here, once for all cases
                ask(client, "http://127.0.0.1:9")
            for name in names:
                status = 500 if name in SERVER_ERRORS else 200
                url = f"http://127.0.0.1:{port}/{name.replace(' ', '_')}/{status}"
                megabytes, _ = refused(partial(ask, client, url))
                yield Figure(case=f"{client}: {name}", value=megabytes, unit="MB", high=MAX_MEGABYTES)
        server.stdin.close()


def file_figures() -> Iterator[Figure]:
    """Measure each file."""
    import test_files  # type: ignore[import-not-found]

    for name, content, read, message in test_files.FILES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(content(), "utf-8")
            megabytes, seconds = refused(partial(read, path))
            case = f"{name}, {path.stat().st_size >> 10:,} kB: {message.strip(' :1')}"
        yield Figure(case=case, value=megabytes, unit="MB", high=MAX_MEGABYTES)
        is_yaml = name.endswith(".yaml")
        yield Figure(case=case, value=seconds, unit="s of CPU", high=MAX_YAML_SECONDS if is_yaml else None)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path[:0] = [str(TESTS / "support"), str(TESTS / "hostile")]
    if options.serve:
        serve()
        return
    os.environ |= {"OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    print_entries(chain(body_figures(), file_figures()), as_json=options.json)


if __name__ == "__main__":
    main()
