"""Files scored by a Ray cluster of three nodes: the bytes of the local result, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from ray_cluster import WARNINGS

from hengwen.runs.shards.ray_pool import ray_pool
from hengwen.runs.shards.schedule import local_pool
from hengwen.runs.shards.score_folder import score_folder

pytestmark = [pytest.mark.slow, *WARNINGS]

SCORERS = """\
import os, signal, time
from pathlib import Path
from hengwen import Score

class Slow:
    signature, names = 'slow|v:1', ('slow.length',)
    def __init__(self, pids: str) -> None:
        Path(pids, str(os.getpid())).touch()
    def score(self, sample, response):
        if response.text == 'KILL':
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.002)
        return [Score(name='slow.length', value=len(response.text), signature=self.signature)]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(SCORERS)
    Path("pids").mkdir()
    return tmp_path


def write(name: str, texts: list[str]) -> Path:
    lines = [json.dumps({"id": f"r{number}", "output": text}) for number, text in enumerate(texts)]
    Path(name).write_text("\n".join(lines) + "\n")
    return Path(name)


def content(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def score(source: Path, folder: str, pool, rows: int, progress=None):
    settings = {"scorer": "own.py:Slow", "options": {"pids": "pids"}}
    return score_folder([source], Path(folder), pool, shard_rows=rows, progress=progress, **settings)


def test_a_dead_worker_and_a_dead_node_change_no_byte(folder: Path, ray_cluster) -> None:
    source = write("in.jsonl", ["x" * (number % 50) for number in range(1500)] + ["", "y"])
    score(source, "local", local_pool(2), 50)
    local_pids = {path.name for path in Path("pids").iterdir()}
    victims = ["worker", "node"]

    def kill(rows: int) -> None:
        if victims and rows >= 250:
            if victims.pop(0) == "worker":
                pids = {path.name for path in Path("pids").iterdir()} - local_pids
                os.kill(int(min(pids)), signal.SIGKILL)
            else:
                ray_cluster.remove_node(min(ray_cluster.worker_nodes, key=id), allow_graceful=False)

    done = score(source, "ray", ray_pool(ray_cluster.address), 50, kill)
    assert victims == []
    assert (done.rows, done.failed, done.shards, done.reused, done.errors) == (1502, 0, 31, 0, ())
    assert content("ray") == content("local")
    ids = [
        json.loads(line)["id"]
        for path in sorted(Path("ray").glob("s*"))
        for line in path.read_text().splitlines()
    ]
    assert ids == [f"r{number}" for number in range(1502)]


def test_a_row_that_kills_its_workers_becomes_a_failure(folder: Path, ray_cluster) -> None:
    source = write("in.jsonl", ["a", "bb", "KILL", "ccc", "dddd", "e"])
    done = score(source, "out", ray_pool(ray_cluster.address), 4)
    assert (done.rows, done.failed, done.errors) == (6, 1, ())
    assert done.first_failure == (
        "in.jsonl:3: the worker process that scored it died: SIGKILL, out of memory?"
    )


def test_the_command_scores_on_a_cluster_and_prints_one_object(folder: Path, ray_cluster, hengwen) -> None:
    source = write("in.jsonl", ["a", "bb", "", "ccc"])
    arguments = ("score", source, "--scorer", "length", "--shard-rows", 3, "--json", "-o")
    local = hengwen(*arguments, "local", "--engine", "local", "--workers", 1)
    ray = hengwen(*arguments, "ray", "--engine", "ray", "--ray-address", ray_cluster.address)
    assert (ray.code, ray.err) == (0, "")
    assert ray.json == {**local.json, "output": "ray"}
    assert ray.json["shards"] == 2
    assert content("ray") == content("local")


def test_without_an_address_ray_runs_on_this_machine_alone(folder: Path, ray_settings: str) -> None:
    write("in.jsonl", ["a", "bb"])
    command = [
        sys.executable,
        *([] if WARNINGS else ["-W", "error"]),
        "-m",
        "hengwen",
        "score",
        "in.jsonl",
        "--scorer",
        "length",
    ]
    options = ["--engine", "ray", "--workers", "1", "-o", "out", "--json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=900)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == 2


def test_a_worker_without_the_folder_of_the_command_says_so(folder: Path, ray_cluster) -> None:
    from hengwen.runs.shards.ray_pool import RayPool
    from hengwen.runs.shards.ray_pool import ray_cluster as connect

    source = write("in.jsonl", ["a"])
    elsewhere = Path("elsewhere")
    with connect(ray_cluster.address) as ray:
        pool = RayPool(ray, 1)
        score_here = pool._score
        pool._score = type(
            "Task", (), {"remote": staticmethod(lambda task, _: score_here.remote(task, elsewhere.resolve()))}
        )
        done = score_folder([source], Path("out"), nullcontext(pool), shard_rows=5_000, scorer="length")
    (error,) = done.errors
    assert "out: a machine does not see this folder" in error
