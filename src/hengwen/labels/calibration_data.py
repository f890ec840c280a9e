"""Calibrate stored scores of judges with human labels: load labels and judged answers, fit, check anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.judges.calibration import Calibration, calibrate, is_stale, rubric_hash_of
from hengwen.judges.calibration.certify import THRESHOLD, pooled_signature
from hengwen.judges.calibration.joining import MEAN, JudgedAnswer
from hengwen.judges.trust.admission_report import TASK_PARTS
from hengwen.plans.datasets import read_labels
from hengwen.plans.plan import Plan
from hengwen.plans.suite import load_suite
from hengwen.prompts import Rubric, load_rubric
from hengwen.records import Label, Outcome, Row, Run, Scale, Score
from hengwen.score_id import address_of
from hengwen.store import Store

ScoreAddress = tuple[str, str]
"""(task, name of the score): identifies a judge's score in a plan."""


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """The name of the plan whose judges are calibrated, its labels and its rubrics."""

    plan: str | None
    """Name of the plan; None means the plan of the newest run."""
    labels: tuple[Label, ...] | None
    """The labels; None means the human values that are stored in the runs."""
    rubrics: dict[ScoreAddress, Rubric]
    """Rubrics of the scores that the plan's judges give; empty without a plan."""


@dataclass(slots=True)
class JudgedScore:
    """One score (a level or a criterion) that one judge gave to the answers of one task."""

    task: str
    score: str
    answers: list[JudgedAnswer]
    scale: Scale | None
    signature: str
    excluded: int
    """Number of answers of older runs that are left out because a different judge scored them."""
    tasks: tuple[str, ...] = ()
    """Tasks whose answers were merged into this score; empty if nothing was merged."""

    @property
    def address(self) -> str:
        """Task and score, as ``TASK/SCORE``."""
        return address_of(self.task, self.score)


@dataclass(slots=True)
class StoredJudgments:
    """The judged answers and human values of the newest runs in a store."""

    runs: list[Run]
    scores: dict[ScoreAddress, JudgedScore]
    human: list[Label] = field(default_factory=list)
    """Human values that are stored with the runs: for each answer, the mean of its raters' values."""


def load_request(plan: Plan | None, labels: Path | None, *, trust: bool = False) -> CalibrationRequest:
    """Read the rubrics and labels that a plan names, or the labels of a file."""
    if plan is None:
        file_labels = None if labels is None else tuple(label for _, label in read_labels(labels))
        return CalibrationRequest(None, file_labels, {})
    if labels is not None:
        plan = plan.model_copy(update={"labels": labels.resolve()})
    suite = load_suite(plan, trust=trust)
    rubrics = {
        (task.spec.name, score): rubric for task in suite.tasks for score, rubric in task.rubrics.items()
    }
    if plan.labels is None:
        return CalibrationRequest(plan.name, None, rubrics)
    return CalibrationRequest(plan.name, tuple(label for _, label in suite.labels), rubrics)


def read_judgments(store: Store, plan: str | None) -> StoredJudgments:
    """Read the judged answers of the newest run of each checkpoint."""
    runs = store.latest(plan)
    if not runs:
        raise ConfigError(f"no runs {f'of plan {plan!r} ' if plan else ''}in {store.name}; see: hengwen run")
    human: list[Label] = []
    judged: dict[ScoreAddress, list[tuple[Run, JudgedAnswer, Outcome]]] = {}
    for run in runs:
        texts = {
            (answer.task, answer.sample_id, answer.repeat): answer.text for answer in store.responses(run)
        }
        has_scores_only = "imported" in run.facts  # another tool's scores, maybe without its texts
        for row in store.rows([run]):
            text = texts.get((row.task, row.sample_id or "", row.repeat or 0))
            if text is None and (row.sample_id is None or not has_scores_only):
                continue
            text, outcome = text or "", row.outcome
            if outcome.kind == "human":
                human += _human_labels(row, text)
            elif outcome.kind == "judge" and row.score.is_of_run:
                answer = _judged_answer(row, text)
                judged.setdefault((row.task, row.score.base), []).append((run, answer, outcome))
    return StoredJudgments(
        runs, {address: _newest_score(address, rows) for address, rows in judged.items()}, human
    )


def _judged_answer(row: Row, text: str) -> JudgedAnswer:
    return JudgedAnswer(
        task=row.task,
        id=row.sample_id or "",
        checkpoint=row.checkpoint,
        repeat=row.repeat or 1,
        text=text,
        value=row.outcome.value if isinstance(row.outcome, Score) else None,
        signature=row.outcome.signature,
        cluster=row.cluster,
    )


def _human_labels(row: Row, text: str) -> list[Label]:
    """Return the human values in a row as labels: one for each rater, or one for their mean."""
    outcome = row.outcome
    if not isinstance(outcome, Score) or row.score.role != "human":
        return []
    details: Mapping[str, Any] = outcome.details
    raters = [str(rater) for rater in details.get("raters", ())]
    draws = {str(drawn) for drawn in details.get("drawn", ())}
    values = dict(zip(raters, details.get("values", ()), strict=False))
    if len(values) < len(raters) or not values:  # an older store has only their mean
        values = {raters[0] if len(raters) == 1 else "mean of raters": outcome.value}
    return [
        Label(
            task=row.task,
            id=row.sample_id or "",
            checkpoint=row.checkpoint,
            repeat=row.repeat or 1,
            output=text,
            score=row.score.base,
            value=value,
            rater=rater,
            drawn=min(draws) if len(draws) == 1 else "",
        )
        for rater, value in values.items()
    ]


