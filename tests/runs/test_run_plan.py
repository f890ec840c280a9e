"""What a run builds, and what it leaves alone."""

from __future__ import annotations

import gc
import json
from collections import Counter
from pathlib import Path

import pytest

from hengwen import run_plan
from hengwen.plans.suite import ConfiguredJudge
from hengwen.runs.options import RunOptions
from hengwen.runs.score_file import judge_file
from hengwen.store import open_store


def to_jsonl(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Write a plan of two checkpoints for the rules judge, with an anchor."""
    (tmp_path / "samples.jsonl").write_text(to_jsonl({"id": "a", "input": "写一句话"}), "utf-8")
    for checkpoint in ("early", "late"):
        answer = {"id": "a", "output": "海风吹过灯塔。"}
        (tmp_path / f"{checkpoint}.jsonl").write_text(to_jsonl(answer), "utf-8")
    anchor = {
        "task": "t",
        "id": "x",
        "input": "问",
        "output": "答",
        "score": "lyric_craft.level",
        "value": 0.5,
    }
    (tmp_path / "anchors.jsonl").write_text(to_jsonl(anchor), "utf-8")
    (tmp_path / "plan.yaml").write_text(
        """\
name: p
tasks:
  - {name: t, samples: samples.jsonl, judges: [{rubric: lyric_craft}]}
checkpoints:
  - {name: early, responses: early.jsonl}
  - {name: late, responses: late.jsonl}
anchors: anchors.jsonl
""",
        "utf-8",
    )
    return tmp_path / "plan.yaml"


@pytest.mark.parametrize(("fresh", "count"), [(False, 2), (True, 1)], ids=["resumable", "fresh"])
def test_judges_are_built_once_for_each_checkpoint_and_scope_of_calls(
    plan: Path, monkeypatch: pytest.MonkeyPatch, fresh: bool, count: int
) -> None:
    builds: Counter[str] = Counter()
    build = ConfiguredJudge.build

    def counted(self, persona, backends):
        builds[self.name] += 1
        return build(self, persona, backends)

    monkeypatch.setattr(ConfiguredJudge, "build", counted)
    result = run_plan(plan, store=plan.with_name("x.db"), options=RunOptions(fresh=fresh))
    assert len(result.runs) == 2
    assert builds == {"lyric_craft": 2 * count}, "anchors need judges of their own unless all calls are new"


def test_a_library_call_does_not_tune_the_garbage_collector(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("the garbage collector belongs to the caller")

    monkeypatch.setattr(gc, "set_threshold", refuse)
    monkeypatch.setattr(gc, "freeze", refuse)
    assert len(run_plan(plan, store=plan.with_name("x.db")).runs) == 2


def test_a_limit_of_judge_file_counts_rows(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(to_jsonl(*({"id": str(i), "output": "海风吹过灯塔。"} for i in range(3))), "utf-8")
    with open_store(tmp_path / "x.db") as store:
        judge_file(source, target, rubric="lyric_craft", store=store, options=RunOptions(limit=2))
    assert [json.loads(line)["id"] for line in target.read_text("utf-8").splitlines()] == ["0", "1"]
