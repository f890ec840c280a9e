"""How many samples are prefetched, how often the engine commits, and how long it blocks the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

from hengwen.engine import metered_backend as committer_module
from hengwen.engine.executor import execute
from hengwen.engine.job import Job, TaskJob
from hengwen.engine.limits import Limiter
from hengwen.engine.metered_backend import CallContext, Committer
from hengwen.engine.recorder import MemoryLedger
from hengwen.errors import BackendError
from hengwen.records import Request, Response, Sample, Score

Instantly = Callable[..., float]


class Ledger(MemoryLedger):
    """Counts commits, and attempts that no commit has written yet."""

    def __init__(self) -> None:
        super().__init__()
        self.commits = 0
        self.unwritten = 0

    def commit(self) -> None:
        self.commits += 1
        self.unwritten = 0

    def commit_attempts(self) -> None:
        self.unwritten = 0


class Scorer:
    """Scores 1, after something else was done."""

    signature = "paced|v:1"
    names = ("paced.total",)

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self.meanwhile = meanwhile

    def score(self, sample: Sample, response: Response) -> list[Score]:
        self.meanwhile()
        return [Score(name=self.names[0], value=1, signature=self.signature)]


def test_records_are_committed_about_a_hundred_times_a_second(
    instantly: Instantly, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger()

    async def request_commits_for_a_second() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(committer_module, "monotonic", loop.time)
        committer = Committer(ledger)
        for _ in range(1000):
            committer.schedule_commit()
            await asyncio.sleep(0.001)

    assert instantly(request_commits_for_a_second()) == pytest.approx(1)
    assert 90 <= ledger.commits <= 101


async def test_no_more_than_two_paid_answers_wait_for_a_commit() -> None:
    ledger = Ledger()
    committer = Committer(ledger)
    waiting = []
    for _ in range(12):
        ledger.unwritten += 1
        committer.schedule_commit(paid=True)
        waiting.append(ledger.unwritten)
    assert waiting == [1, 2, 0] * 4


async def test_scorers_yield_to_calls_in_flight_every_hundredth_of_a_second(
    bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, scored = 0.0, 0
    seen: list[int] = []

    def score() -> None:
        nonlocal now, scored
        now, scored = now + 0.003, scored + 1

    async def watch() -> None:
        while True:
            seen.append(scored)
            await asyncio.sleep(0)

    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    names = [f"s{number}" for number in range(20)]
    task = TaskJob(
        name="t",
        samples=bench.samples(*names),
        answers=bench.answers(**dict.fromkeys(names, "x")),
        scorers=[Scorer(score)],
    )
    watching = asyncio.ensure_future(watch())
    await bench.weigh(lambda meter: task, concurrency=1)
    watching.cancel()
    assert sorted(set(seen)) == [0, 4, 8, 12, 16, 20]  # four of them take 12 ms


async def test_first_samples_begin_two_turns_of_the_loop_apart(bench) -> None:
    turn = 0
    begun: list[int] = []

    def count() -> None:
        nonlocal turn
        turn += 1
        if turn < 200:
            asyncio.get_running_loop().call_soon(count)

    def answers(sample_id: str) -> list[Response]:
        begun.append(turn)
        return [Response(sample_id=sample_id, text="x", task="t", checkpoint="c")]

    def make(meter: CallContext) -> TaskJob:
        judge = bench.Asking(bench.wrap(meter, bench.Oracle(turns=100), "judge", slots=9))
        return TaskJob(name="t", samples=bench.samples(*"abcdefgh"), answers=answers, judges=[judge])

    asyncio.get_running_loop().call_soon(count)
    await bench.weigh(make, concurrency=8)
    assert [later - earlier for earlier, later in pairwise(begun)] == [2] * 7


@pytest.mark.parametrize(("concurrency", "in_progress"), [(15, 15), (16, 17), (31, 32), (32, 34), (64, 68)])
async def test_a_sixteenth_more_samples_than_calls_are_in_progress(
    bench, concurrency: int, in_progress: int
) -> None:
    begun: list[str] = []
    stop = asyncio.Event()

    class Endless:
        signature, names = "endless|v:1", ("endless.level",)

        async def judge(self, sample: Sample, response: Response, *, earlier: object = ()) -> None:
            begun.append(sample.id)
            await stop.wait()
            raise ValueError("no verdict")

    ledger = bench.ledger
    names = [f"s{number}" for number in range(100)]
    task = TaskJob(
        name="t",
        samples=bench.samples(*names),
        answers=bench.answers(**dict.fromkeys(names, "x")),
        judges=[Endless()],
    )

    async def stop_later() -> None:
        for _ in range(400):  # turns of the loop: all begin in two for each
            await asyncio.sleep(0)
        stop.set()

    ledger.begin(bench.run())
    stopping = asyncio.ensure_future(stop_later())
    with pytest.raises(asyncio.CancelledError):
        await execute(
            Job(run=bench.run(), tasks=[task]),
            ledger,
            Committer(ledger),
            concurrency=concurrency,
            stopping=stop,
        )
    await stopping
    assert len(begun) == in_progress


def test_the_plan_limits_calls_per_minute(instantly: Instantly) -> None:
    async def call() -> None:
        limiter = Limiter(10, rpm=60)
        for _ in range(180):
            await limiter.acquire()
            limiter.release()

    assert instantly(call()) == pytest.approx(120, abs=0.1)  # the first sixty go at once


def test_the_plan_limits_tokens_per_minute(instantly: Instantly) -> None:
    async def call() -> None:
        limiter = Limiter(10, tpm=600)
        for _ in range(18):
            await limiter.acquire(tokens=100)
            limiter.release()

    assert instantly(call()) == pytest.approx(120, abs=0.1)


@pytest.mark.parametrize(("slots", "calls"), [(1, 8), (4, 8), (8, 16)])
async def test_an_endpoint_is_given_up_after_eight_calls_or_two_a_slot(bench, slots: int, calls: int) -> None:
    oracle = bench.Oracle(answer=bench.refuse(status="transport_error"))
    meter = CallContext(bench.ledger, Committer(bench.ledger), "r1")
    backend = bench.wrap(meter, oracle, "judge", slots=slots, retries=0)
    for number in range(calls + 3):
        with pytest.raises(BackendError):
            await backend.complete(Request(messages=(("user", str(number)),)))
    assert oracle.calls == calls
