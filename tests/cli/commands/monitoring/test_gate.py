"""``hengwen gate`` and the gates of ``hengwen validate``: lines, files and exit codes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from gate_plan import NAMES, write_plan

from hengwen import open_store

HIGH, LOW = [8, 9, 8, 7] * 10, [4, 6, 5, 5] * 10


@pytest.fixture
def start(hengwen, monkeypatch: pytest.MonkeyPatch):
    """Return a function that writes and runs a plan."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.setenv("COLUMNS", "400")

    def run(checkpoints: dict[str, Any], **more: Any) -> None:
        write_plan(checkpoints, **more)
        done = hengwen("run", "plan.yaml", "--quiet", "--trust")
        assert done.code in (0, 1), done.err

    return run


@pytest.mark.slow
def test_each_gate_has_a_verdict_and_all_passed_is_zero(hengwen, start) -> None:
    start({"a": HIGH, "b": HIGH})
    done = hengwen("gate", "plan.yaml")
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0].startswith("gate b · plan p, run ")
    assert lines[0].endswith(" · baseline a · exit code 0")
    assert "b passes: none of 2 gates fails." in lines
    mean, coverage, drop = (line for line in lines if line.startswith("▲ holds"))
    assert "0.8" in mean
    assert "100%" in coverage
    assert drop.endswith("0.00 from a, p = 1, 40 prompts")
    text = hengwen("gate", "plan.yaml", "-v").out
    assert "no fall seen from a: t/tenths.value 0.00 p = 1; " in text
    assert "40 prompts, significance level .030 (run 1 tested against this baseline)" in text


def test_a_failed_gate_is_three_and_says_why(hengwen, start) -> None:
    start({"a": HIGH, "b": LOW})
    done = hengwen("gate", "plan.yaml")
    assert done.code == 3
    lines = done.out.splitlines()
    assert lines[1] == "b does not pass: 2 of 2 gates fail."
    assert "▼ Fails: t/tenths.value >= 0.6 and coverage(t/tenths.value) >= 0.95" in lines
    (drop,) = (line for line in lines if line.startswith("▼ fails  no_drop(t/*, a)"))
    assert "−0.30" in drop
    assert drop.endswith("from a, p < .001, 40 prompts")
    drop = "significantly worse than a: t/tenths.value −0.30 p < .001; "
    assert drop in hengwen("gate", "plan.yaml", "-v").out


@pytest.mark.slow
def test_an_inconclusive_gate_is_four_and_says_what_to_do(hengwen, start) -> None:
    start({"a": HIGH, "b": HIGH})
    done = hengwen("gate", "plan.yaml", "--gate", "t/tenths.value >= 0.8", "--gate", "no_drop(*)")
    assert done.code == 4
    lines = done.out.splitlines()
    assert lines[1] == "Undecided whether b passes: 2 of 2 gates cannot be told."
    assert any(line.startswith("◇ undecided") and "t/tenths.value" in line for line in lines)
    assert "there is no baseline; pin one: hengwen runs pin RUN, or name one: --baseline RUN" in done.out
    verbose = hengwen("gate", "plan.yaml", "--gate", "t/tenths.value >= 0.8", "-v").out
    assert "undecided: the interval contains the limit" in verbose
    assert hengwen("runs", "pin", "a").code == 0
    assert hengwen("gate", "plan.yaml", "--gate", "no_drop(*)").code == 0
    assert hengwen("gate", "plan.yaml", "--gate", "no_drop(*)", "--baseline", "b", "--run", "a").code == 0


def test_nothing_scored_is_one(hengwen, start) -> None:
    start({"a": HIGH, "b": ["x"] * 40})
    done = hengwen("gate", "plan.yaml")
    assert done.code == 1
    assert "▼ Not scored: t/tenths.value >= 0.6 and coverage(t/tenths.value) >= 0.95" in done.out
    assert "nothing is scored; " in done.out
    assert "nothing is scored (40 scorer_error (first: " in hengwen("gate", "plan.yaml", "-v").out


def test_gates_that_warn_do_not_fail(hengwen, start) -> None:
    start({"a": LOW}, gates=[{"gate": "t/tenths.value >= 0.6", "tier": "warn"}])
    done = hengwen("gate", "plan.yaml")
    assert done.code == 0
    assert "– warns only  t/tenths.value >= 0.6" in done.out


