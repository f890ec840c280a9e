"""Scores of whole sets of answers, compared between the runs of a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from hengwen import compare_runs, drift_report, report_document
from hengwen.documents.compare.document import compare_document
from hengwen.documents.decision import decision_record
from hengwen.documents.drift.document import drift_document
from hengwen.documents.groups import group_verdicts
from hengwen.documents.render.markdown import to_markdown
from hengwen.monitoring.tested_scores import compare_groups
from hengwen.objective.diversity import compare_sets
from hengwen.objective.diversity.scorers import DistinctN
from hengwen.runs.run_plan import run_plan
from hengwen.store import open_store

WORDS = [chr(0x4E00 + i) for i in range(30)]
ADDRESS = "t/distinct_2.checkpoint"
PROMPTS = 12


def text_of(prompt: int, variety: int, size: int) -> str:
    return "".join(WORDS[(prompt * 7 + i * i * (1 + i // 5)) % variety] for i in range(size))


def write_plan(folder: Path, runs: dict[str, tuple[int, int]]) -> Path:
    """Write a plan with answers of each run: how many words they choose from, and how long they are."""
    samples = [json.dumps({"id": f"p{i}", "input": "x"}) for i in range(PROMPTS)]
    (folder / "prompts.jsonl").write_text("\n".join(samples), "utf-8")
    for name, (variety, size) in runs.items():
        rows = [
            json.dumps({"id": f"p{i}", "output": text_of(i, variety, size)}, ensure_ascii=False)
            for i in range(PROMPTS)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(rows), "utf-8")
    checkpoints = "".join(f"  - {{name: {name}, responses: {name}.jsonl}}\n" for name in runs)
    plan = folder / "plan.yaml"
    plan.write_text(
        f"name: p\ncheckpoints:\n{checkpoints}tasks:\n  - name: t\n    samples: prompts.jsonl\n"
        "    scorers: [distinct_n]\n",
        "utf-8",
    )
    return plan


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


@pytest.mark.slow
def test_a_collapse_is_told_by_report_compare_and_drift(store, tmp_path) -> None:
    result = run_plan(write_plan(tmp_path, {"a": (26, 40), "b": (26, 40), "c": (5, 40)}), store=store)
    groups = compare_groups(store, result.runs)
    assert [(item.earlier, item.later, item.verdict) for item in groups] == [
        (0, 1, "no difference seen"),
        (0, 2, "worse"),
        (1, 2, "worse"),
    ]
    assert all(item.p_adjusted >= item.test.p for item in groups)
    sentence = group_verdicts(groups, ("a", "b", "c"))[ADDRESS].sentence
    assert "is worse than a" in sentence.en or "is worse than b" in sentence.en
    documents = [
        report_document(store, result.runs),
        compare_document(compare_runs(store, "a", "c")),
        drift_document(drift_report(store)),
    ]
    for document in documents:
        assert "at equal numbers of tokens" in " ".join(to_markdown(document, "en").split()), document.kind
        records = cast("list[dict[str, str]]", document.record["groups"])
        assert {item["verdict"] for item in records} >= {"worse"}
    (compared,) = compare_groups(store, [result.runs[0], result.runs[2]])
    change = f"−{-compared.test.difference:.2f} at equal length"
    assert change in to_markdown(documents[1], "en"), "not a difference beside values of other lengths"
    same = to_markdown(compare_document(compare_runs(store, "a", "b")), "en")
    assert "**No difference seen**: " in same, "it is tested, though no prompt has a value"
    (score,) = result.decision.scores
    assert [item.standing for item in score.standings] == ["not worse", "best seen", "worse"]
    assert (score.newest, score.peak, score.is_group, score.problem) == ("worse", "b", True, "")
    (pair,) = [item for item in groups if (item.earlier, item.later) == (1, 2)]
    assert (score.change, score.p, score.prompts) == (pair.test.difference, pair.p_adjusted, PROMPTS)
    assert (result.decision.verdict, result.decision.on_every_list) == ("ship", ("a", "b"))
    for document in (documents[0], documents[2]):
        assert document.record["decision"] == decision_record(result.decision)


def test_only_some_prompts_of_many_are_exchanged_and_always_the_same(store, tmp_path, monkeypatch) -> None:
    runs = run_plan(write_plan(tmp_path, {"a": (26, 40), "b": (5, 40)}), store=store).runs
    (whole,) = compare_groups(store, runs)
    monkeypatch.setattr(compare_sets, "MAX_PROMPTS", 8)
    (part,) = compare_groups(store, runs)
    assert (whole.test.units, part.test.units) == (PROMPTS, 8)
    assert part == compare_groups(store, runs)[0]
    assert (part.verdict, part.values) == ("worse", whole.values)


def test_longer_answers_alone_are_no_difference(store, tmp_path) -> None:
    runs = run_plan(write_plan(tmp_path, {"a": (26, 30), "b": (26, 60)}), store=store).runs
    (item,) = compare_groups(store, runs)
    assert item.values[0] > item.values[1], "the share falls with the length"
    assert item.test.first == item.test.second
    assert (item.verdict, item.p_adjusted) == ("no difference seen", 1.0)


def test_of_many_checkpoints_the_newest_is_tested_against_three(store, tmp_path):
    plan = write_plan(tmp_path, {f"c{i}": (20 + i % 3, 30) for i in range(9)})
    runs = run_plan(plan, store=store).runs
    assert [(item.earlier, item.later) for item in compare_groups(store, runs)] == [(0, 8), (5, 8), (7, 8)]
    assert compare_groups(store, runs, used={"t/other"}) == ()


def test_a_score_whose_tokens_are_counted_in_another_way_is_not_tested(store, tmp_path, monkeypatch) -> None:
    signature = DistinctN().signature.replace("|v:", "|by:word|v:")
    monkeypatch.setattr(DistinctN, "signature", signature)
    runs = run_plan(write_plan(tmp_path, {"a": (26, 40), "b": (5, 40)}), store=store).runs
    assert compare_groups(store, runs) == ()
