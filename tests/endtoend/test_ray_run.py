"""A plan run by workers of a Ray cluster: each call is made once, within the limits, whatever dies."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from ray_cluster import WARNINGS

from hengwen import Score, open_store

pytestmark = [pytest.mark.slow, *WARNINGS]

COUNT = 60
HELD = 20


@pytest.fixture(scope="module", autouse=True)
def settings(ray_settings: str) -> None:
    """Set the environment of Ray before anything imports it."""


@pytest.fixture
def ray_run(run, ray_cluster, postgres: str, judge_server) -> Callable[..., tuple]:
    def call(plan: Path, *more: str) -> tuple:
        judge = ["--judge", "openai/tiny", "--base-url", judge_server.url]
        ray = ["--engine", "ray", "--ray-address", ray_cluster.address, "--workers", "3"]
        return run(plan, *judge, *ray, "--store", postgres, *more)

    return call


def outcomes(url: str) -> dict[tuple, tuple]:
    """Return the outcomes of the only run of a store, which must be finished; each occurs once."""
    with open_store(url) as store:
        (finished,) = store.runs()
        assert finished.status == "finished"
        rows = list(store.rows([finished]))
    values = {
        (row.sample_id, row.repeat, row.score.name): (row.outcome.value, row.outcome.signature)
        for row in rows
        if isinstance(row.outcome, Score)
    }
    assert len(values) == len(rows)
    return values


def workers_of(ray_folder: str) -> set[int]:
    """Return the ids of the processes that run a plan in the cluster with this folder."""
    pids = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
                variables = (folder / "environ").read_bytes().split(b"\0")
            except OSError:  # the process has ended
                continue
            if command.startswith(b"ray::run_worker") and f"RAY_TMPDIR={ray_folder}".encode() in variables:
                pids.add(int(folder.name))
    return pids


def in_background(action: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=action)
    thread.start()
    return thread


def wait_for_requests(judge_server, count: int) -> None:
    deadline = time.monotonic() + 900  # the workers start one after the other on a busy machine
    while len(judge_server.prompts) < count:
        assert time.monotonic() < deadline, f"{len(judge_server.prompts)} requests"
        time.sleep(0.01)
    assert len(judge_server.prompts) == count


def test_a_killed_worker_and_node_change_no_result_and_no_limit_is_exceeded(
    ray_run, run, ray_cluster, ray_settings: str, judge_server, suite, postgres: str, tmp_path: Path
) -> None:
    plan = suite(COUNT)
    judge_server.hold_after = HELD

    def kill() -> None:
        try:
            wait_for_requests(judge_server, HELD + 6)
            os.kill(min(workers_of(ray_settings)), signal.SIGKILL)
            ray_cluster.remove_node(min(ray_cluster.worker_nodes, key=id), allow_graceful=False)
        finally:
            judge_server.hold_after = None

    thread = in_background(kill)
    code, _, err = ray_run(plan, "-j", "6")
    thread.join()
    assert (code, err) == (0, "")
    sent = Counter(re.search(r"第(\d+)个问题", prompt)[1] for prompt in judge_server.prompts)
    assert len(sent) == COUNT
    assert len(judge_server.prompts) <= COUNT + 6  # only calls that were open when their worker died
    values = outcomes(postgres)
    assert len(values) == COUNT * 6
    local = str(tmp_path / "local.db")
    judge = ["--judge", "openai/tiny", "--base-url", judge_server.url]
    assert run(plan, *judge, "--store", local)[0] == 0
    assert values == outcomes(local)


def test_an_interrupted_run_keeps_its_replies_and_is_resumed(
    start, here, ray_cluster, judge_server, suite, postgres: str
) -> None:
    plan = suite(COUNT)
    ray = ("--engine", "ray", "--ray-address", ray_cluster.address, "--workers", "2")
    judge_server.hold_after = HELD
    process = start(plan, postgres, *ray)
    wait_for_requests(judge_server, HELD + 4)
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)  # workers ask twice a second whether they should stop; no assertion depends on it
    judge_server.hold_after = None
    out, err = process.communicate(timeout=900)
    assert (process.returncode, out) == (130, "")
    assert "interrupted; the results are in" in err
    assert here(plan, postgres, *ray) == (0, "", "")
    assert len(judge_server.prompts) == COUNT
    assert len(outcomes(postgres)) == COUNT * 6
