"""Pacing of a run: how many samples are in progress, when the event loop may run, and when to commit.

All constants in this module come from measurements.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.protocols import Ledger


PREFETCH_RATIO = 16
"""For this many concurrent calls, one more sample is started early; a killed process may lose its reply."""
START_STAGGER_TICKS = 2
"""Iterations of the loop between the starts of two workers: calls sent together are answered together."""
MAX_BLOCKING_SECONDS = 0.01
"""Seconds for which evaluations may block the event loop; after that, waiting calls proceed."""
PY311_EXTRA_TICK = sys.version_info < (3, 12)
"""Whether aiohttp sends a request an iteration late: before Python 3.12, it does so in a task."""
COMMIT_INTERVAL = 0.01
"""Seconds between two commits of all records; after a crash, later scores are recomputed from replies."""
MAX_UNCOMMITTED_PAID = 3
"""Number of uncommitted paid replies that are committed at once, not in the next iteration of the loop."""


def worker_count(concurrency: int, total: int) -> int:
    """Return the number of samples in progress at the same time."""
    return min(concurrency + concurrency // PREFETCH_RATIO, total)


async def stagger_start() -> None:
    """Wait for ``START_STAGGER_TICKS`` iterations of the event loop before the next worker starts."""
    for _ in range(START_STAGGER_TICKS):
        await asyncio.sleep(0)


class LoopYielder:
    """Let the event loop, in which this is created, run when evaluations have blocked it for too long."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last_turn = self._loop.time()

    async def yield_if_due(self) -> None:
        """Let waiting calls proceed if the event loop was blocked longer than ``MAX_BLOCKING_SECONDS``."""
        if self._loop.time() - self._last_turn > MAX_BLOCKING_SECONDS:
            await asyncio.sleep(0)
            self._last_turn = self._loop.time()


class FairScheduler:
    """Let one coroutine proceed per iteration of the event loop, in the order of requests.

    Replies often arrive together; processed in one iteration, they would lead to bursts of calls.
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


class Committer:
    """Schedule commits; if a commit fails, the next method call on this object raises the error."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._scheduled: asyncio.TimerHandle | None = None
        self._uncommitted_paid = 0
        self._not_before = 0.0
        self._error: Exception | None = None

    def schedule_commit(self, *, paid: bool = False) -> None:
        """Schedule a commit, because something was recorded."""
        self.check()
        self._uncommitted_paid += paid
        if self._uncommitted_paid >= MAX_UNCOMMITTED_PAID:
            self._commit_paid()
            self.check()
        elif paid and self._uncommitted_paid == 1:
            asyncio.get_running_loop().call_soon(self._commit_paid)
        if self._scheduled is None:
            delay = max(0.0, self._not_before - monotonic())
            self._scheduled = asyncio.get_running_loop().call_later(delay, self._commit)

    def _commit_paid(self) -> None:
        """Commit the paid replies; if the process is killed before this, the run must pay for them again."""
        if self._uncommitted_paid:
            self._try(self._ledger.commit_attempts)

    def check(self) -> None:
        """Raise the error of an earlier commit, if there was one."""
        if self._error is not None:
            raise self._error

    def flush(self) -> None:
        """Commit all pending records, and raise the error of a failed commit."""
        self._commit()
        self.check()

    def _commit(self) -> None:
        if self._scheduled is not None:
            self._scheduled.cancel()
        self._scheduled = None
        self._try(self._ledger.commit)
        self._not_before = monotonic() + COMMIT_INTERVAL

    def _try(self, commit: Callable[[], None]) -> None:
        self._uncommitted_paid = 0
        if self._error is not None:
            return
        try:
            commit()
        except Exception as error:  # check() raises the error later; here nothing would catch it
            self._error = error
