"""Divide limits of endpoints (calls at a time, calls and tokens per minute) among several processes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

from hengwen.engine.limits.limiter import Limiter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias


MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointLimits:
    """Limits of an endpoint for all processes together."""

    concurrency: int
    """Maximum number of calls without a reply, >= 1."""
    rpm: float | None = None
    """Calls per minute, if they are limited."""
    tpm: float | None = None
    """Estimated tokens per minute, if they are limited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The slots (calls at a time) of a process at an endpoint, and the calls and tokens that it needs."""

    slots: int = 0
    """Number of slots (calls at a time) that the process has."""
    usable: int = 0
    """Number of slots that the process could use: its calls without a reply, and its calls that wait."""
    calls: int = 0
    """Number of waiting calls that still need a permission under the limit of calls per minute."""
    tokens: float = 0.0
    """Number of tokens that waiting calls still need under the limit of tokens per minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The slots (calls at a time), calls and tokens that a process may use at an endpoint after a request."""

    slots: int
    """Slots (calls at a time) of the process now; if they are fewer, it starts no call until calls end."""
    calls: int = 0
    """Number of further calls that the limit of calls per minute allows."""
    tokens: float = 0.0
    """Number of further tokens that the limit of tokens per minute allows."""


@dataclass(slots=True)
class _Bucket:
    """Permissions for calls or tokens: they refill steadily, up to the number for one minute."""

    per_minute: float
    level: float
    filled_at: float

    def take(self, amount: float, share: int, now: float) -> float:
        """Return how many of ``amount`` requested tokens a process gets."""
        refill = (now - self.filled_at) * self.per_minute / MINUTE
        self.level = min(self.per_minute, self.level + refill)
        self.filled_at = now
        allowed = min(amount, self.level / share)
        self.level -= allowed
        return allowed

    def take_whole(self, amount: int, share: int, now: float) -> int:
        """Return how many of ``amount`` requested calls a process gets."""
        self.take(0, 1, now)
        allowed = min(amount, ceil(self.level / share), int(self.level))
        self.level -= allowed
        return allowed


@dataclass(slots=True)
class _Endpoint:
    """Slots (calls at a time) of one endpoint by process, and its limits of calls and tokens per minute."""

    concurrency: int
    calls: _Bucket | None
    tokens: _Bucket | None
    held: dict[str, int] = field(default_factory=dict)
    usable: dict[str, int] = field(default_factory=dict)

    def slots_for(self, worker: str, demand: Demand) -> int:
        """Return how many slots a process may use now."""
        self.held[worker], self.usable[worker] = demand.slots, demand.usable
        starved = any(self.usable[name] > self.held[name] for name in self.held if name != worker)
        target = fair_shares(self.concurrency, self.usable)[worker] if starved else demand.usable
        if target > demand.slots:
            free = self.concurrency - sum(self.held.values())
            self.held[worker] += min(free, target - demand.slots)
            return self.held[worker]
        return target if starved or not demand.usable else demand.slots

    def permitted(self, demand: Demand, now: float) -> tuple[int, float]:
        """Return how many calls and tokens the limits per minute allow a process now."""
        share = max(1, sum(usable > 0 for usable in self.usable.values()))
        calls = self.calls.take_whole(demand.calls, share, now) if self.calls else 0
        tokens = self.tokens.take(demand.tokens, share, now) if self.tokens else 0.0
        return calls, tokens


class LimitPool:
    """The limits of all endpoints of a run, which several processes share.

    A slot is room for one call without a reply; a process keeps its slots while it needs them. A permission
    is a call or token that the limits per minute allow, requested for several calls at once.
    """

    def __init__(
        self, limits: Mapping[str, EndpointLimits], *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._clock = clock
        self._forgotten: set[str] = set()
        now = clock()
        self._endpoints = {
            name: _Endpoint(limit.concurrency, _full(limit.rpm, now), _full(limit.tpm, now))
            for name, limit in limits.items()
        }

    def sync(self, worker: str, endpoint: str, demand: Demand) -> Grant:
        """Return how many slots, calls and tokens a process may use at an endpoint."""
        if worker in self._forgotten:  # the process was killed while its last request was on its way
            return Grant(slots=0)
        state = self._endpoints[endpoint]
        slots = state.slots_for(worker, demand)
        calls, tokens = state.permitted(demand, self._clock())
        return Grant(slots=slots, calls=calls, tokens=tokens)

    def forget(self, worker: str) -> None:
        """Let the other processes use the slots of a process that has ended or was killed."""
        self._forgotten.add(worker)
        for endpoint in self._endpoints.values():
            endpoint.held.pop(worker, None)
            endpoint.usable.pop(worker, None)


def fair_shares(total: int, usable: Mapping[str, int]) -> dict[str, int]:
    """Divide slots evenly among processes; slots that a process cannot use go to the other processes."""
    shares: dict[str, int] = {}
    for name, amount in sorted(usable.items(), key=lambda item: (item[1], item[0])):
        shares[name] = min(amount, total // (len(usable) - len(shares)))
        total -= shares[name]
    return shares


def _full(per_minute: float | None, now: float) -> _Bucket | None:
    return None if per_minute is None else _Bucket(per_minute, per_minute, now)


Sync: TypeAlias = Callable[[Demand], Awaitable[Grant]]
INTERVAL = 0.25
"""Seconds after which a process that makes calls requests its share of the limits again."""
MIN_INTERVAL = 0.02
"""Minimum number of seconds between two requests of a process for its share of the limits."""


class SharedLimiter(Limiter):
    """Decide when each call to one endpoint may be sent, within the limits of all processes together.

    Timeouts and refusals (status 429) lower the slots and the rate of this process only.
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
