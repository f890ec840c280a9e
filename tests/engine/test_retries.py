"""Waits before a retry: with jitter, longer each time, never longer than a minute."""

from __future__ import annotations

import random

import pytest

from hengwen.engine.limits import Limiter
from hengwen.engine.metered_backend import CallContext, Committer, LedgerBackend
from hengwen.errors import BackendError
from hengwen.records import Request


class Patient(CallContext):
    """Notes the pauses and continues at once."""

    def __init__(self, ledger) -> None:
        super().__init__(ledger, Committer(ledger), "r1")
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


class Slowed(Limiter):
    """Notes the refused calls with their waits, and the timeouts."""

    def __init__(self) -> None:
        super().__init__(4)
        self.waits: list[float] = []
        self.timeouts = 0

    def on_failure(self, ticket: int, error: BackendError, wait: float) -> bool:
        if error.status == "rate_limited":
            self.waits.append(wait)
        self.timeouts += error.status == "timeout"
        return False


async def pauses(bench, retries: int, calls: int = 1, **error: object) -> tuple[list[float], Slowed]:
    """Return the pauses before retries, and the limiter, where every call fails."""
    meter, limiter = Patient(bench.ledger), Slowed()
    oracle = bench.Oracle(answer=bench.refuse(retryable=True, **error))
    backend = LedgerBackend(meter, oracle, "judge", limiter, retries=retries)
    for number in range(calls):
        with pytest.raises(BackendError):
            await backend.complete(Request(messages=(("user", str(number)),)))
    assert oracle.calls == calls * (retries + 1)
    return meter.pauses, limiter


@pytest.mark.parametrize(
    ("retry_after", "waited"), [(0.0, 0.0), (7.5, 7.5), (60.0, 60.0), (61.0, 60.0), (86_400.0, 60.0)]
)
async def test_a_retry_waits_as_long_as_retry_after_but_a_minute_at_most(
    bench, retry_after: float, waited: float
) -> None:
    waits, limiter = await pauses(bench, 2, status="rate_limited", retry_after=retry_after)
    assert (waits, limiter.waits) == ([waited] * 2, [waited] * 3)


async def test_without_retry_after_each_wait_is_random(bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "uniform", random.Random(1).uniform)
    waits, limiter = await pauses(bench, 1, 40, status="timeout")
    assert len(set(waits)) == 40
    assert all(0 <= wait <= 0.5 for wait in waits)
    assert min(waits) < 0.1
    assert max(waits) > 0.4
    assert (limiter.waits, limiter.timeouts) == ([], 80)


async def test_the_longest_wait_doubles_with_each_retry_up_to_a_minute(
    bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: high)
    waits, _ = await pauses(bench, 9, status="timeout")
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize(
    ("status", "refused", "timeouts"),
    [("rate_limited", [0.0], 0), ("timeout", [], 1), ("transport_error", [], 0), ("refused", [], 0)],
)
async def test_only_a_rate_limit_or_a_timeout_slows_calls_down(
    bench, status: str, refused: list[float], timeouts: int
) -> None:
    _, limiter = await pauses(bench, 0, status=status)
    assert (limiter.waits, limiter.timeouts) == (refused, timeouts)


async def test_a_completed_call_is_no_longer_in_flight(bench) -> None:
    meter = Patient(bench.ledger)
    backend = bench.wrap(meter, bench.Oracle(), "judge")
    await backend.complete(Request(messages=(("user", "x"),)))
    assert meter.in_flight == {}
    assert backend._limiter.in_flight == 0
