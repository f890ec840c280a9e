"""``hengwen calibrate``, as a person uses it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from hengwen.judges import read_calibrations

pytestmark = pytest.mark.slow

PLAN = """\
name: talk
tasks:
  - name: chat
    samples: chat.jsonl
    judges:
      - rubric: mine.yaml
checkpoints:
  - {name: early, responses: early.jsonl}
  - {name: late, responses: late.jsonl}
labels: labels.csv
"""
RUBRIC = """\
name: mine
version: 1
title: {zh: 甲, en: A}
instructions: {zh: 看, en: Look}
levels:
  0: {label: E, zh: 差, en: bad}
  0.25: {label: D, zh: 次, en: poor}
  0.5: {label: C, zh: 中, en: fair}
  0.75: {label: B, zh: 好, en: good}
  1: {label: A, zh: 佳, en: best}
examples:
  - {input: 问, response: 晚上好，船友七号。, level: 0.75, reason: 像}
rules:
  plain_text: true
"""
TEXTS = {0.0: "", 0.5: "## 标题\n第{}句", 0.75: "晚上好，船友{}号。"}
LEVELS = [0.75, 0.5, 0.0, 0.75]


def jsonl(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def write_labels(path: Path, rows: list[dict]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        header = ["task", "id", "checkpoint", "repeat", "output", "score", "value", "rater"]
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        for row in rows:
            writer.writerow({"task": "chat", "repeat": 1, "score": "mine.level", "rater": "me", **row})


def human(i: int) -> float:
    """What people say: mostly what the rules say, sometimes a level beside."""
    value = LEVELS[i % 4]
    return value + 0.25 if i % 5 == 0 else value


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A plan of 24 prompts and two checkpoints, 40 labels."""
    (tmp_path / "plan.yaml").write_text(PLAN, "utf-8")
    (tmp_path / "mine.yaml").write_text(RUBRIC, "utf-8")
    jsonl(tmp_path / "chat.jsonl", [{"id": f"p{i}", "input": "在吗"} for i in range(24)])
    for start, name in ((0, "early"), (24, "late")):
        rows = [
            {"id": f"p{i}", "output": TEXTS[LEVELS[(start + i) % 4]].format(start + i)} for i in range(24)
        ]
        jsonl(tmp_path / f"{name}.jsonl", rows)
    labels = [{"id": f"p{i}", "checkpoint": "early", "value": human(i)} for i in range(24)]
    labels += [{"id": f"p{i}", "checkpoint": "late", "value": human(24 + i)} for i in range(16)]
    write_labels(tmp_path / "labels.csv", labels)
    return tmp_path


