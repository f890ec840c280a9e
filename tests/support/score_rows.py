"""Rows and keys of series for tests, from names such as ``human.anchor.persona.level``."""

from __future__ import annotations

from dataclasses import replace

from hengwen.records import Kind, Outcome, Row
from hengwen.results.score_table import SeriesKey
from hengwen.score_id import Role, ScoreId

ROLES: dict[str, Role] = {"human.anchor.": "human anchor", "human.": "human", "anchor.": "anchor"}


def score_of(name: str, task: str = "t") -> ScoreId:
    """Return the identity of a score that tests name as reports do."""
    prefix = next((prefix for prefix in ROLES if name.startswith(prefix)), "")
    evaluator, _, part = name.removeprefix(prefix).partition(".")
    role = ROLES.get(prefix, "task" if part in ("published", "normalised") else "answer")
    return ScoreId(task, evaluator, part, role)


def row_of(
    run_id: str,
    task: str,
    checkpoint: str,
    sample_id: str | None,
    repeat: int | None,
    cluster: str,
    outcome: Outcome,
    item_hash: str = "",
) -> Row:
    """Return a row whose outcome is named as in reports."""
    score = score_of(outcome.name, task)
    outcome = replace(outcome, name=score.base)
    return Row(run_id, score, checkpoint, sample_id, repeat, cluster, outcome, item_hash)


def series_of(run_id: str, task: str, name: str, kind: Kind) -> SeriesKey:
    """Return the key of a series that tests name as reports do."""
    return SeriesKey(run_id, score_of(name, task), kind)


def by_score(*outcomes: Outcome, task: str = "t") -> dict[ScoreId, Outcome]:
    """Return the outcomes of an answer, which are named as in reports, by score."""
    scores = [score_of(outcome.name, task) for outcome in outcomes]
    return {score: replace(outcome, name=score.base) for score, outcome in zip(scores, outcomes, strict=True)}
