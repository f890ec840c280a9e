"""Run a coroutine to its end, or stop it by a signal or a time limit, after the replies to calls."""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from hengwen.errors import TimeLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

Result = TypeVar("Result")
SIGNAL_SECONDS = 0.2
"""Interval in seconds at which the waiting main thread checks for signals that another thread got."""


class Interrupts:
    """Requests to stop a run: the first sets the run's ``stopping`` event, the second cancels the run."""

    def __init__(self, *, signals: bool) -> None:
        self._signals = (signal.SIGINT, signal.SIGTERM) if signals else ()
        self._requests = 0
        self._run: tuple[asyncio.AbstractEventLoop, Callable[[], None]] | None = None

    def request(self) -> None:
        """Request the run to stop. Any thread may call this method, even before the run has started."""
        self._requests += 1
        if self._run is not None:
            loop, stop = self._run
            loop.call_soon_threadsafe(stop)

    @contextmanager
    def stop_on_request(self, stopping: asyncio.Event) -> Iterator[None]:
        """Set ``stopping`` on the first request, and end the run on the second request."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            if stopping.is_set() and task is not None:
                task.cancel()
            stopping.set()

        def on_signal(_number: int, _frame: FrameType | None) -> None:
            if stopping.is_set():
                raise KeyboardInterrupt
            stopping.set()
            loop.call_soon_threadsafe(stopping.is_set)  # wakes the event loop if it waits for the network

        self._run = loop, stop
        if self._requests:
            stop()
        replaced: dict[int, Handler] = {}
        for name in self._signals:
            with suppress(ValueError):  # signals can be set only in the main thread
                replaced[name] = signal.signal(name, on_signal)
        try:
            yield
        finally:
            self._run = None
            for number, handler in replaced.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)


def run_until_complete(
    start: Callable[[Interrupts], Coroutine[object, object, Result]], interrupts: Interrupts | None = None
) -> Result:
    """Run a coroutine to its end, in a separate thread if this thread has a running event loop."""
    try:
        return _run(start) if interrupts is None else asyncio.run(start(interrupts))
    except asyncio.CancelledError:  # the coroutine ended itself after SIGTERM or Ctrl-C
        raise KeyboardInterrupt from None


def _run(start: Callable[[Interrupts], Coroutine[object, object, Result]]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start(Interrupts(signals=True)))
    interrupts = Interrupts(signals=False)
    is_watched = threading.Event()

    def run() -> Result:
        is_watched.wait()
        return asyncio.run(start(interrupts))

    with ThreadPoolExecutor(1, "hengwen-run") as pool:
        try:
            future = pool.submit(run)
        except KeyboardInterrupt:  # interrupted before the run started
            interrupts.request()
            is_watched.set()
            raise
        while not future.done():
            try:
                is_watched.set()
                wait([future], timeout=SIGNAL_SECONDS)
            except KeyboardInterrupt:
                interrupts.request()
        return future.result()


@contextmanager
def stop_after(stopping: asyncio.Event, seconds: float | None) -> Iterator[None]:
    """Set ``stopping`` when a time limit is reached."""
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
