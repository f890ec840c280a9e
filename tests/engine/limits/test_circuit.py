"""Outages of an endpoint on a simulated clock: calls wait, none is lost, and a dead endpoint is given up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from hengwen.engine.limits import Limiter
from hengwen.engine.metered_backend import CallContext, Committer, LedgerBackend
from hengwen.engine.recorder import MemoryLedger
from hengwen.errors import BackendError
from hengwen.records import Reply, Request, Usage

CALLS = 800
LATENCY = 0.4
SLOTS = 64

FAILURES = {
    "429": {"status": "rate_limited", "retryable": True, "retry_after": 1.0},
    "500": {"status": "transport_error", "retryable": True},
    "dropped": {"status": "transport_error", "retryable": True},
}
SILENCE = {"status": "timeout", "retryable": True}
TIMEOUT = 120.0


@dataclass
class Endpoint:
    """Replies after 0.4 s, but fails every call from ``start`` to ``end``."""

    failure: dict[str, object]
    start: float
    end: float
    poison: str = ""
    """A prompt for which the endpoint always fails."""
    sent: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)
    signature: str = "endpoint"
    endpoint: str = "endpoint"

    async def complete(self, request: Request) -> Reply:
        prompt = request.messages[0][1]
        self.sent[prompt] += 1
        now = asyncio.get_running_loop().time()
        if self.start <= now < self.end or prompt == self.poison:
            await asyncio.sleep(TIMEOUT if self.failure is SILENCE else 0.001)
            raise BackendError("no", **self.failure)
        await asyncio.sleep(LATENCY)
        self.good[prompt] += 1
        return Reply(text="1", usage=Usage(calls=1))

    async def close(self) -> None:
        pass


@pytest.fixture
def judge(instantly) -> Callable[..., tuple[float, list[BaseException | Reply]]]:
    """Make calls, 64 of them at a time; return the simulated seconds and the results."""

    def run(
        endpoint: Endpoint, count: int = CALLS, slots: int = SLOTS
    ) -> tuple[float, list[BaseException | Reply]]:
        results: list[BaseException | Reply] = []

        async def call_all() -> None:
            ledger = MemoryLedger()
            context = CallContext(ledger, Committer(ledger), "r1")
            backend = LedgerBackend(context, endpoint, "judge", Limiter(slots), retries=4)
            numbers = iter(range(count))

            async def work() -> None:
                for number in numbers:
                    try:
                        results.append(await backend.complete(Request(messages=(("user", str(number)),))))
                    except BackendError as error:
                        results.append(error)

            await asyncio.gather(*(work() for _ in range(slots + slots // 16)))

        return instantly(call_all()), results

    return run


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("seconds", [1, 4, 20])
def test_an_outage_costs_its_own_time_and_no_score(judge, kind: str, seconds: float) -> None:
    usual, _ = judge(Endpoint(FAILURES[kind], 0, 0))
    endpoint = Endpoint(FAILURES[kind], 2, 2 + seconds)
    total, results = judge(endpoint)
    assert all(isinstance(result, Reply) for result in results)
    assert len(results) == CALLS
    assert set(endpoint.good.values()) == {1}
    assert total <= seconds + 1.3 * usual


@pytest.mark.slow
def test_few_calls_are_sent_during_an_outage(judge) -> None:
    endpoint = Endpoint(FAILURES["500"], 2, 22)
    judge(endpoint)
    assert endpoint.sent.total() <= CALLS + 2 * SLOTS + 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAILURES)
def test_an_endpoint_that_never_comes_back_is_given_up_after_a_minute(judge, kind: str) -> None:
    total, results = judge(Endpoint(FAILURES[kind], 2, 10_000))
    assert 62 <= total <= 67
    errors = [result for result in results if isinstance(result, BackendError)]
    assert len(errors) > CALLS / 2
    assert "endpoint is unreachable" in str(errors[-1])


def test_an_endpoint_that_never_replied_is_given_up_sooner(judge) -> None:
    total, results = judge(Endpoint(FAILURES["dropped"], 0, 10_000))
    assert 10 <= total <= 13
    assert len(results) == CALLS


@pytest.mark.slow
@pytest.mark.parametrize("slots", [1, 8, 64])
def test_an_endpoint_that_never_answers_is_given_up_when_one_call_alone_has_no_answer(judge, slots) -> None:
    endpoint = Endpoint(SILENCE, 0, 10**9)
    total, results = judge(endpoint, CALLS, slots)
    assert 2 * TIMEOUT <= total <= 2 * TIMEOUT + 2
    assert len(results) == CALLS
    assert "endpoint is unreachable: 2 calls in a row got no reply" in str(results[-1])
    assert endpoint.sent.total() <= slots + 1


@pytest.mark.slow
def test_an_endpoint_that_answers_no_more_is_given_up(judge) -> None:
    total, results = judge(Endpoint(SILENCE, 2, 10**9), CALLS, 8)
    assert total <= 2 + 9 * TIMEOUT
    assert len(results) == CALLS


@pytest.mark.slow
def test_a_slow_start_and_a_silence_in_the_middle_cost_no_score(judge) -> None:
    for start, end in ((0, TIMEOUT), (2, 4 * TIMEOUT)):
        _, results = judge(Endpoint(SILENCE, start, end))
        assert all(isinstance(result, Reply) for result in results)


@pytest.mark.parametrize("slots", [1, 64])
def test_a_call_that_always_fails_ends_alone(judge, slots: int) -> None:
    endpoint = Endpoint(FAILURES["500"], 0, 0, poison="7")
    _, results = judge(endpoint, 100, slots)
    assert sum(isinstance(result, BackendError) for result in results) == 1
    assert endpoint.sent["7"] == 5