def test_chinese_has_no_english_sentences(hengwen, start) -> None:
    start({"a": HIGH, "b": LOW})
    done = hengwen("gate", "plan.yaml", "--lang", "zh", "-v")
    assert "b 未通过：2 条门槛中 2 条不成立。" in done.out
    assert "比 a 显著变差：t/tenths.value −0.30" in done.out
    assert "prompts" not in done.out


def test_json_has_everything(hengwen, start) -> None:
    start({"a": HIGH, "b": LOW})
    done = hengwen("gate", "plan.yaml", "--json")
    assert (done.code, done.json["exit_code"], done.json["schema"]) == (3, 3, 1)
    assert done.json["run"]["checkpoint"] == "b"
    threshold, drop = done.json["gates"]
    assert [term["kind"] for term in threshold["terms"]] == ["score", "coverage"]
    (term,) = drop["terms"]
    assert (term["baseline"]["checkpoint"], term["look"], term["n"]) == ("a", 1, 40)
    assert term["scores"][0]["difference"] == pytest.approx(-0.3)
    assert term["p"] < 0.001


def test_quiet_prints_nothing(hengwen, start) -> None:
    start({"a": HIGH, "b": LOW})
    done = hengwen("gate", "plan.yaml", "-q")
    assert (done.code, done.out, done.err) == (3, "", "")


def test_the_files_of_a_job_are_written(
    hengwen, start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    start({"a": HIGH, "b": LOW})
    step = tmp_path / "step.md"
    step.write_text("before\n", "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    done = hengwen(
        "gate", "plan.yaml", "--junit", "j.xml", "--summary", "s.md", "--comment", "c.md", "-o", "g.csv"
    )
    assert (done.code, done.err) == (3, "report: g.csv\n")
    rows = csv.DictReader(Path("g.csv").read_text("utf-8").splitlines())
    assert [row["outcome"] for row in rows] == ["failed", "failed", "passed"]
    suites = ElementTree.parse("j.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "2")
    summary = Path("s.md").read_text("utf-8")
    assert step.read_text("utf-8") == f"before\n{summary}"
    assert Path("c.md").read_text("utf-8") == f"<!-- hengwen-gate:p -->\n{summary}"


def test_an_output_may_not_be_an_input(hengwen, start) -> None:
    start({"a": HIGH, "b": LOW})
    for target in ("plan.yaml", "hengwen.db", "a.jsonl"):
        assert hengwen("gate", "plan.yaml", "--junit", target).code == 2
    assert "name the same file" in hengwen("gate", "plan.yaml", "--summary", "s.md", "-o", "s.md").err


@pytest.mark.slow
@pytest.mark.parametrize("second", ["x", "./x", "folder/../x", "linked/x"])
def test_two_outputs_may_not_be_one_file(hengwen, start, second: str) -> None:
    start({"a": HIGH})
    Path("folder").mkdir()
    Path("linked").symlink_to(".")
    done = hengwen("gate", "plan.yaml", "--junit", "y", "--summary", second, "--comment", "x")
    assert done.code == 2
    assert done.err == "hengwen: --summary and --comment name the same file; name different files\n"
    assert not Path("y").exists()


def test_an_output_may_not_be_the_summary_of_the_step(
    hengwen, start, monkeypatch: pytest.MonkeyPatch
) -> None:
    start({"a": HIGH})
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(Path("step.md").absolute()))
    done = hengwen("gate", "plan.yaml", "--comment", "step.md")
    assert (done.code, done.err) == (
        2,
        "hengwen: --comment and GITHUB_STEP_SUMMARY name the same file; name different files\n",
    )


def test_a_gate_runs_no_code_of_the_plan(hengwen, start) -> None:
    start({"a": HIGH, "b": HIGH})
    Path("tenths.py").write_text("raise SystemExit('code ran')", "utf-8")
    assert hengwen("gate", "plan.yaml").code == 0


REPLIES: list[dict[str, Any]] = [
    {"messages": [["user", name]], "repeat": repeat, "text": f"{7 + (number + repeat * 2) % 3} x"}
    for number, name in enumerate(NAMES)
    for repeat in range(1, 9)
]
BACKENDS = {"subject": {"provider": "replay", "file": "replies.jsonl"}}


def newest_run(checkpoint: str) -> str:
    with open_store("hengwen.db") as store:
        return store.find(checkpoint).id
