"""Several limiters on one pool: together within the limits, with few requests, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from rows import each_row

from hengwen.engine.limits import limit_pool
from hengwen.engine.limits.limit_pool import Demand, EndpointLimits, Grant, LimitPool, SharedLimiter
from hengwen.errors import BackendError


class Process:
    """A limiter of one process, with the number of its requests to the pool and of its slots."""

    def __init__(
        self, name: str, pool: LimitPool, limits: EndpointLimits, stopping: asyncio.Event | None = None
    ) -> None:
        self.name, self.pool, self.requests, self.slots = name, pool, 0, 0
        self.limiter = SharedLimiter(limits, self.sync, stopping=stopping)

    async def sync(self, demand: Demand) -> Grant:
        self.requests += 1
        await asyncio.sleep(0)
        grant = self.pool.sync(self.name, "e", demand)
        self.slots = max(demand.slots, grant.slots)  # slots that are not wanted back yet count too
        return grant


class Endpoint:
    """Counts calls at a time and calls of each process."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.calls: dict[str, int] = {}

    @asynccontextmanager
    async def call(self, process: Process, tokens: int = 0) -> AsyncIterator[None]:
        await process.limiter.acquire(tokens)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            yield
        finally:
            self.now -= 1
            self.calls[process.name] = self.calls.get(process.name, 0) + 1
            process.limiter.release()

    async def make(self, process: Process, count: int, seconds: float = 0.0, tokens: int = 0) -> None:
        async def one_call() -> None:
            async with self.call(process, tokens):
                await asyncio.sleep(seconds)

        await asyncio.gather(*(one_call() for _ in range(count)))


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_pool, "INTERVAL", 0.01)
    monkeypatch.setattr(limit_pool, "MIN_INTERVAL", 0.001)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - the pool has no event
            await asyncio.sleep(0.002)


def processes(limits: EndpointLimits, names: str = "ab") -> list[Process]:
    pool = LimitPool({"e": limits})
    return [Process(name, pool, limits) for name in names]


async def test_processes_together_stay_within_the_slots_and_all_finish() -> None:
    endpoint = Endpoint()
    workers = processes(EndpointLimits(concurrency=5), "abc")
    await asyncio.wait_for(asyncio.gather(*(endpoint.make(worker, 60, 0.001) for worker in workers)), 20)
    assert endpoint.most <= 5
    assert endpoint.calls == {"a": 60, "b": 60, "c": 60}


async def test_one_slot_serves_all_processes() -> None:
    endpoint = Endpoint()
    workers = processes(EndpointLimits(concurrency=1), "abc")
    await asyncio.wait_for(asyncio.gather(*(endpoint.make(worker, 5) for worker in workers)), 20)
    assert (endpoint.most, endpoint.calls) == (1, {"a": 5, "b": 5, "c": 5})


async def test_calls_cost_far_fewer_requests_than_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_pool, "INTERVAL", 60.0)
    (worker,) = processes(EndpointLimits(concurrency=10), "a")
    await Endpoint().make(worker, 2000)
    assert worker.requests <= 3


async def test_an_idle_process_gives_its_slots_back() -> None:
    worker, other = processes(EndpointLimits(concurrency=4))
    await Endpoint().make(worker, 4)
    await until(lambda: not worker.slots)
    await asyncio.wait_for(Endpoint().make(other, 4), 20)
    await asyncio.wait_for(Endpoint().make(worker, 4), 20)


async def test_a_call_that_comes_while_slots_are_given_back_does_not_wait_for_ever() -> None:
    (worker,) = processes(EndpointLimits(concurrency=1), "a")
    sync = worker.limiter._sync
    came: list[asyncio.Task[None]] = []

    async def slow_return(demand: Demand) -> Grant:
        if demand == Demand() and not came:
            came.append(asyncio.ensure_future(Endpoint().make(worker, 1)))
            await asyncio.sleep(0.01)
        return await sync(demand)

    worker.limiter._sync = slow_return
    await Endpoint().make(worker, 1)
    await until(lambda: bool(came))
    await asyncio.wait_for(came[0], 20)


async def test_the_slots_of_a_killed_process_serve_the_others() -> None:
    worker, other = processes(EndpointLimits(concurrency=2))
    for _ in range(2):
        await worker.limiter.acquire()
    calls = asyncio.ensure_future(Endpoint().make(other, 3))
    await asyncio.sleep(0.05)
    assert not calls.done()
    assert worker.limiter._renewal is not None
    worker.limiter._renewal.cancel()  # it was killed: it asks for nothing any more
    worker.pool.forget("a")
    await asyncio.wait_for(calls, 20)