def _newest_score(address: ScoreAddress, rows: Sequence[tuple[Run, JudgedAnswer, Outcome]]) -> JudgedScore:
    """Return the scores that come from the judge of the newest run; scores of other judges are left out."""
    scored = [row for row in rows if isinstance(row[2], Score)] or list(rows)
    _, _, newest = max(scored, key=lambda row: row[0].started)
    answers = [answer for _, answer, outcome in rows if outcome.signature == newest.signature]
    return JudgedScore(
        task=address[0],
        score=address[1],
        answers=answers,
        scale=newest.scale if isinstance(newest, Score) else None,
        signature=newest.signature,
        excluded=len(rows) - len(answers),
    )


def select_scores(
    request: CalibrationRequest, judgments: StoredJudgments, names: Sequence[str]
) -> list[JudgedScore]:
    """Return the judge's scores for which there are human labels."""
    labelled = {(label.task, label.score) for label in labels_for(request, judgments)}
    by_name = {judged.address: judged for address, judged in judgments.scores.items() if address in labelled}
    for name in names:
        if name not in by_name:
            raise ConfigError(f"no labelled answer has a verdict for {name!r}{did_you_mean(name, by_name)}")
    return [judged for name, judged in by_name.items() if not names or name in names]


def labels_for(request: CalibrationRequest, judgments: StoredJudgments) -> Sequence[Label]:
    """Return the labels of the request; if it has none, the human values that are stored with the runs."""
    return judgments.human if request.labels is None else request.labels


def rubric_for(request: CalibrationRequest, judged: JudgedScore, override: str | None) -> Rubric | None:
    """Return the rubric of a score."""
    if override is not None:
        return load_rubric(override)
    return request.rubrics.get((judged.tasks[0] if judged.tasks else judged.task, judged.score))


def levels_for(rubric: Rubric | None, judged: JudgedScore) -> tuple[float, ...]:
    """Return all levels of a score; of a continuous scale, its two ends."""
    if rubric is not None:
        return tuple(rubric.levels)
    if judged.scale is not None:
        return judged.scale.levels or (judged.scale.low, judged.scale.high)
    raise ConfigError(
        f"the store has no scale of {judged.address}; name the plan, a rubric with --rubric, or --scale when "
        "the scores are imported"
    )


def calibrate_score(
    judged: JudgedScore,
    request: CalibrationRequest,
    judgments: StoredJudgments,
    *,
    rubric: Rubric | None,
    threshold: float | None = None,
    seed: int = 0,
    raters: str = MEAN,
) -> Calibration:
    """Calibrate one score of a judge by comparing it with human labels."""
    try:
        return calibrate(
            labels_for(request, judgments),
            judged.answers,
            score=judged.score,
            rubric=rubric,
            levels=levels_for(rubric, judged),
            is_continuous=rubric is None and judged.scale is not None and judged.scale.levels is None,
            threshold=THRESHOLD if threshold is None else threshold,
            seed=seed,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            pooled=len(judged.tasks) > 1,
            raters=raters,
        )
    except ValueError as error:
        raise DataError(f"{judged.address}: {error}") from None


def pool_scores(scores: Iterable[JudgedScore]) -> list[list[JudgedScore]]:
    """Group the scores (each in one task) that have the same score, judge and rubric."""
    groups: dict[tuple[str, str], list[JudgedScore]] = {}
    for item in scores:
        if rubric_hash_of(item.signature):
            groups.setdefault((item.score, TASK_PARTS.sub("", item.signature)), []).append(item)
    return [group for group in groups.values() if len(group) > 1]


def merge_scores(group: Sequence[JudgedScore]) -> JudgedScore:
    """Merge one score of several tasks; ``task`` of the result names all tasks."""
    return JudgedScore(
        task="+".join(judged.task for judged in group),
        score=group[0].score,
        answers=[answer for judged in group for answer in judged.answers],
        scale=group[0].scale,
        signature=pooled_signature(judged.signature for judged in group),
        excluded=sum(judged.excluded for judged in group),
        tasks=tuple(judged.task for judged in group),
    )


def rubric_change(judged: JudgedScore, rubric: Rubric | None) -> str:
    """Return a message if the rubric has changed since the runs were judged, else an empty string."""
    run_hash = rubric_hash_of(judged.signature)
    if rubric is None or not run_hash or run_hash == rubric.hash:
        return ""
    return f"judged with rubric {run_hash}, but {rubric.name} is now {rubric.hash}"


def why_invalid(
    calibration: Calibration, request: CalibrationRequest, judgments: StoredJudgments
) -> tuple[str, ...]:
    """Return the reasons why a calibration is not valid for the newest runs; empty if it is valid."""
    addresses = [(task, calibration.score) for task in calibration.tasks or (calibration.task,)]
    group = [judgments.scores[address] for address in addresses if address in judgments.scores]
    if len(group) < len(addresses):
        return ("calibrated, but the newest runs have no such score",)
    judged = merge_scores(group)
    rubric = rubric_for(request, judged, None)
    rubric_hash = rubric.hash if rubric else rubric_hash_of(judged.signature)
    return tuple(
        f"stale: {difference}" for difference in is_stale(calibration, judged.signature, rubric_hash)
    )
