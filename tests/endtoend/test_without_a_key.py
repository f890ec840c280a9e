"""What needs no key: a dry run, and every command with the rules judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from hengwen import open_store

pytestmark = pytest.mark.slow


def with_models(plan: Path) -> None:
    """Give the small plan a judge and a checkpoint at OpenAI's own endpoint."""
    data = yaml.safe_load(plan.read_text("utf-8"))
    data["tasks"][0]["judges"] = [
        {"rubric": "lyric_craft", "backend": "m"},
        {"rubric": "lyric_craft", "name": "panel", "panel": ["m", "n"], "quorum": 1},
        {"rubric": "lyric_craft", "name": "ruled", "options": {"markers": ["云"]}},
    ]
    data["checkpoints"].append({"name": "live", "backend": "m"})
    data["backends"] = {name: {"provider": "openai", "model": f"{name}-1"} for name in ("m", "n")}
    plan.write_text(yaml.safe_dump(data, allow_unicode=True), "utf-8")


def test_a_dry_run_needs_no_key(hengwen, plan: Path) -> None:
    with_models(plan)
    done = hengwen("run", "plan.yaml", "--dry-run", "--json")
    assert (done.code, done.err) == (0, "")
    calls = {(cost["backend"], cost["role"]): cost["usage"]["calls"] for cost in done.json["expected"]}
    assert calls == {("m", "subject"): 2, ("m", "judge"): 12, ("n", "judge"): 6}
    missing = hengwen("run", "plan.yaml")
    assert (missing.code, "no API key: set OPENAI_API_KEY" in missing.err) == (2, True)


@pytest.mark.parametrize("by_variable", [False, True], ids=["option", "variable"])
def test_the_rules_judge_takes_the_place_of_models(
    hengwen, plan: Path, monkeypatch: pytest.MonkeyPatch, by_variable: bool
) -> None:
    with_models(plan)
    text = plan.read_text("utf-8").replace("- backend: m\n  name: live\n", "")
    plan.write_text(text, "utf-8")
    if by_variable:
        monkeypatch.setenv("HENGWEN_JUDGE", "rules")
    done = hengwen("run", "plan.yaml", "--json", *([] if by_variable else ["--judge", "rules"]))
    assert (done.code, done.err) == (0, "")
    scores = done.json["runs"][0]["scores"]
    levels = {name: scores[f"lyrics/{name}.level"]["signature"] for name in ("lyric_craft", "panel", "ruled")}
    assert all("|rules:" in signature for signature in levels.values())
    assert len({signature.partition("|")[2] for signature in levels.values()}) == 2, "ruled keeps its markers"


def test_every_command_with_a_judge_takes_rules(hengwen, plan: Path) -> None:
    assert hengwen("demo", "--judge", "rules", "-q").code == 0
    judged = hengwen("score", "b.jsonl", "-o", "v.jsonl", "--rubric", "lyric_craft", "--judge", "rules")
    assert judged.code == 0
    assert hengwen("run", "plan.yaml", "--judge", "rules", "--dry-run").out == "no calls needed\n"
    assert hengwen("doctor", "--judge", "rules", "--dry-run").code == 0


def test_the_imported_muice_plan_runs_without_a_key(hengwen, shared, tmp_path: Path) -> None:
    document = shared("seeds/004_873db047e97b039a.txt")
    assert hengwen("import", "muice", document, "-o", "muice").code == 0
    dry = hengwen("run", "muice/plan.yaml", "--dry-run", "--json")
    assert (dry.code, len(dry.json["expected"])) == (0, 2)
    rows = [
        {"task": task, "id": json.loads(line)["id"], "output": f"嗯，{number}号回答，今天也很开心呀。"}
        for task in ("new_topic", "live", "emotion")
        for number, line in enumerate((tmp_path / f"muice/{task}.jsonl").read_text("utf-8").splitlines())
    ]
    answers = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (tmp_path / "muice/stored.jsonl").write_text(answers, "utf-8")
    plan = tmp_path / "muice/plan.yaml"
    text = plan.read_text("utf-8")
    assert "{name: my-model, backend: subject}" in text
    plan.write_text(text.replace("backend: subject}", "responses: stored.jsonl}"), "utf-8")
    done = hengwen("run", "muice/plan.yaml", "--judge", "rules", "-q")
    assert done.code == 0, done.err
    with open_store(tmp_path / "hengwen.db") as store:
        (run,) = store.runs()
        assert (run.status, sum(usage.calls for usage in store.usage([run]).values())) == ("finished", 0)


PLAIN = """\
name: plain
version: 1
title: {zh: 题}
instructions: {zh: 评}
levels:
  0: {label: a, zh: 差}
  1: {label: b, zh: 好}
"""


def test_a_rubric_in_one_language_is_accepted_with_a_warning(hengwen, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text(PLAIN, "utf-8")
    plan.write_text(plan.read_text("utf-8").replace("lyric_craft", "plain.yaml"), "utf-8")
    (tmp_path / "labels.csv").write_text(
        (tmp_path / "labels.csv").read_text("utf-8").replace("lyric_craft.level,0.5", "plain.level,1"),
        "utf-8",
    )
    done = hengwen("validate", "plan.yaml")
    warning = "plan.yaml:7: rubric 'plain' is in one language only: its texts stand for both zh and en"
    assert (done.code, done.err) == (
        0,
        f"hengwen: warning: {tmp_path}/{warning}\n".replace(f"{tmp_path}/", ""),
    )


def test_a_file_of_which_nothing_was_judged_is_exit_1(hengwen, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text(PLAIN, "utf-8")
    done = hengwen("score", "b.jsonl", "-o", "v.jsonl", "--rubric", "plain.yaml")
    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        "hengwen: no row could be scored, first failure: the rules judge cannot see this answer: "
        "the rubric has no rules block and nothing is broken"
    )
    assert len((tmp_path / "v.jsonl").read_text("utf-8").splitlines()) == 2
