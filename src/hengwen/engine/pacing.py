"""Pacing of a run: samples in progress, turns of the event loop, commits.

All constants come from measurements.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque

PREFETCH_RATIO = 16
"""One sample is prefetched for this many calls in flight, so that its request is ready when a call ends. With
more prefetched samples, replies would wait unread, and a killed process would lose them."""
START_STAGGER_TICKS = 2
"""Iterations of the event loop between the starts of two workers, so that their first calls differ in time.

Calls that start together are answered together, and the client is idle between these bursts."""
MAX_BLOCKING_SECONDS = 0.01
"""Seconds that evaluations may block the event loop before pending calls get a turn."""
PY311_EXTRA_TICK = sys.version_info < (3, 12)
"""Whether a request is sent one iteration of the event loop after the call.

Before Python 3.12 aiohttp sends a request in a separate task; see ``FairScheduler``."""
COMMIT_INTERVAL = 0.01
"""Seconds between two commits of all records. After a crash, rows written since the last commit are
recomputed from the stored replies. Longer intervals write less, but each commit blocks calls for longer."""
MAX_UNCOMMITTED_PAID = 3
"""Maximum number of paid replies in one commit; fewer are committed in the next iteration of the loop."""


def worker_count(concurrency: int, total: int) -> int:
    """Return the number of samples in progress at the same time.

    Args:
        concurrency: Calls in flight, >= 1.
        total: Number of samples.

    Examples:
        >>> worker_count(8, 100), worker_count(32, 100), worker_count(32, 5)
        (8, 34, 5)
    """
    return min(concurrency + concurrency // PREFETCH_RATIO, total)


async def stagger_start() -> None:
    """Wait for the iterations of the event loop between the starts of two workers."""
    for _ in range(START_STAGGER_TICKS):
        await asyncio.sleep(0)


class LoopYielder:
    """Let the event loop run when evaluations have blocked it for too long.

    An instance must be created in a running event loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last_turn = self._loop.time()

    async def yield_if_due(self) -> None:
        """Let pending calls proceed if the event loop last ran more than ``MAX_BLOCKING_SECONDS`` ago."""
        if self._loop.time() - self._last_turn > MAX_BLOCKING_SECONDS:
            await asyncio.sleep(0)
            self._last_turn = self._loop.time()


class FairScheduler:
    """Let one coroutine proceed per iteration of the event loop, in the order of the requests.

    Replies often arrive together. If all were processed in one iteration, the next calls would be sent
    together and answered together. The endpoint would get bursts of calls, with idle time between them.

    Examples:
        >>> async def work(scheduler, number, log):
        ...     await scheduler.take_turn()
        ...     log.append(number)
        ...     await asyncio.sleep(0)  # continues in the next iteration, before another coroutine starts
        ...     log.append(-number)
        >>> async def run(scheduler, log):
        ...     await asyncio.gather(*(work(scheduler, number, log) for number in (1, 2, 3)))
        ...     return log
        >>> asyncio.run(run(FairScheduler(), []))
        [1, -1, 2, -2, 3, -3]
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._turn_taken = False

    async def take_turn(self) -> None:
        """Return at once if no other coroutine has proceeded in this iteration, else in a later iteration."""
        loop = asyncio.get_running_loop()
        if not self._turn_taken:
            self._turn_taken = True
            loop.call_soon(self._start_next_turn)
            return
        waiter = loop.create_future()
        self._waiting.append(waiter)
        await waiter

    def _start_next_turn(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                asyncio.get_running_loop().call_soon(self._start_next_turn)
                return
        self._turn_taken = False
