"""A rule of an installed package: in a plan, in exemptions, beside a judge and in a report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hengwen import open_store, registry
from hengwen.errors import ConfigError, DataError
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite

MODULE = """
from dataclasses import dataclass
from hengwen.judges.rules.rule import FAIL_SCALE, RuleResult


@dataclass(frozen=True)
class Shouting:
    cap: float = 0.25
    name = "shouting"
    score_name = "shouting.match"
    scale = FAIL_SCALE
    extra_thresholds = ()
    evidence_signature = "shouting|v:1"
    signature = "shouting|v:1"

    def evaluate(self, answer):
        loud = "!" in answer.text
        return RuleResult(
            value=float(loud), en="loud" if loud else "quiet", zh="吵", cap=self.cap if loud else None
        )
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with samples and answers, beside an installed package with one rule."""
    site = tmp_path / "site"
    metadata = site / "shouting_rule-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / "shouting_rule.py").write_text(MODULE, "utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting-rule\nVersion: 1.0\n", "utf-8")
    (metadata / "entry_points.txt").write_text(
        "[hengwen.rules]\nshouting = shouting_rule:Shouting\n", "utf-8"
    )
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)
    registry._installed.cache_clear()
    samples: list[dict] = [
        {"id": "a", "input": "Say hello"},
        {"id": "b", "input": "Shout", "metadata": {"exempt": ["shouting"]}},
        {"id": "c", "input": "Whisper"},
    ]
    answers = {"a": "Good evening to you!", "b": "Hey, over here!", "c": "Good night, sleep well"}
    rows = [{"id": name, "output": text} for name, text in answers.items()]
    for name, items in {"live.jsonl": samples, "day.jsonl": rows}.items():
        (tmp_path / name).write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    yield tmp_path
    registry._installed.cache_clear()


def write_plan(folder: Path, *rules: object) -> Path:
    task = {
        "name": "live",
        "samples": "live.jsonl",
        "rules": rules,
        "judges": [{"rubric": "muice_live", "language": "en"}],
    }
    plan = {"name": "p", "tasks": [task], "checkpoints": [{"name": "day", "responses": "day.jsonl"}]}
    path = folder / "plan.yaml"
    path.write_text(json.dumps(plan), "utf-8")
    return path


def test_it_scores_caps_and_can_be_exempted(run, folder: Path) -> None:
    code, report, err = run(write_plan(folder, "broken", {"shouting": {"cap": 0}}))
    assert (code, err.count("warning")) == (0, 0)
    scores = report["runs"][0]["scores"]
    assert scores["live/shouting.match"]["mean"] == 0.5, "of the two that are not exempt"
    assert scores["live/shouting.match"]["n"] == 2
    assert scores["live/muice_live.level"]["mean"] == 0.75
    assert scores["live/muice_live.final"]["mean"] == pytest.approx((0 + 0.75 + 0.75) / 3)


def test_its_code_score_carries_the_tag_by_which_reports_recognise_rules(run, folder: Path) -> None:
    run(write_plan(folder, "shouting"))
    with open_store(folder / "hengwen.db") as store:
        rows = store.rows([store.runs()[0]])
        signatures = {row.outcome.signature for row in rows if row.score.name == "shouting.match"}
    assert signatures == {"shouting|rule:cap|shouting|v:1"}


def test_wrong_names_are_refused_with_the_installed_rule_among_the_known(folder: Path) -> None:
    with pytest.raises(ConfigError, match="unknown rule 'shoutin'; did you mean 'shouting'"):
        load_plan(write_plan(folder, "shoutin"))
    samples = (folder / "live.jsonl").read_text("utf-8").replace('["shouting"]', '["shoutin"]')
    (folder / "live.jsonl").write_text(samples, "utf-8")
    with pytest.raises(DataError, match=r"live.jsonl:2: .*unknown rule 'shoutin'; did you mean 'shouting'"):
        load_suite(load_plan(write_plan(folder, "shouting")))
