"""Compute one number for a whole task from a judge's scores of its answers, all of which it needs."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from math import fsum
from typing import Any

from hengwen._internal.plugins import is_location
from hengwen._internal.version import installed_versions
from hengwen.engine.metered_backend import Price
from hengwen.io.git import git_state
from hengwen.plans.datasets import ResponseSet, Samples
from hengwen.plans.overrides import input_files
from hengwen.plans.plan import CheckpointSpec, ScaleSpec
from hengwen.plans.suite import LoadedPlan, LoadedTask, task_scores
from hengwen.protocols import Backend, parts_read
from hengwen.records import Failure, Label, Outcome, Row, Run, Scale, Score, digest
from hengwen.results.aggregate import prompt_values
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.score_id import NORMALISED, Role, ScoreId
from hengwen.stats.mean_interval import mean_interval
from hengwen.store import Store
from hengwen.text.numbers import same_text

VERSION = 1
"""Version of how the score of a whole task is computed; it is a part of the signature of this score."""
NORMALISED_MAX = 10.0
CONFIDENCE = 0.95

_STATUS_TEXTS = {"absent": "not in this run", "missing": "without an answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScore:
    """Compute a value of a whole task from one judge's scores of single answers.

    It is the mean over the prompts (of the means over repeats) ``mean_times`` a factor, or their sum
    ``sum_divided_by`` a number, with a second score on 0 to 10 (``normalised``).
    """

    source: ScoreId
    """The judge's score of single answers from which the value of the task is computed."""
    signature: str
    """Signature of the judge."""
    scale: ScaleSpec
    samples: Collection[str]
    """Ids of all samples of the task."""
    repeats: int = 1
    """Minimum number of answers to each sample."""
    answer_scale: Scale | None = None
    """Scale of the scores of single answers; used if the scores do not state a scale."""

    def rows(self, run: Run, table: ScoreTable) -> list[Row]:
        """The scores of the whole task for one run, or failures if the score of an answer is missing."""
        column = table.series.get(SeriesKey(run.id, self.source, "judge"))
        scores = task_scores(self.source.task, self.source.evaluator, self.scale)
        return [
            Row(
                run_id=run.id,
                score=score,
                checkpoint=run.checkpoint,
                sample_id=None,
                repeat=None,
                cluster=self.source.task,
                outcome=outcome,
            )
            for score, outcome in zip(scores, self._outcomes(column, scores), strict=True)
        ]

    def _outcomes(self, column: Column | None, scores: Sequence[ScoreId]) -> list[Outcome]:
        statuses = self._statuses(column)
        missing = sum(statuses.values()) - statuses["ok"]
        if column is None or missing:
            return [self._incomplete(score, statuses, missing) for score in scores]
        values, clusters = prompt_values(column)
        scale = column.scale or self.answer_scale
        interval = mean_interval(
            values,
            clusters,
            scale=None if scale is None else (scale.low, scale.high),
            continuous=scale is not None and not scale.discrete,
            confidence=CONFIDENCE,
        ).bounds
        details: dict[str, Any] = {
            "of": self.source.base,
            "prompts": len(values),
            "answers": statuses["ok"],
            "mean": fsum(values) / len(values),
            "level": CONFIDENCE,
            "method": "none" if interval is None else "t",
        }
        return [self._score(score, values, interval, scale, details) for score in scores]

    def _statuses(self, column: Column | None) -> Counter[str]:
        """Count the expected answers by status; ``absent`` means that an answer is not in this run."""
        by_sample: dict[str | None, list[str]] = {name: [] for name in self.samples}
        if column is not None:
            for name, status in zip(column.sample_ids, column.statuses, strict=True):
                by_sample[name].append(status)
        counts: Counter[str] = Counter()
        for statuses in by_sample.values():
            counts.update(statuses)
            counts["absent"] += max(self.repeats - len(statuses), 0)
        return +counts

    def _score(
        self,
        score: ScoreId,
        values: Sequence[float],
        interval: tuple[float, float] | None,
        scale: Scale | None,
        details: Mapping[str, Any],
    ) -> Score:
        factor, offset = self._factor(score, len(values), scale)

        def scaled(mean: float) -> float:
            return (mean - offset) * factor

        task_scale = None
        value = scaled(fsum(values) / len(values))
        bounds = None if interval is None else [scaled(end) for end in interval]
        if scale is not None:
            task_scale = replace(scale, low=scaled(scale.low), high=scaled(scale.high), levels=None)
            value = min(max(value, task_scale.low), task_scale.high)  # rounding may exceed the maximum
            if bounds is not None:
                bounds = [max(bounds[0], task_scale.low), min(bounds[1], task_scale.high)]
        return Score(
            name=score.base,
            value=value,
            signature=self._signature(score),
            scale=task_scale,
            kind="judge",
            reason=f"{details['answers']} answers to {len(values)} prompts",
            details={**details, **({} if bounds is None else {"ci": bounds})},
        )

    def _factor(self, score: ScoreId, prompts: int, scale: Scale | None) -> tuple[float, float]:
        """Return (factor, offset); the task's value is the mean minus the offset, times the factor."""
        if score.part == NORMALISED:
            if scale is None:
                return NORMALISED_MAX, 0.0
            return NORMALISED_MAX / (scale.high - scale.low), scale.low
        if self.scale.sum_divided_by is not None:
            return prompts / self.scale.sum_divided_by, 0.0
        return self.scale.mean_times or 1.0, 0.0

    def _signature(self, score: ScoreId) -> str:
        how = f"mean_times:{self.scale.mean_times:g}" if self.scale.mean_times is not None else ""
        if self.scale.sum_divided_by is not None:
            how = f"sum_divided_by:{self.scale.sum_divided_by:g}"
        counts = f"prompts:{len(self.samples)}|repeats:{self.repeats}"
        return f"{score.base}|{how}|{counts}|[{self.signature}]|v:{VERSION}"

    def _incomplete(self, score: ScoreId, statuses: Mapping[str, int], missing: int) -> Failure:
        reasons = ", ".join(
            f"{count} {_STATUS_TEXTS.get(status, status)}"
            for status, count in sorted(statuses.items())
            if status != "ok"
        )
        return Failure(
            name=score.base,
            status="missing",
            message=f"incomplete: {missing} of {sum(statuses.values())} answers have no verdict ({reasons})",
            signature=self._signature(score),
            kind="judge",
        )


