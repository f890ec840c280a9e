"""Two processes that run one plan on one store make each call once; a process that died blocks no other."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest

from hengwen import Score, StoreBusyError, open_store, run_plan

pytestmark = pytest.mark.slow

COUNT = 60
HELD = 20
"""Number of requests that the judge answers at first; the test releases the other answers later."""
WAITING = r"waiting for process {} on \S+ since [-0-9]+ [:0-9]+ UTC, which runs the same plan\n"


def test_a_second_run_is_refused_and_names_the_first(
    judge_server, suite, start, answered, here, tmp_path: Path
) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    judge_server.hold_after = HELD
    first = start(plan, path)
    answered(HELD, first)
    code, out, err = here(plan, path)
    assert (code, out) == (1, "")
    expected = (
        r"hengwen: \S+x\.db: plan 'p' is being run by process (\d+) on \S+ "
        r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC; wait for it with --wait\n"
    )
    match = re.fullmatch(expected, err)
    assert match, err
    assert int(match[1]) == first.pid
    with pytest.raises(StoreBusyError, match=f"process {first.pid} on "):
        run_plan(plan, store=path)
    judge_server.hold_after = None
    _, err = first.communicate(timeout=900)
    assert first.returncode == 0, err
    assert len(judge_server.prompts) == COUNT
    assert not list(tmp_path.glob("*.lock"))


def test_a_second_run_that_waits_makes_no_call_again(
    judge_server, suite, start, answered, tmp_path: Path
) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    judge_server.hold_after = HELD
    first = start(plan, path)
    answered(HELD, first)
    second = start(plan, path, "--wait")
    assert second.stderr is not None
    assert re.fullmatch(WAITING.format(first.pid), second.stderr.readline())
    judge_server.hold_after = None
    for process in (first, second):
        _, err = process.communicate(timeout=900)
        assert (process.returncode, err) == (0, "")
    assert len(judge_server.prompts) == COUNT
    with open_store(path) as store:
        (run,) = store.runs()
        outcomes = [row.outcome for row in store.rows([run])]
    assert (run.status, len(outcomes)) == ("finished", COUNT * 6)
    assert all(isinstance(outcome, Score) for outcome in outcomes)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_run_that_waits_ends_at_the_first_signal(
    judge_server, suite, start, answered, tmp_path: Path, sent: signal.Signals
) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    judge_server.hold_after = HELD
    first = start(plan, path)
    answered(HELD, first)
    second = start(plan, path, "--wait")
    assert second.stderr is not None
    assert re.fullmatch(WAITING.format(first.pid), second.stderr.readline())
    second.send_signal(sent)
    _, err = second.communicate(timeout=900)  # the first run goes on
    assert second.returncode == 130, err
    assert "Traceback" not in err
    assert first.poll() is None


def test_a_killed_run_does_not_block_the_next(
    judge_server, suite, start, answered, here, tmp_path: Path
) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    judge_server.hold_after = HELD
    first = start(plan, path)
    answered(HELD, first)
    first.kill()
    first.communicate(timeout=900)
    judge_server.hold_after = None
    assert here(plan, path) == (0, "", "")
    assert COUNT <= len(judge_server.prompts) <= COUNT + 8


def test_two_plans_run_at_once_in_one_store(judge_server, suite, start, answered, tmp_path: Path) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    other = tmp_path / "other.yaml"
    spec = json.loads(plan.read_text("utf-8"))
    rows = [{"id": f"q{number}", "output": f"另一个回答{number}。"} for number in range(COUNT)]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    spec |= {"name": "q", "checkpoints": [{"name": "b", "responses": "b.jsonl"}]}
    other.write_text(json.dumps(spec), "utf-8")
    judge_server.hold_after = HELD
    first = start(plan, path)
    answered(HELD, first)
    second = start(other, path)
    while len(judge_server.prompts) < HELD + 8:  # both have calls in flight
        assert second.poll() is None, second.communicate()
        time.sleep(0.005)
    judge_server.hold_after = None
    for process in (second, first):
        _, err = process.communicate(timeout=900)
        assert (process.returncode, err) == (0, "")
    assert len(judge_server.prompts) == 2 * COUNT


def test_two_judgments_of_one_file_pay_once(
    judge_server, suite, start, answered, here, tmp_path: Path
) -> None:
    suite(COUNT)
    path, more = tmp_path / "x.db", ("--rubric", "persona_generic", "-o")
    judge_server.hold_after = HELD
    first = start(tmp_path / "a.jsonl", path, *more, str(tmp_path / "1.jsonl"), command="score")
    answered(HELD, first)
    code, _, err = here(tmp_path / "a.jsonl", path, *more, str(tmp_path / "2.jsonl"), command="score")
    assert code == 1
    assert f"plan 'judge-a' is being run by process {first.pid} on " in err
    waits = start(tmp_path / "a.jsonl", path, "--wait", *more, str(tmp_path / "3.jsonl"), command="score")
    judge_server.hold_after = None
    for process in (first, waits):
        process.communicate(timeout=900)
        assert process.returncode == 0
    assert len(judge_server.prompts) == COUNT
    assert not (tmp_path / "2.jsonl").exists()
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "3.jsonl").read_bytes()


def test_what_only_reads_needs_no_lock(judge_server, suite, start, answered, run, tmp_path: Path) -> None:
    plan, path = suite(COUNT), tmp_path / "x.db"
    judge_server.hold_after = HELD
    first = start(plan, path)
    answered(HELD, first)
    code, estimates, _ = run(plan, "--dry-run", "--store", str(path))
    assert code == 0
    assert estimates
    with open_store(path) as store:
        assert [entry.status for entry in store.runs()] == ["running"]
    judge_server.hold_after = None
    assert first.wait(900) == 0
    assert len(judge_server.prompts) == COUNT
