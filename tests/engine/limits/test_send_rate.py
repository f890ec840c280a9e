"""How fast calls are sent to an endpoint that refuses some: counts and seconds on a simulated clock."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

import pytest

from hengwen.engine.limits import Limiter, SendRate
from hengwen.engine.metered_backend import CallContext, Committer, LedgerBackend
from hengwen.errors import BackendError
from hengwen.records import Reply, Request, Usage

Instantly = Callable[..., float]


@dataclass
class Endpoint:
    """Answers after 50 ms and a little; refuses or fails a share of calls, or allows a few a second."""

    refuse: float = 0.0
    fail: float = 0.0
    rate: float | None = None
    burst: float = 20.0
    latency: float = 0.05
    retry_after: float | None = 1.0
    counts: Counter[str] = field(default_factory=Counter)
    sent: list[float] = field(default_factory=list)
    draw: random.Random = field(default_factory=lambda: random.Random(7))
    signature: str = "endpoint"
    endpoint: str = "endpoint"
    _filled_at: float = 0.0

    async def complete(self, request: Request) -> Reply:
        now = asyncio.get_running_loop().time()
        self.sent.append(now)
        drawn = self.draw.random()
        if drawn < self.refuse or not self.allows(now):
            self.counts["refused"] += 1
            await asyncio.sleep(0.001)
            raise BackendError("slow", status="rate_limited", retryable=True, retry_after=self.retry_after)
        await asyncio.sleep(self.latency * (1 + 0.1 * drawn))
        if drawn < self.refuse + self.fail:
            self.counts["failed"] += 1
            raise BackendError("oops", status="transport_error", retryable=True)
        self.counts["good"] += 1
        return Reply(text="1", usage=Usage(calls=1))

    def allows(self, now: float) -> bool:
        if self.rate is None:
            return True
        self.burst = min(20.0, self.burst + (now - self._filled_at) * self.rate)
        self._filled_at = now
        if self.burst < 1:
            return False
        self.burst -= 1
        return True

    async def close(self) -> None:
        pass


@pytest.fixture
def judge(bench, instantly: Instantly, monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """Make calls, 64 of them at a time, and return the simulated seconds."""
    monkeypatch.setattr(random, "uniform", random.Random(3).uniform)

    def run(endpoint: Endpoint, count: int, slots: int = 64) -> float:
        async def call_all() -> None:
            context = CallContext(bench.ledger, Committer(bench.ledger), "r1")
            backend = LedgerBackend(context, endpoint, "judge", Limiter(slots), retries=6)
            numbers = iter(range(count))

            async def work(start: float) -> None:
                await asyncio.sleep(start)
                for number in numbers:
                    await backend.complete(Request(messages=(("user", str(number)),)))

            await asyncio.gather(*(work(0.0005 * worker) for worker in range(slots + slots // 16)))

        seconds = instantly(call_all())
        assert endpoint.counts["good"] == count
        return seconds

    return run


@pytest.mark.slow
def test_occasional_refusals_and_failures_do_not_slow_the_others_down(judge) -> None:
    endpoint = Endpoint(refuse=0.05, fail=0.05)
    seconds = judge(endpoint, 1000)
    assert endpoint.counts["refused"] >= 40
    assert endpoint.counts["failed"] >= 40
    assert seconds <= 6


@pytest.mark.slow
@pytest.mark.parametrize("retry_after", [1.0, None])
def test_of_twenty_calls_a_second_ninety_percent_are_used_and_few_are_refused(judge, retry_after) -> None:
    endpoint = Endpoint(rate=20.0, retry_after=retry_after)
    seconds = judge(endpoint, 600)
    assert 600 / 20 / seconds >= 0.9
    assert endpoint.counts["refused"] <= 0.05 * endpoint.counts.total()


@pytest.mark.slow
def test_a_limit_of_hundreds_a_second_is_found_within_seconds(judge) -> None:
    endpoint = Endpoint(rate=300.0)
    seconds = judge(endpoint, 2000)
    assert 2000 / 300 / seconds >= 0.6
    assert endpoint.counts["refused"] <= 0.05 * endpoint.counts.total()


def test_a_call_that_is_always_refused_waits_as_long_as_the_endpoint_asks(judge) -> None:
    endpoint = Endpoint(refuse=1.0, retry_after=30.0)
    with pytest.raises(BackendError):
        judge(endpoint, 1)
    assert len(endpoint.sent) == 7
    assert endpoint.sent[-1] >= 6 * 30


def refused(send_rate: SendRate, *tickets: int, last: int, now: float = 0.0, wait: float = 5.0) -> None:
    for ticket in tickets:
        send_rate.on_refused(ticket, last_ticket=last, in_flight=10, wait=wait, now=now)


def test_two_refusals_change_nothing_and_a_quarter_of_the_calls_halves_the_rate() -> None:
    send_rate = SendRate()
    for ticket in range(1, 11):
        send_rate.on_good(ticket, now=0.5)
    refused(send_rate, 18, 19, last=20)
    assert send_rate.rate == inf
    refused(send_rate, 20, last=20)
    assert send_rate.rate == inf  # 3 of 20
    refused(send_rate, 21, 22, last=25, now=0.6)
    assert send_rate.rate == 10  # ten good ones and ten in flight within a second, and half of that
    assert send_rate.next_at() == pytest.approx(0.7)


def test_all_calls_are_held_only_if_calls_sent_after_a_refusal_are_refused_as_well() -> None:
    send_rate = SendRate()
    refused(send_rate, 1, 2, 3, last=10, now=1.0)
    assert (send_rate.rate, send_rate.next_at()) == (5, 1.2)
    refused(send_rate, 4, 5, 6, 7, last=10, now=1.1)  # sent before the rate was lowered
    assert (send_rate.rate, send_rate.next_at()) == (5, 1.2)
    send_rate.on_good(12, now=2.0)
    refused(send_rate, 11, 13, 14, last=14, now=2.0)
    assert (send_rate.rate, send_rate.next_at()) == (pytest.approx(2.5), 7.0)


def test_an_endpoint_that_refuses_every_call_does_not_lower_the_rate_further() -> None:
    send_rate = SendRate()
    refused(send_rate, 1, 2, 3, last=10, now=1.0)
    for second in range(2, 22):
        first = 5 + 3 * second
        refused(send_rate, first, first + 1, first + 2, last=first + 2, now=float(second), wait=1.0)
    assert (send_rate.rate, send_rate.next_at()) == (5, 22.0)


def test_good_replies_raise_the_rate_only_while_it_limits_the_calls() -> None:
    send_rate = SendRate()
    refused(send_rate, 1, 2, 3, last=3)
    send_rate.on_good(4, now=0.01)
    assert send_rate.rate == pytest.approx(5 * 1.03)
    send_rate.on_good(5, now=9.0)
    assert send_rate.rate == pytest.approx(5 * 1.03)


def test_a_call_that_is_sent_late_does_not_bring_many_others_forward() -> None:
    send_rate = SendRate()
    refused(send_rate, 1, 2, 3, last=3)
    send_rate.on_sent(now=10.0)
    assert send_rate.next_at() == pytest.approx(10.0 - 0.02 + 1 / 5)
