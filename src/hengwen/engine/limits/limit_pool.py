"""Divide the limits of endpoints among several processes: calls at a time, calls and tokens per minute."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    """Number of slots (calls at a time) that the process has now.

    If the number is lower than before, no new call starts until enough open calls have ended.
    """
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

    A slot is room for one call that has no reply yet. A permission is a call or token that the limits per
    minute allow. A process requests permissions for several calls at once, and keeps its slots while it needs
    them. The slots of all processes together are never more than those of the endpoint.
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
