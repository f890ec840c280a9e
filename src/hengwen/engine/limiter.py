"""Limits of the calls to one endpoint: concurrency that adapts, and rates of calls and tokens."""

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

    Every good reply adds 1/limit, so a round of them adds one slot. ``on_throttle`` halves the limit, at most
    once for calls that were in flight together, and delays all calls for as long as the endpoint asked.

    Args:
        ceiling: Maximum number of calls in flight, >= 1, and the initial limit.
        rpm: Calls per minute, if the endpoint limits them.
        tpm: Estimated tokens per minute, if the endpoint limits them.
        stopping: When it is set, no call is delayed any more.
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
        self._last_ticket = 0
        self._throttled_ticket = 0
        self._not_before = 0.0
        self._rpm = _per_minute(rpm)
        self._tpm = _per_minute(tpm)

    @property
    def counts_tokens(self) -> bool:
        """Whether ``acquire`` needs the number of tokens of a call."""
        return self._tpm is not None

    async def acquire(self, tokens: int = 0) -> int:
        """Wait for a slot; return a ticket for ``on_throttle``.

        Args:
            tokens: Estimated tokens of the call.
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
                    self._wake_waiters()
                raise
        self.in_flight += 1
        self._last_ticket += 1
        return self._last_ticket

    async def _wait_until_allowed(self) -> None:
        loop = asyncio.get_running_loop()
        while (remaining := self._not_before - loop.time()) > 0 and not self._stopping.is_set():
            await interruptible_sleep(remaining, self._stopping)
        self._not_before = 0.0

    def release(self) -> None:
        """Return a slot."""
        self.in_flight -= 1
        self._wake_waiters()

    def on_success(self) -> None:
        """Raise the limit by 1/limit after a good reply."""
        if self.limit < self.ceiling:
            self.limit = min(float(self.ceiling), self.limit + 1.0 / self.limit)
            self._wake_waiters()

    def on_throttle(self, ticket: int, wait: float | None = None) -> None:
        """Halve the limit after a rate limit or a timeout.

        Args:
            ticket: Ticket of the failed call.
            wait: Seconds that the endpoint asked to wait.
        """
        if ticket > self._throttled_ticket:
            self._throttled_ticket = self._last_ticket
            self.limit = max(1.0, self.limit / 2)
        if wait:
            self._not_before = max(self._not_before, asyncio.get_running_loop().time() + wait)

    def _wake_waiters(self) -> None:
        free = int(self.limit) - self.in_flight
        while free > 0 and self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1


async def interruptible_sleep(seconds: float, stopping: asyncio.Event) -> None:
    """Sleep until the time is over or the event is set.

    Args:
        seconds: Duration.
        stopping: Event that ends the sleep early.
    """
    with suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), seconds)


def _per_minute(rate: float | None) -> AsyncLimiter | None:
    if rate is None:
        return None
    from aiolimiter import AsyncLimiter

    return AsyncLimiter(rate, MINUTE)