def test_a_plan_is_calibrated_on_its_labels(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", "plan.yaml", "-o", "c.json", "-v")
    assert done.code == 0, done.err
    for text in (
        "chat/mine.level",
        "· chat/mine.level: certified: ",
        "quadratic",
        "[",
        "judge - human",
    ):
        assert text in done.out
    assert "report: c.json" in done.err
    (calibration,) = read_calibrations(talk / "c.json")
    assert (calibration.agreement.n, calibration.agreement.prompts, calibration.raters) == (40, 24, 1)
    assert [mean.checkpoint for mean in calibration.means] == ["", "early", "late"]
    assert calibration.rubric == "mine 1"
    assert calibration.rubric_hash in calibration.signature
    assert (calibration.means[0].corrected.n, calibration.means[0].corrected.others) == (40, 8)


def test_the_same_from_the_store_alone_by_the_labels_in_its_runs(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    by_plan = hengwen("calibrate", "plan.yaml", "--json").json["calibrations"][0]
    (talk / "plan.yaml").unlink()
    for arguments in ([], ["hengwen.db"], ["hengwen.db", "--labels", "labels.csv"]):
        by_store = hengwen("calibrate", *arguments, "--json").json["calibrations"][0]
        assert by_store["agreement"] == by_plan["agreement"], arguments
        assert by_store["signature"] == by_plan["signature"]


def test_more_raters_in_a_file_of_their_own(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    rows = [
        {"id": f"p{i}", "checkpoint": "early", "value": human(i), "rater": rater}
        for i in range(24)
        for rater in "ab"
    ]
    write_labels(talk / "two.csv", rows)
    (calibration,) = hengwen("calibrate", "plan.yaml", "--labels", "two.csv", "--json").json["calibrations"]
    assert (calibration["raters"], calibration["agreement"]["n"], calibration["ceiling"]["value"]) == (
        2,
        24,
        1.0,
    )
    assert calibration["decision"] == "insufficient"
    rows += [{"id": "p1", "checkpoint": "early", "value": 0.75, "rater": "c"}]
    write_labels(talk / "three.csv", rows)
    assert (
        "values between levels, counted as the nearest: 1"
        in hengwen("calibrate", "plan.yaml", "--labels", "three.csv", "-v").out
    )


def test_few_labels_are_inconclusive(hengwen, talk: Path) -> None:
    write_labels(talk / "few.csv", [{"id": f"p{i}", "checkpoint": "early", "value": 0.5} for i in range(3)])
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", "plan.yaml", "--labels", "few.csv", "-v")
    assert done.code == 4
    assert "◇ chat/mine.level: insufficient: 3 labels, but a verdict needs 30" in done.out
    assert "all human values are the same" in done.out
    assert "100% of the labels are on one level (0.5)" in " ".join(done.out.split())
    assert "100% of the labels" in hengwen("calibrate", "plan.yaml", "--labels", "few.csv", "-q").err


def test_an_answer_that_is_an_example_of_the_rubric_is_left_out(hengwen, talk: Path) -> None:
    rows = [json.loads(line) for line in (talk / "early.jsonl").read_text("utf-8").splitlines()]
    rows[0]["output"] = "晚上好，船友七号。"
    jsonl(talk / "early.jsonl", rows)
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", "plan.yaml", "-v")
    assert "labels not used: 1 for examples of the rubric" in done.out
    assert "n=39" in done.out


def test_labels_of_a_text_that_changed_are_left_out(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    rows = [
        {"id": f"p{i}", "checkpoint": "early", "value": 0.5, "output": "another" if i else ""}
        for i in range(6)
    ]
    write_labels(talk / "texts.csv", rows)
    done = hengwen("calibrate", "--labels", "texts.csv", "-v")
    assert done.code == 4
    assert "labels not used: 5 for another text" in done.out


def test_a_calibration_is_stale_when_the_judge_changes(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    hengwen("calibrate", "plan.yaml", "-q", "-o", "c.json")
    fresh = hengwen("calibrate", "plan.yaml", "--check", "c.json")
    assert (fresh.code, fresh.err) == (0, "chat/mine.level: certified, still valid\n")
    (talk / "mine.yaml").write_text(
        RUBRIC.replace("plain_text: true", "plain_text: true\n  taboo: [x]"), "utf-8"
    )
    hengwen("run", "plan.yaml", "-q")
    other = hengwen("calibrate", "plan.yaml", "--check", "c.json")
    assert other.code == 4
    assert "chat/mine.level: stale: signature: rules:" in other.err


def test_a_rubric_that_changed_since_the_run_is_inconclusive(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    hengwen("calibrate", "plan.yaml", "-q", "-o", "c.json")
    (talk / "mine.yaml").write_text(RUBRIC.replace("zh: 佳", "zh: 上佳"), "utf-8")
    done = hengwen("calibrate", "plan.yaml", "-o", "d.json")
    assert done.code == 4
    assert "run the plan again, then calibrate" in done.err
    assert not (talk / "d.json").exists()
    checked = hengwen("calibrate", "plan.yaml", "--check", "c.json")
    assert checked.code == 4
    assert "stale: rubric: " in checked.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan.yaml", "-o", "c.txt"], "unknown format '.txt' of 'c.txt'"),
        (["nix.db"], "no such store"),
        (["nix.yaml"], "nix.yaml"),
        (["plan.yaml", "--score", "chat/mine.levle"], "did you mean 'chat/mine.level'?"),
        (["plan.yaml", "--labels", "nix.csv"], "no such file"),
        (["plan.yaml", "--labels", "off.csv"], "off.csv:2: value 0.6 is no level of mine.level"),
        (["hengwen.db", "--labels", "other.csv"], "no label names a judged score"),
        (["plan.yaml", "--check", "nix.json"], "no such file; create it with: hengwen calibrate"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_in_one_line(hengwen, talk: Path, arguments: list[str], message: str) -> None:
    write_labels(talk / "off.csv", [{"id": "p0", "checkpoint": "early", "value": 0.6}])
    write_labels(talk / "other.csv", [{"id": "p0", "checkpoint": "early", "value": 1, "score": "x.level"}])
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_an_older_judge_is_not_mixed_in(hengwen, talk: Path) -> None:
    """The second checkpoint is judged by changed rules: its judge is calibrated, and only it."""
    hengwen("run", "plan.yaml", "-q")
    text = (talk / "plan.yaml").read_text("utf-8")
    (talk / "mine.yaml").write_text(
        RUBRIC.replace("plain_text: true", "plain_text: true\n  taboo: [x]"), "utf-8"
    )
    (talk / "plan.yaml").write_text(text.replace("  - {name: early, responses: early.jsonl}\n", ""), "utf-8")
    hengwen("run", "plan.yaml", "-q")
    (talk / "plan.yaml").write_text(text, "utf-8")
    done = hengwen("calibrate", "plan.yaml", "--json")
    assert "excluded 24 answers scored by an earlier judge" in done.err
    assert done.json["calibrations"][0]["agreement"]["n"] == 16


def test_every_column_is_on_a_narrow_terminal(hengwen, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hengwen("run", "plan.yaml", "-q")
    monkeypatch.setenv("COLUMNS", "80")
    out = hengwen("calibrate", "-v").out
    assert "…" not in out
    assert "within one level" in out


def test_a_report_says_what_a_calibration_found_and_when_it_is_stale(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    hengwen("calibrate", "plan.yaml", "-q", "-o", "c.json")
    assert hengwen("report", "--calibration", "c.json", "-q", "-o", "r.md").code == 0
    text = (talk / "r.md").read_text("utf-8")
    assert "against human labels: certified" in text
    assert "stale" not in text
    (talk / "mine.yaml").write_text(
        RUBRIC.replace("plain_text: true", "plain_text: true\n  taboo: [x]"), "utf-8"
    )
    hengwen("run", "plan.yaml", "-q")
    warnings = hengwen("report", "--calibration", "c.json", "--json").json["warnings"]
    assert any("the calibration is stale: signature: rules:" in warning for warning in warnings)
    assert "no such file; create it with" in hengwen("report", "--calibration", "nix.json").err


def test_a_judge_that_is_not_certified_is_exit_3(hengwen, talk: Path) -> None:
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", "plan.yaml", "--threshold", "0.99")
    assert done.code == 3
    assert "▼ chat/mine.level: not certified: " in done.out


def test_the_draw_of_the_labels_is_shown_and_reaches_the_store(hengwen, talk: Path) -> None:
    before = hengwen("run", "plan.yaml", "--json").json["runs"][0]["scores"]["chat/human.mine.level"]
    assert "how answers were drawn: unknown (40 labels)" in hengwen("calibrate", "plan.yaml", "-v").out
    drawn = "random|seed:0|from:48|strata:none"
    with (talk / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = [{**row, "drawn": drawn} for row in csv.DictReader(file)]
    with (talk / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    after = hengwen("run", "plan.yaml", "--json").json["runs"][0]["scores"]["chat/human.mine.level"]
    assert after == before, "the draw changes no value and no signature"
    for source in ("plan.yaml", "hengwen.db"):
        assert hengwen("calibrate", source, "--json").json["calibrations"][0]["drawn"] == {drawn: 40}, source


def test_labels_of_the_best_answers_only_hide_the_mean_of_the_labels(hengwen, talk: Path) -> None:
    rows = [
        {"id": f"p{i % 24}", "checkpoint": "early" if i < 24 else "late", "value": 0.75}
        for i in range(48)
        if LEVELS[i % 4] == 0.75
    ]
    write_labels(talk / "best.csv", rows)
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", "plan.yaml", "--labels", "best.csv", "-v")
    assert "so they are no random sample" in " ".join(done.out.split())
    assert "0.750 [" not in done.out


def test_tasks_that_share_a_rubric_are_also_calibrated_together(hengwen, talk: Path) -> None:
    plan = (talk / "plan.yaml").read_text("utf-8")
    task = plan.partition("tasks:\n")[2].partition("checkpoints:")[0]
    both = task + task.replace("name: chat", "name: talk").replace(
        "rubric: mine.yaml", "rubric: mine.yaml\n        options: {taboo: [x]}"
    )
    (talk / "plan.yaml").write_text(plan.replace(task, both), "utf-8")
    for name in ("early", "late"):
        answers = [json.loads(line) for line in (talk / f"{name}.jsonl").read_text("utf-8").splitlines()]
        jsonl(talk / f"{name}.jsonl", [{**row, "task": task} for task in ("chat", "talk") for row in answers])
    labels = [
        {"task": task, "id": f"p{i}", "checkpoint": "early", "value": human(i)}
        for task in ("chat", "talk")
        for i in range(24)
    ]
    write_labels(talk / "labels.csv", labels)
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", "plan.yaml", "-o", "c.json")
    assert "chat+talk/mine.level (pooled over 2 tasks): certified: " in done.out
    assert done.code == 4, "each task alone has 24 labels"
    calibrations = read_calibrations(talk / "c.json")
    assert [(c.address, c.decision, c.agreement.n) for c in calibrations] == [
        ("chat/mine.level", "insufficient", 24),
        ("talk/mine.level", "insufficient", 24),
        ("chat+talk/mine.level", "certified", 48),
    ]
    assert calibrations[-1].agreement.prompts == 48
    checked = hengwen("calibrate", "plan.yaml", "--check", "c.json")
    assert (checked.code, "chat+talk/mine.level: certified, still valid" in checked.err) == (0, True)
    (talk / "mine.yaml").write_text(RUBRIC.replace("plain_text: true", "plain_text: true\n  taboo: [y]"))
    hengwen("run", "plan.yaml", "-q")
    checked = hengwen("calibrate", "plan.yaml", "--check", "c.json")
    assert "chat+talk/mine.level: stale: signature: " in checked.err
    chat_only = hengwen("calibrate", "plan.yaml", "--score", "chat/mine.level", "--json").json
    assert len(chat_only["calibrations"]) == 1


def test_without_labels_the_ways_to_them_are_named(hengwen, plan: Path) -> None:
    plan.write_text(plan.read_text("utf-8").replace("labels: labels.csv\n", ""), "utf-8")
    hengwen("run", "plan.yaml", "-q")
    done = hengwen("calibrate", "plan.yaml")
    assert done.code == 2
    assert done.err == (
        "hengwen: plan.yaml: there are no labels to compare with; label answers with: hengwen label PLAN, or "
        "name a file of labels: --labels FILE, or labels: in the plan\n"
    )
