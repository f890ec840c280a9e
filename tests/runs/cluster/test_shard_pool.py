"""What the end of a Ray task means for its shard; a stand-in for Ray, so that each end can be tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hengwen.runs.cluster.shard_pool import RayPool, score_in_folder
from hengwen.runs.shards.input_files import InputFile
from hengwen.runs.shards.manifest import ScorerSettings, ShardResult
from hengwen.runs.shards.schedule import Lost
from hengwen.runs.shards.score_shard import ShardError, ShardTask
from hengwen.runs.shards.split import Shard

RESULT = ShardResult(number=3, rows=1, failed=0, bytes=1)
TASK = ShardTask(
    shard=Shard(number=3, input=0, skipped=0, rows=1, offset=0),
    input=InputFile(path="a.jsonl", bytes=1, modified_ns=0, sha256="", rows=1),
    folder=Path("out"),
    key="",
    settings=ScorerSettings(scorer="s", options={}, columns={}, signature="s", shard_rows=1),
)


class RayErrors:
    """The exceptions of Ray that a task can end with."""

    RayError = type("RayError", (Exception,), {})
    WorkerCrashedError = type("WorkerCrashedError", (RayError,), {})
    OutOfMemoryError = type("OutOfMemoryError", (RayError,), {})
    NodeDiedError = type("NodeDiedError", (RayError,), {})
    RayTaskError = type("RayTaskError", (RayError,), {})
    RuntimeEnvSetupError = type("RuntimeEnvSetupError", (RayError,), {})


class FakeRay:
    """Runs no task; each ends as the test says."""

    exceptions = RayErrors

    def __init__(self, end: Any = RESULT, cpus: float = 3) -> None:
        self.end, self.cpus = end, cpus
        self.options: dict[str, Any] = {}
        self.sent: list[Any] = []

    def remote(self, **options: Any) -> Any:
        self.options = options
        return lambda function: self

    @property
    def send(self) -> Any:
        return None

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cpus}

    def wait(self, references: list[Any], num_returns: int) -> Any:
        return references[:num_returns], references[num_returns:]

    def get(self, reference: Any) -> Any:
        if isinstance(self.end, Exception):
            raise self.end
        return self.end


class FakeFunction:
    """A remote function; a reference is the number of its call."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def remote(self, *arguments: Any) -> int:
        self.calls.append(arguments)
        return len(self.calls)


def pool_of(ray: FakeRay, workers: int | None = None) -> tuple[RayPool, FakeFunction]:
    function = FakeFunction()
    ray.remote = lambda **options: ray.options.update(options) or (lambda _: function)  # type: ignore[method-assign]
    return RayPool(ray, workers), function


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (RESULT, RESULT),
        (ShardError(number=3, message="full"), ShardError(number=3, message="full")),
        (
            RayErrors.WorkerCrashedError("gone"),
            Lost(reason="worker died", message="its workers died (were they out of memory?)"),
        ),
        (
            RayErrors.OutOfMemoryError("memory"),
            Lost(reason="worker died", message="its workers died (were they out of memory?)"),
        ),
        (
            RayErrors.NodeDiedError("node"),
            Lost(reason="machine died", message="its machines died: NodeDiedError"),
        ),
        (
            RayErrors.RayTaskError("traceback\nModuleNotFoundError: No module named 'hengwen'\n"),
            ShardError(
                number=3,
                message="a worker cannot run hengwen: ModuleNotFoundError: No module named 'hengwen'",
            ),
        ),
    ],
    ids=["result", "error", "crash", "memory", "node", "import"],
)
def test_the_end_of_a_task_decides_what_the_shard_is(end: Any, outcome: Any) -> None:
    pool, _ = pool_of(FakeRay(end))
    pool.submit(TASK)
    assert pool.wait() == (TASK, outcome)


def test_a_task_has_one_cpu_and_is_not_repeated_by_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ray = FakeRay()
    pool, function = pool_of(ray)
    pool.submit(TASK)
    assert ray.options == {"num_cpus": 1, "max_retries": 0}
    assert function.calls == [(TASK, tmp_path)]


@pytest.mark.parametrize(("cpus", "workers", "window"), [(3, None, 6), (0.5, None, 2), (3, 2, 2)])
def test_the_window_has_two_tasks_per_cpu(cpus: float, workers: int | None, window: int) -> None:
    pool, _ = pool_of(FakeRay(cpus=cpus), workers)
    assert pool.window() == window


def test_nodes_that_join_widen_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    ray = FakeRay(cpus=1)
    pool, _ = pool_of(ray)
    assert pool.window() == 2
    ray.cpus, now[0] = 8, 5.0
    assert pool.window() == 2
    now[0] = 10.0
    assert pool.window() == 16


def test_a_worker_scores_in_the_folder_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    outcome = score_in_folder(TASK, tmp_path / "here")
    assert Path.cwd() == tmp_path / "here"
    assert isinstance(outcome, ShardError)
    score_in_folder(TASK, tmp_path / "missing")
    assert Path.cwd() == tmp_path / "here"