def published_rows(run: Run, definitions: Sequence[TaskScore], rows: Iterable[Row]) -> list[Row]:
    """Return the scores that are computed from all answers to a task together, for one run."""
    samples = {score.source: frozenset(score.samples) for score in definitions}
    table = ScoreTable(row for row in rows if row.sample_id in samples.get(row.score, ()))
    return [row for score in definitions for row in score.rows(run, table)]


def human_rows(suite: LoadedPlan, run: Run, responses: ResponseSet) -> tuple[list[Row], list[str]]:
    """Return the human scores of a run, for labels and for anchors."""
    labels = [label for _, label in suite.labels]
    current: list[Label] = []
    missing = changed = 0
    for label in labels:
        if label.checkpoint != run.checkpoint:
            continue
        answers = responses.for_sample(label.task, label.id)
        text = next((answer.text for answer in answers if answer.repeat == label.repeat), None)
        if responses and text is None:
            missing += 1
        elif text is not None and not _is_of(label, text):
            changed += 1
        else:
            current.append(label)
    rows = _rows(suite, run, current, "human", labels)
    anchors = [label for _, label in suite.anchors]
    rows += _rows(suite, run, anchors, "human anchor", anchors)
    warnings = []
    if missing:
        warnings.append(f"skipped {missing} labels of {run.checkpoint!r}: no such answer")
    if changed:
        warnings.append(f"skipped {changed} labels of {run.checkpoint!r}: the answer has another text now")
    return rows, warnings


