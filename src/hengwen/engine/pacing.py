"""Pacing of a run: how many samples are in progress, when the event loop may run, and when to commit.

All constants in this module come from measurements.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque

PREFETCH_RATIO = 16
"""For this many concurrent calls, one additional sample is started early, so that its request is ready when a
call ends. If more samples were started early, replies would wait unread, and a killed process would lose
them."""
START_STAGGER_TICKS = 2
"""Iterations of the event loop between the starts of two workers, so that their first calls are not sent
together. Calls that are sent together are also answered together, and the client would be idle until then."""
MAX_BLOCKING_SECONDS = 0.01
"""Seconds for which evaluations may block the event loop; after that, waiting calls proceed."""
PY311_EXTRA_TICK = sys.version_info < (3, 12)
"""Whether aiohttp sends a request one iteration of the event loop late, because before Python 3.12 it sends
requests in a separate task."""
COMMIT_INTERVAL = 0.01
"""Seconds between two commits of all records. After a crash, scores written since the last commit are
recomputed from the stored replies. With longer intervals less is written in total, but each commit blocks
calls for longer."""
MAX_UNCOMMITTED_PAID = 3
"""When this many paid replies are uncommitted, they are committed at once; fewer paid replies are committed
in the next iteration of the event loop."""


def worker_count(concurrency: int, total: int) -> int:
    """Return the number of samples in progress at the same time."""
    return min(concurrency + concurrency // PREFETCH_RATIO, total)


async def stagger_start() -> None:
    """Wait for ``START_STAGGER_TICKS`` iterations of the event loop before the next worker starts."""
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
        """Let waiting calls proceed if the event loop was blocked longer than ``MAX_BLOCKING_SECONDS``."""
        if self._loop.time() - self._last_turn > MAX_BLOCKING_SECONDS:
            await asyncio.sleep(0)
            self._last_turn = self._loop.time()


class FairScheduler:
    """Let one coroutine proceed per iteration of the event loop, in the order in which turns were requested.

    Replies often arrive together. If all replies were processed in one iteration, the next calls would be
    sent together and answered together. Without the scheduler, the endpoint would get bursts of calls with
    idle time between them.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._turn_taken = False

    async def take_turn(self) -> None:
        """Wait until no other coroutine has proceeded in the present iteration of the event loop."""
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
