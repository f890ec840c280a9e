"""Answering and judging are stages with their own concurrency, and few answers wait between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from hengwen.engine.executor import execute
from hengwen.engine.job import Job, Target, TaskJob
from hengwen.engine.limits import Limiter
from hengwen.engine.metered_backend import CallContext, Committer, LedgerBackend
from hengwen.engine.recorder import MemoryLedger

CONCURRENCY = 16
IN_PROGRESS = 17
"""Samples in progress in a stage: the concurrency and a sixteenth of it."""


class Plan:
    """A task whose answers and judgments take some seconds each, on a simulated clock."""

    def __init__(self, bench, answer: float, judgment: float, samples: int, *, stop_after: int = 0) -> None:
        self.ledger = MemoryLedger()
        self.stopping = asyncio.Event()
        self.answered = self.judged = self.most_waiting = 0
        self.subject = bench.Oracle(delay=answer, answer=self.on_answer)
        self.judge = bench.Oracle(delay=judgment, answer=self.on_judgment)
        self._bench = bench
        self._samples = bench.samples(*(f"s{number}" for number in range(samples)))
        self._stop_after = stop_after

    def on_answer(self, number: int, request: object) -> str:
        self.answered += 1
        self.most_waiting = max(self.most_waiting, self.answered - self.judged - self.judge.in_flight)
        if self.answered == self._stop_after:
            self.stopping.set()
        return f"answer {number}"

    def on_judgment(self, number: int, request: object) -> str:
        self.judged += 1
        return "0.5"

    async def run(self, name: str = "r1") -> None:
        bench, run = self._bench, self._bench.run(name)
        committer = Committer(self.ledger)
        context = CallContext(self.ledger, committer, run.id, stopping=self.stopping)
        self.ledger.begin(run)
        subject = LedgerBackend(
            context, self.subject, "subject", Limiter(CONCURRENCY, stopping=self.stopping)
        )
        judge = LedgerBackend(context, self.judge, "judge", Limiter(CONCURRENCY, stopping=self.stopping))
        task = TaskJob(
            name="t",
            samples=self._samples,
            target=Target(backend=subject, signature="s", system=None, user="{{ input }}"),
            judges=[bench.Asking(judge)],
        )
        job = Job(run=run, tasks=[task])
        await execute(job, self.ledger, committer, concurrency=CONCURRENCY, stopping=self.stopping)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "judgment"), [(0.05, 0.2), (0.2, 0.05), (0.1, 0.1)])
def test_a_run_takes_no_longer_than_its_slower_stage(
    bench, instantly: Callable[..., float], answer: float, judgment: float
) -> None:
    plan = Plan(bench, answer, judgment, 640)
    slower = 640 / CONCURRENCY * max(answer, judgment)
    assert slower <= instantly(plan.run()) <= 1.1 * slower
    assert (plan.answered, plan.judged) == (640, 640)
    assert (plan.subject.most, plan.judge.most) == (CONCURRENCY, CONCURRENCY)


def test_few_answers_wait_for_a_slow_judge(bench, instantly: Callable[..., float]) -> None:
    plan = Plan(bench, 0.01, 1.0, 200)
    instantly(plan.run())
    # in the queue, in the tasks that answer, and in the tasks that judge but wait for a slot
    assert 0 < plan.most_waiting <= 2 * IN_PROGRESS + IN_PROGRESS - CONCURRENCY


def test_a_stopped_run_keeps_all_answers_and_asks_for_none_of_them_again(
    bench, instantly: Callable[..., float]
) -> None:
    plan = Plan(bench, 0.05, 0.2, 100, stop_after=50)
    with pytest.raises(asyncio.CancelledError):
        instantly(plan.run())
    answers = plan.subject.calls
    assert answers == plan.answered < 100
    plan.stopping = asyncio.Event()
    instantly(plan.run("r2"))
    assert plan.subject.calls == 100
    assert len({row.sample_id for row in plan.ledger.rows if row.run_id == "r2"}) == 100
    assert plan.judge.calls == 100


def test_an_error_of_the_ledger_ends_all_stages(bench, instantly: Callable[..., float]) -> None:
    plan = Plan(bench, 0.05, 0.2, 100)

    def fail(rows: object) -> None:
        raise OSError("disk full")

    plan.ledger.record_rows = fail  # type: ignore[method-assign]
    with pytest.raises(OSError, match="disk full"):
        instantly(plan.run())
    assert plan.subject.calls < 100
