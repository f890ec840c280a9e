"""Several processes share a run: here they are tasks of one event loop, with claims in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from hengwen.engine.claims import Claims
from hengwen.engine.executor import execute
from hengwen.engine.job import Job, Target, TaskJob
from hengwen.engine.memory_ledger import MemoryLedger
from hengwen.engine.metered_backend import CallContext
from hengwen.engine.pacing import Committer
from hengwen.engine.run_sharing import ACTIVE, RunSharing
from hengwen.errors import StoreError
from hengwen.records import Response, Run, Sample, Score

SAMPLES = [f"s{number}" for number in range(24)]


class SharedMemory(MemoryLedger):
    """A ledger in memory that several processes write, as a database."""

    def __init__(self) -> None:
        super().__init__()
        self.completed_units: set[str] = set()
        self.committed: list[Response] = []

    def commit(self) -> None:
        self.committed = sorted(self.responses, key=lambda response: (response.sample_id, response.repeat))

    def record_completed_unit(self, run_id: str, unit: str) -> None:
        assert unit not in self.completed_units
        self.completed_units.add(unit)

    def refresh_call(self, call_key: str, cache_scope: str) -> None:
        """Do nothing, because all processes have the same memory."""

    def stored_responses(self, run: Run, task: str) -> Iterator[Response]:
        return iter([response for response in self.committed if response.task == task])


class Server:
    """Claims and shared locks of all processes, in the place of a database server."""

    def __init__(self, ledger: SharedMemory) -> None:
        self.ledger = ledger
        self.mutex = threading.Lock()
        self.holders: dict[str, object] = {}
        self.shared: dict[tuple[str, ...], list[object]] = {}
        self.refused_calls = 0


class Session:
    """The claims of one process."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.is_lost = False

    def exchange(
        self, released: Sequence[str], units: Sequence[str], calls: Sequence[str]
    ) -> tuple[list[bool], set[str], set[str]]:
        if self.is_lost:
            raise StoreError("the connection is lost")
        with self.server.mutex:
            for name in released:
                assert self.server.holders.pop(name) is self
            taken = [self.server.holders.setdefault(name, self) is self for name in (*units, *calls)]
            self.server.refused_calls += taken[len(units) :].count(False)
            stored = {attempt.call_key for attempt in self.server.ledger.attempts}
            return taken, set(units) & self.server.ledger.completed_units, set(calls) & stored

    def lock(self, *name: str, shared: bool = False) -> bool:
        self.server.shared.setdefault(name, []).append(self)
        return True

    def unlock(self, *name: str, shared: bool = False) -> None:
        if self in self.server.shared[name]:
            self.server.shared[name].remove(self)

    def is_shared(self, *name: str) -> bool:
        return any(holder is not self for holder in self.server.shared[name])

    def forget_completed_units(self, run_id: str) -> None:
        self.server.ledger.completed_units.clear()

    def close(self) -> None:
        """Release everything, as a server does when a connection ends."""
        with self.server.mutex:
            holders = self.server.holders
            for name in [name for name, holder in holders.items() if holder is self]:
                del holders[name]
            for holding in self.server.shared.values():
                holding[:] = [holder for holder in holding if holder is not self]


@dataclass
class AllTexts:
    """A scorer of whole checkpoints: the number of responses."""

    groups: list[list[str]] = field(default_factory=list)
    scope: str = "checkpoint"
    signature: str = "all|v:1"
    names: tuple[str, ...] = ("all.count",)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        self.groups.append([response.text for _, response in items])
        return [Score(name="all.count", value=len(items), signature=self.signature)]


class Process:
    """One process that works on the run.

    Args:
        bench: Parts of the engine.
        server: The claims of all processes.
        oracle: The model that all processes call.
        make: Function of the wrapped model that returns the task.
    """

    def __init__(self, bench, server: Server, oracle: object, make: Callable[..., TaskJob]) -> None:
        self.stopping = asyncio.Event()
        self.committer = Committer(server.ledger)
        self.context = CallContext(server.ledger, self.committer, "r1", stopping=self.stopping)
        self.session = Session(server)
        self.session.lock(ACTIVE, "p", shared=True)
        self.claims = Claims(self.session, self.stopping)
        self.run = bench.run()
        self.sharing = RunSharing(
            self.claims, self.run, server.ledger, self.committer, self.context.is_exhausted, self.leave
        )
        self.context.sharing = self.sharing
        self.task = make(bench.wrap(self.context, oracle, "judge"))
        self.ledger = server.ledger
        self.completed = 0

    async def leave(self) -> bool:
        return True

    def count(self, completed: int, total: int) -> None:
        assert completed <= total
        self.completed = completed

    async def work(self) -> None:
        job = Job(run=self.run, tasks=[self.task], sharing=self.sharing)
        try:
            await execute(
                job,
                self.ledger,
                self.committer,
                concurrency=4,
                stopping=self.stopping,
                progress=self.count,
            )
        finally:
            await self.claims.close()


