"""Reasons that a run does not store are computed again for the answers that a report shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rows import each_row
from score_rows import by_score

from hengwen import registry
from hengwen.documents.answers.sources import ScoreExplainer
from hengwen.objective.lyrics.scorer import Lyric
from hengwen.protocols import EvaluationContext
from hengwen.records import Failure, Response, Run, Sample
from hengwen.store.queries import Answer

SAMPLE = Sample(id="a", input="写一首", metadata={"template": "(verse)\ncR\ncR\ncc"}, task="t")
TEXT = "(verse)\n月光\n海洋\n风起"


def run(*scorers: dict[str, Any]) -> Run:
    return Run(
        id="r", plan="p", plan_hash="h", checkpoint="c", facts={"tasks": {"t": {"scorers": [*scorers]}}}
    )


def answer(*outcomes: Any) -> Answer:
    return Answer(
        task="t",
        sample_id="a",
        repeat=1,
        input="写一首",
        text=TEXT,
        outcomes=by_score(*outcomes),
        sample=SAMPLE,
    )


LYRIC = {"name": "lyric", "options": {"rhyme_scope": "whole"}}
SCORER = Lyric(rhyme_scope="whole")
STORED = SCORER.score(SAMPLE, Response(sample_id="a", text=TEXT), EvaluationContext(details=False))


def test_a_run_stores_no_reasons_and_a_report_has_them() -> None:
    assert not any(score.reason or score.details for score in STORED)
    explained = ScoreExplainer().explain(run(LYRIC), answer(*STORED))
    assert list(explained.values()) == SCORER.score(SAMPLE, Response(sample_id="a", text=TEXT))


@each_row(
    "facts",
    [(), ({"name": "no_such", "options": {}},), ({"name": "lyric", "options": {"rules": "no such"}},)],
    ids=["an older run", "a plug-in that is not installed", "an option that does not exist"],
)
def test_what_cannot_be_reproduced_stays_without_a_reason(facts: tuple[dict[str, Any], ...]) -> None:
    assert ScoreExplainer().explain(run(*facts), answer(*STORED)) == by_score(*STORED)


def test_a_value_of_another_version_is_not_explained_by_this_one() -> None:
    other = [replace(score, value=score.value / 2) for score in STORED]
    explained = ScoreExplainer().explain(run(LYRIC), answer(*other))
    scores = list(explained.values())
    assert [score.value for score in scores] == [score.value for score in other]
    assert scores[0].reason == ""
    failure = Failure(name="lyric.total", status="scorer_error", message="why", signature=SCORER.signature)
    assert ScoreExplainer().explain(run(LYRIC), answer(failure)) == by_score(failure)


def test_only_scorers_that_reproduce_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    build = registry.build
    monkeypatch.setattr(
        registry, "build", lambda group, name, options: built.append(name) or build(group, name, options)
    )
    ScoreExplainer().explain(run({"name": "leakage", "options": {"files": ["/etc/passwd"]}}, LYRIC), answer())
    assert built == ["lyric"]
