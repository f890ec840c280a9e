"""Processes that score in the background, and that end when the process that started them ends."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread


def worker_process() -> ProcessPoolExecutor:
    """Return an executor with one process, which starts at the first call.

    The process ignores interrupts, because its parent handles them, and ends when its parent is killed.
    """
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_prepare)


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None  # this is a worker
    parent.join()
    os._exit(1)