def store_labels(suite: LoadedPlan, labels: Sequence[Label], store: Store, gone: Label | None = None) -> None:
    """Write all labels of a plan to its newest runs (each changes the signature); ``gone`` was taken back."""
    ledger = store.ledger()
    for run in store.latest(suite.plan.name):
        of_run = [label for label in labels if label.checkpoint == run.checkpoint]
        answers = store.responses(run, {label.id for label in of_run}) if of_run else ()
        texts = {(answer.task, answer.sample_id, answer.repeat): answer.text for answer in answers}
        current = [
            label
            for label in of_run
            if (text := texts.get((label.task, label.id, label.repeat))) is not None and _is_of(label, text)
        ]
        ledger.record_rows(_rows(suite, run, current, "human", labels))
        if gone and gone.checkpoint == run.checkpoint and all(label.key != gone.key for label in of_run):
            ledger.remove_rows(_rows(suite, run, [gone], "human", labels))
    ledger.commit()


def _is_of(label: Label, text: str) -> bool:
    return not label.output or same_text(label.output, text)


def _rows(
    suite: LoadedPlan, run: Run, labels: Sequence[Label], role: Role, file: Sequence[Label]
) -> list[Row]:
    """Return one row for each labelled answer and score, with the mean of the raters' values."""
    samples = {task.spec.name: task.samples.samples for task in suite.tasks}
    scores = {(task.spec.name, score.base): score for task in suite.tasks for score in task.judged_scores}
    groups: dict[tuple[str, str, int, str], list[Label]] = {}
    for label in labels:
        groups.setdefault((label.task, label.id, label.repeat, label.score), []).append(label)
    raters = len({label.rater for label in file})
    values = [replace(label, drawn="") for label in file]  # how answers were selected changes no score
    signature = f"human|raters:{raters}|labels:{digest(values)[:8]}|v:1"
    return [
        Row(
            run_id=run.id,
            score=scores[task, score].about(role),
            checkpoint=run.checkpoint,
            sample_id=sample_id,
            repeat=repeat,
            cluster=samples[task][sample_id].cluster if sample_id in samples[task] else sample_id,
            outcome=Score(
                name=score,
                value=fsum(label.value for label in group) / len(group),
                signature=signature,
                scale=suite.scale_of(task, score),
                kind="human",
                details={
                    "raters": [label.rater for label in group],
                    "values": [label.value for label in group],
                    "drawn": [label.drawn for label in group],
                },
            ),
        )
        for (task, sample_id, repeat, score), group in groups.items()
    ]


SCORING_PACKAGES = ("jieba", "opencc", "pypinyin", "sacrebleu")
"""Packages whose versions can change the score of a deterministic scorer."""
USUAL_SHARE = 0.95
"""If at least this share of the prompts have the same number of answers, only this number is recorded."""


