"""A killed run resumes: every outcome is there once, and few calls are paid for twice."""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from hengwen import Score, open_store

pytestmark = pytest.mark.slow

COUNT = 120
IN_FLIGHT = 4


@pytest.mark.parametrize(
    ("sent", "code", "status", "paid_twice"),
    [(signal.SIGKILL, -9, "running", 2 * IN_FLIGHT), (signal.SIGTERM, 130, "interrupted", 0),
     (signal.SIGINT, 130, "interrupted", 0)],
    ids=["SIGKILL", "SIGTERM", "SIGINT"],
)  # fmt: skip
def test_a_run_killed_half_way_finishes_with_every_outcome_once(
    judge_server,
    suite,
    start,
    answered,
    here,
    tmp_path: Path,
    sent: signal.Signals,
    code: int,
    status: str,
    paid_twice: int,
) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    first = start(plan, path)
    answered(COUNT // 2, first)
    first.send_signal(sent)
    _, err = first.communicate(timeout=900)
    assert first.returncode == code, err
    assert "Traceback" not in err
    with open_store(path) as store:
        (run,) = store.runs()
        assert run.status == status
        kept = len(list(store.rows([run])))
        assert 0 < kept < COUNT * 6

    assert here(plan, path) == (0, "", "")
    with open_store(path) as store:
        (finished,) = store.runs()
        assert (finished.id, finished.status) == (run.id, "finished")
        rows = list(store.rows([finished]))
    places = Counter((row.sample_id, row.repeat, row.score.name) for row in rows)
    assert set(places.values()) == {1}
    assert len(rows) == COUNT * 6  # the level and five criteria
    assert all(isinstance(row.outcome, Score) for row in rows)
    # killed: what was in flight, and what came since the last commit, a few milliseconds before
    assert COUNT <= len(judge_server.prompts) <= COUNT + paid_twice


def test_of_a_thousand_good_answers_few_are_paid_for_twice(
    judge_server, suite, start, answered, here, tmp_path: Path
) -> None:
    count, plan, path = 1000, suite(1000), tmp_path / "x.db"
    judge_server.jitter = 0.06
    # 8 replies may wait for their commit, and 8 calls are in flight. benchmarks/bench_kill.py
    # measures that a process with enough CPU time loses at most 5.
    first = start(plan, path, in_flight=8)
    answered(count // 2, first)
    first.kill()
    killed = time.monotonic()
    first.communicate(timeout=900)
    before = {question(prompt) for at, prompt in list(judge_server.answers) if at < killed}
    calls = len(judge_server.prompts)

    assert here(plan, path, in_flight=8) == (0, "", "")
    with open_store(path) as store:
        (run,) = store.runs()
        levels = [str(row.sample_id) for row in store.rows([run]) if row.score.name.endswith(".level")]
    assert sorted(levels) == sorted(f"q{number}" for number in range(count))
    twice = before & {question(prompt) for prompt in judge_server.prompts[calls:]}
    assert len(before) >= count // 2
    assert len(twice) <= 16


@pytest.mark.parametrize("in_flight", [16, 64])
def test_a_killed_run_loses_few_of_the_answers_that_it_had_read(
    judge_server, suite, start, answered, here, tmp_path: Path, in_flight: int
) -> None:
    count, plan, path = 600, suite(600), tmp_path / "x.db"
    judge_server.delay, judge_server.jitter = 0.03, 0.04
    first = start(plan, path, in_flight=in_flight)
    answered(count // 2, first)
    first.kill()
    killed = time.monotonic()
    first.communicate(timeout=900)
    before = {question(prompt) for at, prompt in list(judge_server.answers) if at < killed}
    calls = len(judge_server.prompts)
    assert here(plan, path, in_flight=in_flight) == (0, "", "")
    unread = {question(prompt) for prompt in judge_server.unread if prompt}
    twice = before & {question(prompt) for prompt in judge_server.prompts[calls:]}
    assert len(before) >= count // 2
    assert len(twice - unread) <= in_flight // 2  # those read in one iteration of the event loop
    assert len(twice) <= in_flight


def question(prompt: str) -> str:
    """The number of the question that a prompt holds."""
    return re.search(r"第(\d+)个问题", prompt)[1]


def test_when_its_time_is_up_a_run_stops_and_goes_on_later(
    judge_server, suite, start, here, tmp_path: Path
) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    judge_server.delay = 0.1  # 120 calls, 4 at a time: three seconds
    first = start(plan, path, "--time-limit", "0.5")
    _, err = first.communicate(timeout=900)
    assert first.returncode == 130
    assert "the time limit of 0.5 s is reached" in err
    assert len(judge_server.prompts) < COUNT
    assert here(plan, path) == (0, "", "")
    assert len(judge_server.prompts) == COUNT
