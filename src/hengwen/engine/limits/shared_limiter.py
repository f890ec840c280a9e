"""A limiter whose slots and permissions per minute come from a pool that several processes share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hengwen.engine.limits.limit_pool import Demand, EndpointLimits, Grant
from hengwen.engine.limits.limiter import Limiter

if TYPE_CHECKING:
    from typing import TypeAlias

Sync: TypeAlias = Callable[[Demand], Awaitable[Grant]]
INTERVAL = 0.25
"""Seconds after which a process that makes calls requests its share of the limits again, even if it needs no
more."""
MIN_INTERVAL = 0.02
"""Minimum number of seconds between two requests of a process for its share of the limits."""


class SharedLimiter(Limiter):
    """Decide when each call to one endpoint may be sent, within the limits of all processes together.

    A pool divides the slots and permissions among the processes. A slot is room for one call that has no
    reply yet. A permission is a call or token that the limits per minute allow. The limiter keeps its slots
    while calls are made, and requests permissions for several calls at once. Therefore, it need not ask the
    pool before each call.

    Timeouts and refusals (status 429) lower the slots and the rate of this process only; each process reacts
    to its own timeouts and refusals.
    """

    def __init__(self, limits: EndpointLimits, sync: Sync, *, stopping: asyncio.Event | None = None) -> None:
        super().__init__(limits.concurrency, stopping=stopping)
        self._limits = limits
        self._sync = sync
        self._granted = 0
        self._calls = 0
        self._tokens = 0.0
        self._permits: deque[tuple[float, asyncio.Future[None]]] = deque()
        self._needs_more = asyncio.Event()
        self._renewal: asyncio.Task[None] | None = None

    @property
    def counts_tokens(self) -> bool:
        """Whether ``acquire`` needs the number of tokens of a call."""
        return self._limits.tpm is not None

    async def acquire(self, tokens: int = 0) -> int:
        """Wait until a call may be sent; return a ticket that identifies the call in other methods."""
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.ensure_future(self._renew())
        await self._acquire_permit(float(tokens))
        if self.in_flight >= self._slots():
            self._needs_more.set()
        return await super().acquire()

    def _slots(self) -> int:
        slots = super()._slots()
        return slots if self._stopping.is_set() else min(slots, self._granted)

    async def _acquire_permit(self, tokens: float) -> None:
        """Wait until the limits per minute allow the call; calls are allowed in the order of waiting."""
        if self._limits.rpm is None and self._limits.tpm is None:
            return
        needed = 0.0 if self._limits.tpm is None else min(max(tokens, 1.0), self._limits.tpm)
        permit = asyncio.get_running_loop().create_future()
        self._permits.append((needed, permit))
        self._give_permits()
        if not permit.done():
            self._needs_more.set()
        await permit

    def _give_permits(self) -> None:
        """Allow calls while there are permissions; a call that was cancelled needs none."""
        while self._permits:
            tokens, permit = self._permits[0]
            if not permit.done():
                lacks_call = self._limits.rpm is not None and self._calls < 1
                if not self._stopping.is_set() and (lacks_call or self._tokens < tokens):
                    return
                self._calls -= self._limits.rpm is not None
                self._tokens -= tokens
                permit.set_result(None)
            self._permits.popleft()

    async def _renew(self) -> None:
        """Request a share of the limits while calls are made; then return all slots (calls at a time)."""
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                self._needs_more.clear()
                self._apply(await self._sync(self._demand()))
                was_idle = self._is_idle()
                await asyncio.wait([stop], timeout=MIN_INTERVAL)
                request = asyncio.ensure_future(self._needs_more.wait())
                await asyncio.wait([stop, request], timeout=INTERVAL, return_when=asyncio.FIRST_COMPLETED)
                request.cancel()
                if was_idle and self._is_idle():
                    self._granted = 0
                    await self._sync(Demand())
                    if self._is_idle():  # no call came in the meantime
                        return
        except Exception:
            self._stopping.set()  # without the pool, no call can be sent, so the run stops
            raise
        finally:
            stop.cancel()
            self._wake_all()

    def _is_idle(self) -> bool:
        return not (self.in_flight or self._waiting or self._permits)

    def _demand(self) -> Demand:
        return Demand(
            slots=max(self._granted, self.in_flight),
            usable=self.in_flight + len(self._waiting) + len(self._permits),
            calls=0 if self._limits.rpm is None else max(0, len(self._permits) - self._calls),
            tokens=max(0.0, sum(tokens for tokens, _ in self._permits) - self._tokens),
        )

    def _apply(self, grant: Grant) -> None:
        self._granted = grant.slots
        self._calls += grant.calls
        self._tokens += grant.tokens
        self._wake_all()

    def _wake_all(self) -> None:
        self._give_permits()
        self._wake_waiters()
