"""Run a function in a process of its own that may take only so much more memory and processor time."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

MAX_GROWTH = 300 << 20
"""Bytes of address space; with the 100 MB that the program takes at rest, they are 400 MB."""
MAX_SECONDS = 20
"""Seconds of processor time: far above what any case takes, far below what one takes without limits."""


def outcome_of(function: Callable[[], object], seconds: int = MAX_SECONDS) -> str:
    """Return the error of a function as ``Class: message``, "" if it ends without one, or how it died."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(function, seconds, sender))
    process.start()
    sender.close()
    try:
        outcome: str = receiver.recv()
    except EOFError:
        outcome = ""
    process.join()
    return outcome if process.exitcode == 0 else f"died of {process.exitcode}"


def _run(function: Callable[[], object], seconds: int, sender: Connection) -> None:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    space = pages * resource.getpagesize() + MAX_GROWTH
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        function()
    except BaseException as error:
        sender.send(f"{type(error).__name__}: {error}")
    else:
        sender.send("")
