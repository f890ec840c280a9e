"""One worker of a Ray run, in this process: it runs the plan within the limits that it is given, or stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_ray import Actor, FakeRay, RayErrors, install

from hengwen import open_store
from hengwen.engine.limits.limit_pool import EndpointLimits
from hengwen.plans.overrides import OVERRIDE, resolve_plan
from hengwen.runs import run_on_ray
from hengwen.runs.options import RunOptions
from hengwen.runs.run_on_ray import Coordinator, PlanJob, WorkerEnd, run_worker

pytestmark = pytest.mark.slow

COUNT = 12


class RecordingCoordinator(Coordinator):
    """Records which worker asks for what."""

    def __init__(self, concurrency: int) -> None:
        super().__init__({OVERRIDE: EndpointLimits(concurrency=concurrency)})
        self.most = 0
        self.asked_by: set[tuple[str, str]] = set()

    def sync(self, worker, endpoint, demand):
        self.asked_by.add((worker, endpoint))
        grant = super().sync(worker, endpoint, demand)
        self.most = max(self.most, grant.slots)
        return grant


@pytest.fixture
def work(
    judge_server, suite, postgres: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., WorkerEnd]:
    """Return a function that runs a plan as a worker does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "another")  # restored after the test
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(run_on_ray, "REPORT_SECONDS", 0.02)
    ray = install(monkeypatch, FakeRay())

    def start(coordinator: Coordinator, **options: Any) -> WorkerEnd:
        plan = resolve_plan(suite(COUNT), judge="openai/tiny", base_url=judge_server.url)
        job = PlanJob(
            plan=plan,
            store=options.pop("store", postgres),
            options=RunOptions(concurrency=8, **options),
            limits={OVERRIDE: EndpointLimits(concurrency=3)},
            environment={"OPENAI_API_KEY": "sk-of-the-command"},
            working_folder=tmp_path,
        )
        return run_worker(job, "worker 1", options.get("actor") or Actor(coordinator))

    assert ray
    return start


def test_a_worker_evaluates_the_plan_with_the_slots_of_the_actor(work, judge_server, postgres: str) -> None:
    coordinator = RecordingCoordinator(3)
    end = work(coordinator)
    assert end.result is not None
    assert [run.status for run in end.result.runs] == ["finished"]
    assert coordinator.asked_by == {("worker 1", OVERRIDE)}
    assert coordinator.most == 3
    assert judge_server.keys == {"sk-of-the-command"}
    with open_store(postgres) as store:
        assert len(list(store.rows(end.result.runs))) == COUNT * 6


def test_a_worker_reports_and_stops_when_it_is_asked_to(work, judge_server) -> None:
    coordinator = RecordingCoordinator(3)
    judge_server.hold_after = 3

    class Stopping(RecordingCoordinator):
        def report(self, progress):
            if len(judge_server.prompts) >= 6:
                self.stop()
                judge_server.hold_after = None
            return super().report(progress)

    coordinator = Stopping(3)
    assert work(coordinator) == WorkerEnd(error="KeyboardInterrupt")
    assert len(judge_server.prompts) == 6
    done, total = coordinator.progress()["a"]
    assert (done >= 3, total) == (True, COUNT)


def test_a_worker_whose_actor_is_gone_stops(work, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(RecordingCoordinator):
        def report(self, progress):
            raise RayErrors.RayError

    class Held(Gone):
        def sync(self, worker, endpoint, demand):
            return super().sync(worker, endpoint, type(demand)())

    assert work(Held(3)) == WorkerEnd(error="KeyboardInterrupt")


def test_an_error_of_a_worker_has_its_class_and_message(work) -> None:
    end = work(RecordingCoordinator(3), store="postgresql+psycopg://nobody@/none?host=/no/such/folder")
    assert (end.result, end.error) == (None, "StoreError")
    assert "/no/such/folder" in end.message