@pytest.fixture
def server() -> Server:
    return Server(SharedMemory())


@pytest.fixture
def judged(bench) -> Callable[..., TaskJob]:
    """Return a function that makes a task in which a model judges each answer."""

    def make(backend: object) -> TaskJob:
        return TaskJob(
            name="t",
            samples=bench.samples(*SAMPLES),
            answers=bench.answers(**{name: f"answer {name}" for name in SAMPLES}),
            judges=[bench.Asking(backend)],
        )

    return make


async def test_each_answer_is_judged_by_one_process(bench, server: Server, judged) -> None:
    oracle = bench.Oracle(turns=3)
    processes = [Process(bench, server, oracle, judged) for _ in range(3)]
    await asyncio.gather(*(process.work() for process in processes))
    assert oracle.calls == len(SAMPLES)
    assert {row.sample_id for row in server.ledger.rows} == set(SAMPLES)
    assert [process.completed for process in processes] == [len(SAMPLES)] * 3
    assert not server.holders


@pytest.mark.slow
async def test_equal_calls_of_different_samples_are_made_once(bench, server: Server, judged) -> None:
    @dataclass
    class Same:
        """A judge that asks the same for all answers."""

        backend: object
        signature: str = "same|v:1"
        names: tuple[str, ...] = ("same.level",)

        async def judge(self, sample, response):
            return await bench.Asking(self.backend, self.signature, self.names).judge(
                Sample(id="x"), Response(sample_id="x", text="y")
            )

    def make(backend: object) -> TaskJob:
        task = judged(backend)
        return TaskJob(name="t", samples=task.samples, answers=task.answers, judges=[Same(backend)])

    class Patient(bench.Oracle):  # type: ignore[misc]
        """Answers after another process wanted to make the call, too."""

        async def complete(self, request):
            reply = await super().complete(request)
            while self.calls == 1 and not server.refused_calls:  # noqa: ASYNC110 - a thread counts them
                await asyncio.sleep(0.001)
            return reply

    oracle = Patient()
    processes = [Process(bench, server, oracle, make) for _ in range(2)]
    await asyncio.gather(*(process.work() for process in processes))
    assert oracle.calls == 1


@pytest.mark.slow
async def test_responses_of_all_processes_are_scored_together_and_once(bench, server: Server) -> None:
    scorer = AllTexts()
    oracle = bench.Oracle(answer=lambda _, request: request.messages[-1][1], turns=3)

    def make(backend: object) -> TaskJob:
        target = Target(backend=backend, signature="model", system=None, user="{{ input }}", repeats=2)
        return TaskJob(name="t", samples=bench.samples(*SAMPLES), target=target, set_scorers=[scorer])

    await asyncio.gather(*(Process(bench, server, oracle, make).work() for _ in range(2)))
    assert oracle.calls == 2 * len(SAMPLES)
    assert scorer.groups == [[f"in {name}" for name in SAMPLES for _ in range(2)]]
    assert [row.outcome.value for row in server.ledger.rows] == [2 * len(SAMPLES)]