class FactCollector:
    """Collect the facts of the runs of one plan, such as hashes of prompts."""

    def __init__(
        self,
        suite: LoadedPlan,
        backends: Mapping[str, Backend],
        limit: int | None,
        price: Callable[[str], Price | None],
    ) -> None:
        self._suite = suite
        self._backends = backends
        self._limit = limit
        self._price = price
        self._hashes: dict[tuple[str, int], dict[str, str]] = {}

    def facts(self, order: int, responses: ResponseSet, earlier: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts of the run of one checkpoint."""
        plan = self._suite.plan
        tasks = {
            task.spec.name: self._task(
                task, plan.checkpoints[order], responses, earlier.get("tasks", {}).get(task.spec.name, {})
            )
            for task in self._suite.tasks
        }
        prompts = sorted(
            (task.spec.name, self._sample_hashes(task, len(task.samples.samples))["prompts"])
            for task in self._suite.tasks
        )
        return {
            "sequence": digest([checkpoint.name for checkpoint in plan.checkpoints]),
            "position": order,
            "prompts": digest(prompts),
            "versions": dict(scoring_versions()),
            "tasks": tasks,
            **self._commits(earlier),
            **({"language": plan.language} if plan.language else {}),
            **({"margins": plan.margins} if plan.margins else {}),
            **({"ranges": plan.ranges} if plan.ranges else {}),
            **({"rewards": plan.rewards} if plan.rewards else {}),
        }

    def _commits(self, earlier: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fact ``commits``: git commits at which the run was started or resumed; {} if unknown."""
        commits = list(earlier.get("commits", []))
        if self._commit is not None and self._commit not in commits:
            commits.append(self._commit)
        return {"commits": commits} if commits else {}

    @cached_property
    def _commit(self) -> dict[str, Any] | None:
        plan = self._suite.plan
        if plan.file is None:
            return None
        path = plan.file.path.resolve()
        state = git_state(path.parent, [path, *input_files(plan)])
        return None if state is None else state._asdict()

    def _task(
        self,
        task: LoadedTask,
        checkpoint: CheckpointSpec,
        responses: ResponseSet,
        earlier: Mapping[str, Any],
    ) -> dict[str, Any]:
        name, total = task.spec.name, len(task.samples.samples)
        taken = max(len(task.samples.take(self._limit)), min(total, int(earlier.get("samples_taken", 0))))
        hashes = self._sample_hashes(task, taken)
        repeats = str(task.spec.repeats)
        if checkpoint.backend is None:
            samples = task.samples.take(taken)
            repeats = usual_repeats(len(responses.for_sample(name, sample.id)) for sample in samples)
        anchors = [label for _, label in self._suite.anchors if label.task == name]
        return {
            "samples": hashes["samples"],
            "references": hashes["references"],
            "samples_total": total,
            "samples_taken": taken,
            "repeats": repeats,
            "reducer": task.spec.repeat_reducer,
            "anchors": digest(sorted(map(repr, anchors))) if anchors else "",
            "judges": self.judges(task),
            "scorers": _reproducible_scorers(task),
        }

    def judges(self, task: LoadedTask) -> dict[str, Any]:
        """Return endpoints, models, prices and rubric of each judge of a task, and whether rules cap it."""
        return {
            judge.name: {
                "endpoints": [self._backends[backend].endpoint for backend in judge.spec.backend_names],
                "models": [self._suite.plan.used_backends[name].model for name in judge.spec.backend_names],
                "prices": [price and asdict(price) for price in map(self._price, judge.spec.backend_names)],
                "rules": judge.rules is not None,
                "rubric": str(judge.spec.rubric),
            }
            for judge in task.panel
        }

    def _sample_hashes(self, task: LoadedTask, taken: int) -> dict[str, str]:
        key = (task.spec.name, taken)
        if key not in self._hashes:
            self._hashes[key] = sample_hashes(task.samples.take(taken))
        return self._hashes[key]


def _reproducible_scorers(task: LoadedTask) -> list[dict[str, Any]]:
    """Return the names and options of scorers, so that reports can compute the reasons for scores again."""
    if not any("details" in parts_read(scorer) for scorer in task.scorers):
        return []
    return [
        {"name": spec.name, "options": spec.options}
        for spec in task.spec.scorers
        if not is_location(spec.name) and not spec.score_prefix
    ]


def sample_hashes(samples: Samples | Collection[Any]) -> dict[str, str]:
    """The hashes ``samples``, ``references`` and ``prompts`` of samples, independent of their order."""
    sums = dict.fromkeys(("samples", "references", "prompts"), 0)
    for sample in samples:
        sums["samples"] += int(digest(sample.id, sample.input, dict(sample.metadata)), 16)
        sums["references"] += int(digest(sample.id, sample.references), 16)
        sums["prompts"] += int(digest(sample.id, sample.input), 16)
    return {name: digest(f"{total:x}") for name, total in sums.items()}


def usual_repeats(counts: Iterable[int]) -> str:
    """Return the number of answers per prompt; a range such as ``1-3`` if it differs between many prompts."""
    answered = Counter(count for count in counts if count)
    if not answered:
        return "0"
    (usual, prompts), *_ = answered.most_common(1)
    if prompts >= USUAL_SHARE * answered.total():
        return str(usual)
    return f"{min(answered)}-{max(answered)}"


@cache
def scoring_versions() -> Mapping[str, str]:
    """Return the package versions that can change the score of a deterministic scorer."""
    return {"unicode": unicodedata.unidata_version, **installed_versions(SCORING_PACKAGES)}
