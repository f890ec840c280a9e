"""How many calls an endpoint gets at a time: fewer when it asks to slow down, more again when it keeps up."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

MINUTE = 60.0


class Limiter:
    """Slots for the calls to one endpoint, by additive increase and multiplicative decrease.

    Every good reply adds 1/limit, so that a round of them adds one slot; ``slow_down`` halves the limit, at
    most once for calls that were in flight together, and holds all calls back for as long as it was asked to.

    Args:
        ceiling: Most calls in flight, >= 1; where it starts.
        rpm: Calls a minute, if the endpoint allows only so many.
        tpm: Tokens a minute, by estimate.
        stopping: Where it is set, nobody is held back any more.
    """

    def __init__(
        self,
        ceiling: int,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        stopping: asyncio.Event | None = None,
    ) -> None:
        self._stopping = stopping or asyncio.Event()
        self.ceiling = max(1, ceiling)
        self.limit = float(self.ceiling)
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._started = 0
        self._slowed_at = 0
        self._not_before = 0.0
        self._rpm = _per_minute(rpm)
        self._tpm = _per_minute(tpm)

    @property
    def counts_tokens(self) -> bool:
        """Whether it must be told how many tokens a call takes."""
        return self._tpm is not None

    async def acquire(self, tokens: int = 0) -> int:
        """Wait for a slot; return a ticket for ``slow_down``.

        Args:
            tokens: Of the call, by estimate.
        """
        if self._rpm is not None:
            await self._rpm.acquire()
        if self._tpm is not None:
            await self._tpm.acquire(min(max(tokens, 1), self._tpm.max_rate))
        while True:
            if self._not_before:
                await self._wait_until_allowed()
            if self.in_flight < int(self.limit):
                break
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
                else:
                    self._wake()
                raise
        self.in_flight += 1
        self._started += 1
        return self._started

    async def _wait_until_allowed(self) -> None:
        loop = asyncio.get_running_loop()
        while (left := self._not_before - loop.time()) > 0 and not self._stopping.is_set():
            await pause(left, self._stopping)
        self._not_before = 0.0

    def release(self) -> None:
        """Give a slot back."""
        self.in_flight -= 1
        self._wake()

    def keep_up(self) -> None:
        """A good reply came."""
        if self.limit < self.ceiling:
            self.limit = min(float(self.ceiling), self.limit + 1.0 / self.limit)
            self._wake()

    def slow_down(self, ticket: int, wait: float | None = None) -> None:
        """The endpoint asked for less.

        Args:
            ticket: Of the call that was told so.
            wait: Seconds that it asked for.
        """
        if ticket > self._slowed_at:
            self._slowed_at = self._started
            self.limit = max(1.0, self.limit / 2)
        if wait:
            self._not_before = max(self._not_before, asyncio.get_running_loop().time() + wait)

    def _wake(self) -> None:
        free = int(self.limit) - self.in_flight
        while free > 0 and self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1


async def pause(seconds: float, stopping: asyncio.Event) -> None:
    """Sleep, but not longer than until a run is to stop."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


def _per_minute(rate: float | None) -> AsyncLimiter | None:
    if rate is None:
        return None
    from aiolimiter import AsyncLimiter

    return AsyncLimiter(rate, MINUTE)
