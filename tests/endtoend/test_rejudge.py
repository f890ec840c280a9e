"""``hengwen judge-drift``: the verdict, the cost, a kill, and a judge that changes between two runs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hengwen import open_store

pytestmark = pytest.mark.slow

KEY = "sk-planted-4f1c9e"
COUNT = 40


@pytest.fixture
def rejudge(monkeypatch: pytest.MonkeyPatch, program):
    """Return a function that runs a command in the folder of the test; exit code, stdout, stderr."""
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setenv("HENGWEN_LANG", "en")
    return lambda *words, command="judge-drift": program(command, *words)


@pytest.fixture
def judged(run, judge_server, suite, tmp_path: Path) -> tuple[str, ...]:
    """Run checkpoints a and b, each with the same answers; return the options of judging again."""
    plan = suite(COUNT)
    judge = ("--judge", "openai/tiny", "--base-url", judge_server.url)
    assert run(plan, *judge)[0] == 0
    plan.write_text(plan.read_text("utf-8").replace('"name": "a"', '"name": "b"'), "utf-8")
    assert run(plan, *judge)[0] == 0
    judge_server.prompts.clear()
    judge_server.answered = 0
    return (str(plan), *judge)


def test_a_judge_that_becomes_stricter_is_named(rejudge, judged, judge_server) -> None:
    judge_server.label = "C"
    code, out, err = rejudge(*judged)
    assert code == 0
    assert re.fullmatch(r"80 calls, [\d,]+ tokens in, [\d,]+ tokens out; unknown cost; [\d.]+ s\n", err)
    assert len(judge_server.prompts) == 2 * COUNT
    assert "judge drift: a → b" in out
    assert "character: judge drifted" in out
    (row,) = (line.split() for line in out.splitlines() if line.startswith("character  judge "))
    assert "−0.25" in row


def test_a_judge_that_changed_before_the_later_run_is_told_from_the_model(
    rejudge, run, judged, judge_server, tmp_path: Path
) -> None:
    plan = Path(judged[0])
    judge_server.label = "C"
    plan.write_text(plan.read_text("utf-8").replace('"name": "b"', '"name": "c"'), "utf-8")
    assert run(plan, *judged[1:])[0] == 0
    judge_server.prompts.clear()
    code, out, _ = rejudge(*judged, "--json")
    document = json.loads(out)
    (score,) = document["scores"]
    assert (code, score["verdict"], score["arm"]) == (0, "judge drifted", "re-judged")
    assert (score["judge"]["difference"], score["model"]["difference"]) == (-0.25, 0)
    assert document["before"]["checkpoint"] == "b"
    assert len(judge_server.prompts) == 2 * COUNT
    assert KEY not in out
    assert KEY not in (tmp_path / "hengwen.db").read_bytes().decode("latin-1")


def test_a_dry_run_says_what_it_costs_and_counts_no_look(rejudge, judged, judge_server) -> None:
    code, out, _ = rejudge(*judged, "--dry-run")
    assert code == 0
    assert out.startswith(f"{2 * COUNT} calls needed\n")
    assert judge_server.prompts == []
    assert rejudge(*judged, "-q")[0] == 0
    assert json.loads(rejudge("--json", command="drift")[1])["looks"]["differ"] == 1
    assert rejudge(*judged, "--dry-run")[1].startswith("no calls needed")


def test_the_same_command_pays_for_nothing_twice_and_fresh_judges_again(
    rejudge, judged, judge_server
) -> None:
    assert rejudge(*judged, "-q")[0] == rejudge(*judged, "-q")[0] == 0
    assert len(judge_server.prompts) == 2 * COUNT
    assert rejudge(*judged, "-q", "--fresh")[0] == 0
    assert len(judge_server.prompts) == 4 * COUNT


def test_without_rejudging_the_report_says_nothing_of_the_judge(rejudge, judged) -> None:
    code, out, _ = rejudge(command="drift")
    assert (code, "judge drift" in out) == (0, False)
    assert json.loads(rejudge("--json", command="drift")[1])["judge_drift"] is None


def test_the_drift_report_has_what_was_judged_again(rejudge, judged, judge_server) -> None:
    judge_server.label = "C"
    assert rejudge(*judged, "-q")[0] == 0
    assert "· character: judge drifted" in rejudge("-v", command="drift")[1].splitlines()
    record = json.loads(rejudge("--json", command="drift")[1])["judge_drift"]
    alone = json.loads(rejudge(*judged, "--json")[1])
    assert alone.pop("judges")  # in a drift report they stand beside
    assert {name: value for name, value in record.items() if name != "judges"} == alone


def test_a_judge_that_answers_nothing_is_an_error(rejudge, judged, judge_server) -> None:
    judge_server.misbehave = lambda number: (401, "{}")
    code, out, err = rejudge(*judged)
    assert code == 1
    assert f"gave up {judge_server.url}" in err
    assert "cannot tell" in out


def test_a_time_limit_ends_with_a_message_and_the_same_command_resumes(rejudge, judged, judge_server) -> None:
    judge_server.delay = 0.2
    code, _, err = rejudge(*judged, "--time-limit", "0.5", "-j", "2")
    assert code == 130
    assert "the time limit of 0.5 s is reached" in err
    judge_server.delay = 0.0
    assert rejudge(*judged, "-q")[0] == 0
    assert len(judge_server.prompts) == 2 * COUNT


def started(judged: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """Start ``hengwen judge-drift`` in a separate process."""
    return subprocess.Popen(
        [sys.executable, "-m", "hengwen", "judge-drift", *judged, "-j", "4", "-q"],
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "x"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_command_with_a_message(
    judged, judge_server, answered, tmp_path: Path, sent: signal.Signals
) -> None:
    judge_server.delay = 0.1
    process = started(judged, tmp_path)
    try:
        answered(COUNT // 4, process)
        process.send_signal(sent)
        _, err = process.communicate(timeout=900)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "interrupted; the verdicts are in hengwen.db, the same command resumes" in err
    assert "Traceback" not in err


def test_a_killed_command_resumes_and_pays_for_few_answers_twice(
    rejudge, judged, judge_server, answered, tmp_path: Path
) -> None:
    process = started(judged, tmp_path)
    try:
        answered(COUNT // 2, process)
    finally:
        process.kill()
        process.communicate()
    assert rejudge(*judged, "-q")[0] == 0
    assert 2 * COUNT <= len(judge_server.prompts) <= 2 * COUNT + 8
    with open_store(tmp_path / "hengwen.db") as store:
        again, second = store.rejudgings(store.find("a"))
        rows = list(store.rows([again]))
    assert again.status == second.status == "finished"
    assert len(rows) == len({row.key for row in rows}) == COUNT * 6
