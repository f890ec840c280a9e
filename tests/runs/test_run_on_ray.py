"""Which workers are started for a run, and what their ends mean for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_ray import FakeRay, RayErrors, install
from rows import each_row

from hengwen.engine.limits.limit_pool import Demand, EndpointLimits
from hengwen.errors import ConfigError, HengwenError, StoreError, TimeLimitError, WorkerError
from hengwen.plans.plan import Plan
from hengwen.runs.options import RunOptions
from hengwen.runs.run_on_ray import WorkerEnd, check_store, run_on_ray
from hengwen.runs.run_plan import RunResult

STORE = "postgresql://ann:secret@db.example/evaluation"
PLAN = Plan.model_validate(
    {
        "name": "p",
        "tasks": [{"name": "t", "samples": "a.jsonl", "judges": [{"rubric": "muice_live", "backend": "j"}]}],
        "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
        "backends": {"j": {"provider": "openai", "model": "m", "rpm": 60, "api_key_env": "TEAM_API_KEY"}},
    }
)


def result(*warnings: str) -> WorkerEnd:
    return WorkerEnd(result=RunResult(plan="p", runs=(), store="s", warnings=warnings))


def ends_with(end: WorkerEnd) -> Callable[..., WorkerEnd]:
    return lambda *arguments: end


def raises(error: BaseException) -> Callable[..., WorkerEnd]:
    def end(*arguments: Any) -> WorkerEnd:
        raise error

    return end


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch):
    """Return a function that runs the plan with workers that end as the test says."""

    def start(*ends: Callable[..., Any], workers: int | None = 2, cpus: float = 3, **options: Any):
        ray = install(monkeypatch, FakeRay(*ends, cpus=cpus))
        try:
            return ray, run_on_ray(PLAN, STORE, RunOptions(**options), workers=workers)
        except (HengwenError, KeyboardInterrupt) as error:
            return ray, error

    return start


def test_the_result_has_the_warnings_of_all_workers_once(run) -> None:
    ray, done = run(ends_with(result("x", "y")), ends_with(result("y", "z")))
    assert (done.plan, done.warnings) == ("p", ("x", "y", "z"))
    names = [task.arguments[1] for task in ray.tasks]
    assert names == ["worker 1", "worker 2"]


@pytest.mark.parametrize(
    ("cpus", "workers", "count"), [(3, None, 3), (64, None, 16), (3, 5, 5), (0.5, None, 1)]
)
def test_there_is_a_worker_for_each_cpu_up_to_a_limit(
    run, cpus: float, workers: int | None, count: int
) -> None:
    ray, _ = run(*[ends_with(result())] * count, cpus=cpus, workers=workers)
    assert len(ray.tasks) == count


def test_workers_share_the_limits_and_each_may_use_twice_its_part(run) -> None:
    ray, _ = run(*[ends_with(result())] * 4, workers=4, concurrency=16)
    job = ray.tasks[0].arguments[0]
    assert job.limits == {"j": EndpointLimits(concurrency=16, rpm=60)}
    assert job.options.concurrency == 8
    (coordinator,) = ray.actors
    assert coordinator.sync("worker 9", "j", Demand(usable=99)).slots == 16
    ray, _ = run(*[ends_with(result())] * 4, workers=4, concurrency=1)
    assert ray.tasks[0].arguments[0].options.concurrency == 1


def test_a_worker_gets_the_variables_of_the_plan_and_shows_none(run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TEAM_API_KEY", "OTHER_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, f"the {name}")
    ray, _ = run(ends_with(result()), workers=1)
    job = ray.tasks[0].arguments[0]
    assert job.environment == {
        "TEAM_API_KEY": "the TEAM_API_KEY",
        "OPENAI_BASE_URL": "the OPENAI_BASE_URL",
    }
    assert repr(job) == "PlanJob('p')"
    assert job.working_folder == Path.cwd()


def test_langchain_reads_the_variables_of_its_provider(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    spec = PLAN.backends["j"].model_copy(update={"provider": "langchain"})
    plan = PLAN.model_copy(update={"backends": {"j": spec}})
    ray = install(monkeypatch, FakeRay(ends_with(result())))
    run_on_ray(plan, STORE, RunOptions(), workers=1)
    assert ray.tasks[0].arguments[0].environment["ANTHROPIC_API_KEY"] == "k"


def test_the_actor_lives_where_the_command_runs_and_ray_repeats_no_worker(run) -> None:
    ray, _ = run(ends_with(result()), workers=1)
    actor, task = ray.options
    assert actor == {"num_cpus": 0, "scheduling_strategy": ("this node", False)}
    assert (task["max_retries"], task["max_calls"]) == (0, 1)


@pytest.mark.parametrize(
    "death",
    [
        raises(RayErrors.WorkerCrashedError()),
        raises(RayErrors.NodeDiedError()),
        ends_with(WorkerEnd(error="StoreError")),
        ends_with(WorkerEnd(error="KeyboardInterrupt")),
    ],
    ids=["worker", "node", "connection", "actor"],
)
def test_another_worker_takes_the_place_of_one_that_died(run, death) -> None:
    ray, done = run(death, ends_with(result()), ends_with(result()))
    assert done.plan == "p"
    assert [task.arguments[1] for task in ray.tasks] == ["worker 1", "worker 2", "worker 3"]


def test_the_slots_of_a_dead_worker_are_given_back(run) -> None:
    def die(job: Any, name: str, coordinator: Any) -> WorkerEnd:
        coordinator.instance.sync(name, "j", Demand(usable=16))
        raise RayErrors.WorkerCrashedError

    def check(job: Any, name: str, coordinator: Any) -> WorkerEnd:
        assert coordinator.instance.sync(name, "j", Demand(usable=16)).slots == 16
        return result()

    assert run(die, check, workers=1)[1].plan == "p"


def test_no_worker_is_started_after_the_run_is_done(run) -> None:
    ray, done = run(ends_with(result()), raises(RayErrors.WorkerCrashedError()))
    assert (done.plan, len(ray.tasks)) == ("p", 2)


def test_a_run_that_kills_its_workers_is_given_up(run) -> None:
    ray, error = run(*[raises(RayErrors.WorkerCrashedError())] * 8)
    assert isinstance(error, WorkerError)
    assert str(error) == "8 workers did not finish the run: they died (were they out of memory?)"
    assert len(ray.tasks) == 8


def test_a_database_that_no_worker_reaches_is_named(run) -> None:
    _, error = run(*[ends_with(WorkerEnd(error="StoreError", message="no connection"))] * 8)
    assert str(error) == "8 workers did not finish the run: no connection"


def test_workers_that_cannot_reach_the_actor_are_no_interrupt(run) -> None:
    _, error = run(*[ends_with(WorkerEnd(error="KeyboardInterrupt"))] * 8)
    assert isinstance(error, WorkerError)
    assert str(error).endswith("the workers lost their connection to the command's machine")


@pytest.mark.parametrize(
    ("end", "kind", "message"),
    [
        (
            WorkerEnd(error="ConfigError", message="a.jsonl: no such file"),
            ConfigError,
            "a.jsonl: no such file",
        ),
        (WorkerEnd(error="StoreBusyError", message="is being run"), StoreError, "is being run"),
        (WorkerEnd(error="TimeLimitError", message="the time limit"), TimeLimitError, "the time limit"),
    ],
)
def test_an_error_stops_all_workers(run, end: WorkerEnd, kind: type, message: str) -> None:
    def was_stopped(job: Any, name: str, coordinator: Any) -> WorkerEnd:
        assert coordinator.instance.report({})
        return WorkerEnd(error="KeyboardInterrupt")

    _, error = run(ends_with(end), was_stopped)
    assert type(error) is kind
    assert str(error) == message


def test_an_unexpected_error_of_a_worker_is_shown(run) -> None:
    trace = RayErrors.RayTaskError("ray::run_worker()\nModuleNotFoundError: No module named 'hengwen'")
    _, error = run(raises(trace), ends_with(result()))
    assert str(error) == "a worker failed: ModuleNotFoundError: No module named 'hengwen'"


def test_an_interrupt_lets_the_workers_store_their_replies(run) -> None:
    def was_stopped(job: Any, name: str, coordinator: Any) -> WorkerEnd:
        assert coordinator.instance.report({})
        return WorkerEnd(error="KeyboardInterrupt")

    def interrupt(checkpoint: str, done: int, total: int) -> None:
        if not calls:
            calls.append((checkpoint, done, total))
            raise KeyboardInterrupt

    calls: list[tuple[str, int, int]] = []

    class Interrupted(FakeRay):
        def wait(self, references, **options):
            self.actors[0].report({"a": (3, 9)})
            return super().wait(references, **options)

    with pytest.MonkeyPatch.context() as patch:
        ray = install(patch, Interrupted(was_stopped, was_stopped))
        with pytest.raises(KeyboardInterrupt):
            run_on_ray(PLAN, STORE, RunOptions(progress=interrupt), workers=2)
    assert calls == [("a", 3, 9)]
    assert not ray.ends


def test_a_run_whose_actor_died_can_be_resumed(run) -> None:
    def lose_actor(job: Any, name: str, coordinator: Any) -> WorkerEnd:
        def gone(worker: str) -> None:
            raise RayErrors.RayError

        coordinator.instance.forget = gone
        return WorkerEnd(error="KeyboardInterrupt")

    _, error = run(lose_actor)
    assert str(error) == "the actor of the run was lost (RayError); the same command resumes the run"


def test_a_run_whose_actor_died_after_an_interrupt_can_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(FakeRay):
        def wait(self, references, **options):
            self.actors[0].stop = lambda: raises(RayErrors.RayError())()
            raise KeyboardInterrupt

    install(monkeypatch, Lost())
    with pytest.raises(WorkerError, match="the actor of the run was lost"):
        run_on_ray(PLAN, STORE, RunOptions(), workers=2)


def test_a_later_worker_has_the_time_that_is_left(run, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def die(*arguments: Any) -> WorkerEnd:
        now[0] += 4
        raise RayErrors.NodeDiedError

    ray, _ = run(die, ends_with(result()), workers=1, time_limit=10)
    assert [task.arguments[0].options.time_limit for task in ray.tasks] == [10, 6]


@each_row("store", ["x.db", "sqlite:///x.db", "mysql://host/x"])
def test_only_postgresql_serves_several_machines(store: str) -> None:
    with pytest.raises(ConfigError, match="--engine ray needs a PostgreSQL database that all machines reach"):
        check_store(store)
    check_store(STORE)
