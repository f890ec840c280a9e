"""Read the verdicts (values of answers) that one judge, or one member of a panel, gave in one run."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hengwen.records import Outcome, Row, Run, Score
from hengwen.results.comparability import (
    PROVENANCE,
    ComparabilityKey,
    Difference,
    comparability_of,
    provenance_parts,
)
from hengwen.results.score_table import AnswerId, Column, ScoreTable, SeriesKey

PANEL_TAG = "|panel:"
"""Text that the signature of every panel (several models that judge together) contains."""
SAMPLE_PARTS = ("samples", "references", "repeats", "set size", "anchors")
"""Parts of a comparability key that describe prompts and answers, not the judge."""


class JudgedSeries(NamedTuple):
    """The verdicts of one judge on the answers of one run, with the settings of the judge."""

    column: Column
    judge: ComparabilityKey
    """Settings of the judge: signature, endpoint, model that the server named, reply format and method."""


@dataclass(slots=True)
class PanelVerdicts:
    """Verdicts of the members of a panel (several models that judge together) on the answers of one run."""

    members: dict[str, Column] = field(default_factory=dict)
    """Verdicts of each member; the key is the member's signature (text of a judge's settings)."""
    incomplete: set[AnswerId] = field(default_factory=set)
    """Answers for which at least one member gave no verdict."""

    def add(self, row: Row) -> None:
        """Add the verdicts that the members of the panel gave on one answer."""
        outcome = row.outcome
        verdicts = member_verdicts(outcome)
        if None in verdicts.values():
            self.incomplete.add((row.sample_id, row.repeat))
        models = outcome.details.get("model") if isinstance(outcome, Score) else None
        scored = [signature for signature, value in verdicts.items() if value is not None]
        is_named = isinstance(models, list) and len(models) == len(scored)
        model_of = dict(zip(scored, models, strict=True)) if is_named and isinstance(models, list) else {}
        for signature, value in verdicts.items():
            column = self.members.setdefault(signature, Column())
            status = "missing" if value is None else "ok"
            column.append(row.sample_id, row.repeat, row.cluster, status, value, signature)
            if isinstance(outcome, Score):
                column.scale = column.scale or outcome.scale
            if signature in model_of:
                column.provenance["model", str(model_of[signature])] += 1


def member_verdicts(outcome: Outcome) -> dict[str, float | None]:
    """The value by each member of a panel, with its signature as key; None for a member that failed."""
    if PANEL_TAG not in outcome.signature:
        return {}
    details: Mapping[str, Any] = outcome.details if isinstance(outcome, Score) else _parsed(outcome.raw)
    members, left_out = details.get("members", {}), details.get("left_out", {})
    if not isinstance(members, dict) or not isinstance(left_out, dict):
        return {}
    values = {name: float(value) for name, value in members.items() if isinstance(value, (int, float))}
    return {**values, **dict.fromkeys(left_out)}


def _parsed(raw: str) -> Mapping[str, Any]:
    try:
        details = json.loads(raw)
    except ValueError:
        return {}
    return details if isinstance(details, dict) else {}


def judge_key(table: ScoreTable, series: SeriesKey, run: Run) -> ComparabilityKey:
    """Return the settings of the judge that gave a score."""
    parts = {"signature": " + ".join(sorted(table.series[series].signatures))}
    key = comparability_of(series, table, run.facts)
    if key.is_known:
        parts |= {part: value for part, value in key.parts.items() if part not in SAMPLE_PARTS}
    return ComparabilityKey(parts)


def member_series(panel: JudgedSeries, column: Column) -> JudgedSeries:
    """Return the verdicts of a panel member, with the signature and model of the member, not of the panel."""
    parts = {part: value for part, value in panel.judge.parts.items() if part not in PROVENANCE}
    parts |= {"signature": " + ".join(column.signatures), **provenance_parts(column)}
    return JudgedSeries(replace(column, reducer=panel.column.reducer), ComparabilityKey(parts))


def judge_changes(earlier: ComparabilityKey, later: ComparabilityKey) -> tuple[Difference, ...]:
    """Return the settings in which two judges differ."""
    is_known = len(earlier.parts) > 1 and len(later.parts) > 1
    return tuple(
        difference if difference.part != "signature" else _differing_parts(difference)
        for difference in earlier.differences(later)
        if is_known or difference.part == "signature"
    )


def _differing_parts(difference: Difference) -> Difference:
    first, second = difference.this.split("|"), difference.that.split("|")
    this = "|".join(part for part in first if part not in second)
    that = "|".join(part for part in second if part not in first)
    return difference._replace(this=this, that=that) if this and that else difference


def restricted(
    column: Column, prompts: Collection[str | None], *, without: Collection[AnswerId] = ()
) -> Column:
    """Return a column with only the outcomes of some prompts."""
    kept = Column(scale=column.scale, reducer=column.reducer)
    for sample, repeat, cluster, status, value in column.rows():
        if sample in prompts:
            is_out = value is not None and (sample, repeat) in without
            kept.append(sample, repeat, cluster, *(("missing", None) if is_out else (status, value)), "")
    return kept


def on_common_answers(
    first: Column, second: Column, prompts: Collection[str | None]
) -> tuple[Column, Column]:
    """Return two columns with only the answers to some prompts that have a value in both."""
    answers = first.by_answer().keys(), second.by_answer().keys()
    return (
        restricted(first, prompts, without=answers[0] - answers[1]),
        restricted(second, prompts, without=answers[1] - answers[0]),
    )


def with_values_of(column: Column, source: Column, equal: Mapping[AnswerId, AnswerId]) -> Column:
    """A column in which each answer that equals an earlier answer has the value of the earlier answer."""
    values = source.by_answer()
    return column.with_values(
        [
            None if value is None else values.get(equal.get((sample, repeat), (None, None)), value)
            for sample, repeat, _, _, value in column.rows()
        ]
    )


def applicable_prompts(column: Column) -> set[str | None]:
    """Return the ids of the prompts to which the score applies: any status except ``not_applicable``."""
    return column.answers().keys() - {None}
