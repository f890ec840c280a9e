"""Slots fall after timeouts and rise with good replies; no call waits when the run is to stop."""

from __future__ import annotations

import asyncio

import pytest
from rows import each_row

from hengwen.engine.limits import Limiter
from hengwen.errors import BackendError

TIMEOUT = BackendError("slow", status="timeout", retryable=True)
REFUSAL = BackendError("too many", status="rate_limited", retryable=True)


async def hold(limiter: Limiter, seconds: float, counts: list[int]) -> None:
    await limiter.acquire()
    counts.append(limiter.in_flight)
    await asyncio.sleep(seconds)
    limiter.release()


async def test_calls_in_flight_never_exceed_the_limit() -> None:
    limiter = Limiter(3)
    counts: list[int] = []
    await asyncio.gather(*(hold(limiter, 0.001, counts) for _ in range(20)))
    assert (max(counts), len(counts), limiter.in_flight) == (3, 20, 0)


async def test_a_timeout_halves_the_limit_once_for_calls_in_flight() -> None:
    limiter = Limiter(8)
    limiter.on_success(await limiter.acquire())
    limiter.release()
    tickets = [await limiter.acquire() for _ in range(8)]
    for ticket in tickets:
        limiter.on_failure(ticket, TIMEOUT, 0.0)
    assert limiter.limit == 4
    for _ in tickets:
        limiter.release()
    limiter.on_failure(await limiter.acquire(), TIMEOUT, 0.0)
    assert limiter.limit == 2


async def test_the_limit_never_falls_below_one_and_never_passes_its_ceiling() -> None:
    limiter = Limiter(2)
    for _ in range(5):
        limiter.on_failure(await limiter.acquire(), TIMEOUT, 0.0)
        limiter.release()
    assert limiter.limit == 1
    for _ in range(50):
        limiter.on_success(1)
    assert limiter.limit == 2


async def test_a_round_of_good_replies_adds_about_one_slot() -> None:
    limiter = Limiter(100)
    limiter.limit = 10.0
    for _ in range(10):
        limiter.on_success(1)
    assert 10.9 < limiter.limit < 11


async def hold_for_a_minute(limiter: Limiter) -> None:
    """Let the endpoint refuse ten calls, and ask for a minute."""
    tickets = [await limiter.acquire() for _ in range(10)]
    for ticket in tickets:
        limiter.on_failure(ticket, REFUSAL, 60.0)
        limiter.release()


@pytest.mark.slow
async def test_no_call_is_delayed_when_the_run_is_to_stop() -> None:
    stopping = asyncio.Event()
    limiter = Limiter(10, stopping=stopping)
    await hold_for_a_minute(limiter)
    waiting = [asyncio.ensure_future(limiter.acquire()) for _ in range(3)]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in waiting)
    stopping.set()
    await asyncio.wait_for(asyncio.gather(*waiting), 30)


@each_row("rate", [{"rpm": 1}, {"tpm": 10}])
async def test_a_limit_per_minute_delays_no_call_when_the_run_is_to_stop(rate: dict[str, float]) -> None:
    stopping = asyncio.Event()
    limiter = Limiter(4, stopping=stopping, **rate)
    await limiter.acquire(tokens=10)
    waiting = asyncio.ensure_future(limiter.acquire(tokens=10))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    stopping.set()
    await asyncio.wait_for(waiting, 30)
    await asyncio.wait_for(limiter.acquire(tokens=10), 30)


async def test_a_call_cancelled_while_waiting_takes_no_slot() -> None:
    limiter = Limiter(1)
    await limiter.acquire()
    first, second = (asyncio.ensure_future(limiter.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    limiter.release()
    first.cancel()  # it was woken, and passes the slot on
    with pytest.raises(asyncio.CancelledError):
        await first
    await asyncio.wait_for(second, 30)
    assert limiter.in_flight == 1


async def test_calls_a_minute_are_spread() -> None:
    limiter = Limiter(10, rpm=600)
    loop = asyncio.get_running_loop()
    begin = loop.time()
    for _ in range(601):
        await limiter.acquire()
        limiter.release()
    assert loop.time() - begin >= 0.09


async def test_a_call_of_more_tokens_than_a_minute_allows_is_not_stuck_for_ever() -> None:
    limiter = Limiter(10, tpm=100)
    await asyncio.wait_for(limiter.acquire(tokens=5000), 30)
