"""What the end of a Ray task means for its shard; a stand-in for Ray, so that each end can be tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_ray import FakeRay, RayErrors, install
from rows import each_row

from hengwen.errors import WorkerError
from hengwen.runs.shards.manifest import ScorerSettings, ShardResult
from hengwen.runs.shards.ray_pool import RayPool, ray_pool, score_in_folder
from hengwen.runs.shards.schedule import Lost, ShardError, ShardTask
from hengwen.runs.shards.split import InputFile, Shard

RESULT = ShardResult(number=3, rows=1, failed=0, bytes=1)
TASK = ShardTask(
    shard=Shard(number=3, input=0, skipped=0, rows=1, offset=0),
    input=InputFile(path="a.jsonl", bytes=1, modified_ns=0, sha256="", rows=1),
    folder=Path("out"),
    key="",
    settings=ScorerSettings(scorer="s", options={}, columns={}, signature="s", shard_rows=1),
)


@each_row(
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
    def finish(*arguments: Any) -> Any:
        if isinstance(end, Exception):
            raise end
        return end

    pool = RayPool(FakeRay(finish))
    pool.submit(TASK)
    assert pool.wait() == (TASK, outcome)


def test_a_task_has_one_cpu_and_is_not_repeated_by_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ray = FakeRay()
    RayPool(ray).submit(TASK)
    assert ray.options == [{"num_cpus": 1, "max_retries": 0}]
    assert [task.arguments for task in ray.tasks] == [(TASK, tmp_path)]


def test_a_cluster_that_is_lost_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(FakeRay):
        def wait(self, references, **options):
            raise RayErrors.RayError

    install(monkeypatch, Lost())
    message = r"^the Ray cluster was lost \(RayError\); the same command resumes the scoring$"
    with pytest.raises(WorkerError, match=message), ray_pool() as pool:
        pool.wait()


@each_row(("cpus", "workers", "window"), [(3, None, 6), (0.5, None, 2), (3, 2, 2)])
def test_the_window_has_two_tasks_per_cpu(cpus: float, workers: int | None, window: int) -> None:
    assert RayPool(FakeRay(cpus=cpus), workers).window() == window


def test_nodes_that_join_widen_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    ray = FakeRay(cpus=1)
    pool = RayPool(ray)
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