async def test_calls_per_minute_hold_for_all_processes() -> None:
    class Clock:
        now = 0.0

    limits = EndpointLimits(concurrency=50, rpm=30)
    pool = LimitPool({"e": limits}, clock=lambda: Clock.now)
    workers = [Process(name, pool, limits) for name in "ab"]
    endpoint = Endpoint()
    calls = asyncio.gather(*(endpoint.make(worker, 25) for worker in workers))
    await until(lambda: sum(endpoint.calls.values()) >= 30)
    await asyncio.sleep(0.05)
    assert sum(endpoint.calls.values()) == 30
    Clock.now = 20.0
    await until(lambda: sum(endpoint.calls.values()) >= 40)
    await asyncio.sleep(0.05)
    assert sum(endpoint.calls.values()) == 40
    Clock.now = 60.0
    await asyncio.wait_for(calls, 20)


async def test_tokens_per_minute_delay_calls_in_their_order() -> None:
    class Clock:
        now = 0.0

    limits = EndpointLimits(concurrency=50, tpm=100)
    pool = LimitPool({"e": limits}, clock=lambda: Clock.now)
    worker = Process("a", pool, limits)
    assert worker.limiter.counts_tokens
    order: list[int] = []

    async def call(tokens: int) -> None:
        async with Endpoint().call(worker, tokens):
            order.append(tokens)

    calls = [asyncio.ensure_future(call(tokens)) for tokens in (70, 60, 10, 500)]
    await until(lambda: len(order) >= 1)
    await asyncio.sleep(0.05)
    assert order == [70]  # 30 are left, and the call with 10 waits behind the one with 60
    Clock.now = 30.0
    await until(lambda: len(order) >= 3)
    assert order == [70, 60, 10]
    Clock.now = 90.0  # 500 tokens count as the 100 of a minute
    await asyncio.wait_for(asyncio.gather(*calls), 20)


async def test_a_call_that_is_cancelled_while_it_waits_takes_nothing() -> None:
    class Clock:
        now = 0.0

    limits = EndpointLimits(concurrency=1, rpm=2)
    pool = LimitPool({"e": limits}, clock=lambda: Clock.now)
    worker = Process("a", pool, limits)
    await worker.limiter.acquire()
    waiting = [asyncio.ensure_future(worker.limiter.acquire()) for _ in range(3)]
    await asyncio.sleep(0.02)
    for task in waiting[1:]:
        task.cancel()
    worker.limiter.release()
    await asyncio.wait_for(waiting[0], 20)
    worker.limiter.release()
    assert worker.limiter.in_flight == 0
    Clock.now = 30.0
    await asyncio.wait_for(worker.limiter.acquire(), 20)


@each_row("limits", [{"concurrency": 1}, {"concurrency": 4, "rpm": 1}, {"concurrency": 4, "tpm": 9}])
async def test_no_call_waits_when_the_run_is_to_stop(limits: dict) -> None:
    stopping = asyncio.Event()
    shared = EndpointLimits(**limits)
    pool = LimitPool({"e": shared})
    other, worker = Process("b", pool, shared), Process("a", pool, shared, stopping)
    await other.limiter.acquire(9)
    calls = [asyncio.ensure_future(worker.limiter.acquire(9)) for _ in range(3)]
    await asyncio.sleep(0.03)
    assert not all(call.done() for call in calls)
    stopping.set()
    await asyncio.sleep(0.03)
    worker.limiter.release()
    await asyncio.wait_for(calls[0], 20)


async def test_a_pool_that_cannot_be_reached_stops_the_run() -> None:
    async def broken(demand: Demand) -> Grant:
        raise ConnectionError("the pool is gone")

    stopping = asyncio.Event()
    limiter = SharedLimiter(EndpointLimits(concurrency=4, rpm=60), broken, stopping=stopping)
    await asyncio.wait_for(limiter.acquire(), 20)
    assert stopping.is_set()
    assert limiter._renewal is not None
    with pytest.raises(ConnectionError):
        await limiter._renewal


async def test_timeouts_lower_the_slots_of_a_process() -> None:
    (worker,) = processes(EndpointLimits(concurrency=8), "a")
    worker.limiter.on_success(await worker.limiter.acquire())
    worker.limiter.release()
    tickets = [await worker.limiter.acquire() for _ in range(8)]
    worker.limiter.on_failure(tickets[0], BackendError("slow", status="timeout"), 0.0)
    for _ in tickets:
        worker.limiter.release()
    endpoint = Endpoint()
    await asyncio.wait_for(endpoint.make(worker, 20, 0.001), 20)
    assert endpoint.most == 4