async def test_what_needs_all_responses_is_computed_after_all_are_committed(
    bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hengwen.engine.pacing.COMMIT_INTERVAL", 600.0)
    scorer = AllTexts()

    def make(backend: object) -> TaskJob:
        target = Target(backend=backend, signature="model", system=None, user="{{ input }}")
        return TaskJob(name="t", samples=bench.samples(*SAMPLES), target=target, set_scorers=[scorer])

    await Process(bench, server, bench.Oracle(), make).work()
    assert [len(group) for group in scorer.groups] == [len(SAMPLES)]


async def test_a_process_with_fewer_samples_does_not_end_the_run_of_the_others(bench, server: Server) -> None:
    scorer = AllTexts()

    def make(count: int) -> Callable[..., TaskJob]:
        samples, answers = SAMPLES[:count], dict.fromkeys(SAMPLES, "x")
        return lambda backend: TaskJob(
            name="t", samples=bench.samples(*samples), answers=bench.answers(**answers), set_scorers=[scorer]
        )

    for count in (3, len(SAMPLES)):
        await Process(bench, server, bench.Oracle(), make(count)).work()
    assert [len(group) for group in scorer.groups] == [3, len(SAMPLES)]


async def test_a_claim_is_not_released_before_its_results_are_committed(
    bench, server: Server, judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(bench, server, bench.Oracle(), judged)
    name = process.sharing.name_of("sample")
    await process.sharing.take([name])
    server.ledger.commit = lambda: 1 / 0  # type: ignore[method-assign,assignment]
    process.sharing.complete(name)
    for other in range(3):
        await process.sharing.take([process.sharing.name_of(other)])
    assert name in server.holders
    await process.claims.close()


async def test_samples_of_a_dead_process_are_evaluated_by_the_others(bench, server: Server, judged) -> None:
    dead = Session(server)
    oracle = bench.Oracle()
    process = Process(bench, server, oracle, judged)
    names = [process.sharing.name_of("sample", "t", name) for name in SAMPLES[3:9]]
    assert dead.exchange([], names, [])[0] == [True] * 6
    working = asyncio.create_task(process.work())
    while oracle.calls < len(SAMPLES) - 6:  # noqa: ASYNC110 - a thread has to go on
        await asyncio.sleep(0.001)
    assert not working.done()
    dead.close()
    await working
    assert oracle.calls == len(SAMPLES)


async def test_a_process_without_budget_leaves_all_samples_to_the_others(
    bench, server: Server, judged
) -> None:
    oracle = bench.Oracle(turns=3)
    poor, rich = (Process(bench, server, oracle, judged) for _ in range(2))
    poor.context.budget.stopped = True
    await asyncio.gather(poor.work(), rich.work())
    assert oracle.calls == len(SAMPLES)
    assert rich.completed == poor.completed == len(SAMPLES)
    assert all(isinstance(row.outcome, Score) for row in server.ledger.rows)


async def test_samples_in_progress_are_left_to_the_others_when_an_endpoint_is_unreachable(
    bench, server: Server, judged
) -> None:
    oracle = bench.Oracle(turns=3)
    failing, other = (Process(bench, server, oracle, judged) for _ in range(2))

    def unreachable(number: int, request: object) -> str:
        failing.context.is_unreachable = True
        return bench.refuse(status="transport_error")(number, request)

    failing.task = judged(bench.wrap(failing.context, bench.Oracle(answer=unreachable), "judge"))
    await asyncio.gather(failing.work(), other.work())
    assert failing.completed == other.completed == len(SAMPLES)
    assert len(server.ledger.rows) == len(SAMPLES)
    assert all(isinstance(row.outcome, Score) for row in server.ledger.rows)
    assert oracle.calls == len(SAMPLES)


@pytest.mark.slow
async def test_when_no_process_can_make_calls_the_samples_become_failures(
    bench, server: Server, judged
) -> None:
    oracle = bench.Oracle(answer=bench.refuse(status="budget"))
    processes = [Process(bench, server, oracle, judged) for _ in range(2)]
    for process in processes:
        process.context.budget.stopped = True
    await asyncio.gather(*(process.work() for process in processes))
    assert oracle.calls == len(SAMPLES)
    assert {row.outcome.status for row in server.ledger.rows} == {"budget"}
    assert len(server.ledger.rows) == len(SAMPLES)


async def test_a_process_that_loses_its_claims_sends_no_further_call(bench, server: Server, judged) -> None:
    process = Process(bench, server, None, judged)

    def lose(number: int, request: object) -> str:
        process.session.is_lost = True
        return "1"

    oracle = bench.Oracle(answer=lose, turns=3)
    process.task = judged(bench.wrap(process.context, oracle, "judge"))
    with pytest.raises(asyncio.CancelledError):
        await process.work()
    assert str(process.claims.error) == "the connection is lost"
    assert oracle.calls <= 4  # those that were in flight
    assert len(server.ledger.attempts) == oracle.calls  # their replies are kept
