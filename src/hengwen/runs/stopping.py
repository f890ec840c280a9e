"""Stop a run by a signal or a time limit; calls in flight are answered and recorded first."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hengwen.errors import TimeLimitError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def stop_on_signals(stopping: asyncio.Event) -> Iterator[None]:
    """Set ``stopping`` on the first SIGINT or SIGTERM; the second one cancels the run at once."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if stopping.is_set() and task is not None:
            task.cancel()
        stopping.set()

    handled = []
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):  # on Windows; outside the main thread
            loop.add_signal_handler(name, stop)
            handled.append(name)
    try:
        yield
    finally:
        for name in handled:
            loop.remove_signal_handler(name)


@contextmanager
def stop_after(stopping: asyncio.Event, seconds: float | None) -> Iterator[None]:
    """Set ``stopping`` after some seconds.

    Args:
        stopping: The event that stops the run.
        seconds: The time limit; None for no limit.

    Raises:
        TimeLimitError: The time limit stopped the run.
    """
    if seconds is None:
        yield
        return
    is_over = False

    def stop() -> None:
        nonlocal is_over
        is_over = not stopping.is_set()
        stopping.set()

    timer = asyncio.get_running_loop().call_later(seconds, stop)
    try:
        yield
    except asyncio.CancelledError:
        if is_over:
            raise TimeLimitError(
                f"the time limit of {seconds:g} s is reached; results are kept, "
                "the same command resumes the run"
            ) from None
        raise
    finally:
        timer.cancel()
