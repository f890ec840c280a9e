"""What ``hengwen calibrate`` calibrates: labels of a plan or a file, and the judged answers of a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, did_you_mean
from hengwen.judges.calibration.joining import JudgedAnswer
from hengwen.plans.datasets import read_labels
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite
from hengwen.prompts import load_rubric
from hengwen.records import Label, Score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.prompts import Rubric
    from hengwen.records import Outcome, Row, Run, Scale
    from hengwen.store import Store

Address = tuple[str, str]
"""(task, score)."""


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """Whose runs are calibrated, and on which labels."""

    plan: str | None
    """Its name; None: that of the newest run."""
    labels: tuple[Label, ...] | None
    """None: the human values that the runs hold."""
    rubrics: dict[Address, Rubric]
    """Of the scores that the plan's judges give; empty without a plan."""


@dataclass(slots=True)
class ScoreSeries:
    """The judged answers of one score, of one judge."""

    task: str
    score: str
    answers: list[JudgedAnswer]
    scale: Scale | None
    signature: str
    others: int
    """Answers of older runs that another judge scored: left out."""

    @property
    def address(self) -> str:
        """``TASK/SCORE``."""
        return f"{self.task}/{self.score}"


@dataclass(slots=True)
class StoredJudgments:
    """What a store has."""

    runs: list[Run]
    materials: dict[Address, ScoreSeries]
    human: list[Label] = field(default_factory=list)
    """The human values in the runs: means of raters."""


def ask(plan_file: Path | None, labels: Path | None) -> CalibrationRequest:
    """Read the plan and the labels.

    Raises:
        ConfigError: The plan is wrong.
        DataError: A label is wrong: the message names file and line.
    """
    if plan_file is None:
        return CalibrationRequest(
            None, None if labels is None else tuple(one for _, one in read_labels(labels)), {}
        )
    plan = load_plan(plan_file)
    if labels is not None:
        plan = plan.model_copy(update={"labels": labels.resolve()})
    suite = load_suite(plan)
    rubrics = {
        (task.spec.name, score): rubric for task in suite.tasks for score, rubric in task.rubrics.items()
    }
    if plan.labels is None:
        return CalibrationRequest(plan.name, None, rubrics)
    return CalibrationRequest(plan.name, tuple(label for _, label in suite.labels), rubrics)


def find(store: Store, plan: str | None) -> StoredJudgments:
    """Read the newest run of each checkpoint.

    Raises:
        ConfigError: There is no run.
    """
    runs = store.latest(plan)
    if not runs:
        raise ConfigError(f"no runs {f'of plan {plan!r} ' if plan else ''}in {store.name}; see: hengwen run")
    found = StoredJudgments(runs, {})
    judged: dict[Address, list[tuple[Run, JudgedAnswer, Outcome]]] = {}
    for run in runs:
        texts = {(one.task, one.sample_id, one.repeat): one.text for one in store.answers(run)}
        for row in store.rows([run]):
            text = texts.get((row.task, row.sample_id or "", row.repeat or 0))
            if text is None:
                continue
            name = row.outcome.name
            if row.outcome.kind == "human":
                found.human += _human(row, text)
            elif row.outcome.kind == "judge" and not name.startswith("anchor."):
                judged.setdefault((row.task, name), []).append((run, _judged(row, text), row.outcome))
    found.materials = {address: _material(address, rows) for address, rows in judged.items()}
    return found


def _judged(row: Row, text: str) -> JudgedAnswer:
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


def _human(row: Row, text: str) -> list[Label]:
    """The mean of an answer's raters, as one label."""
    outcome, name = row.outcome, row.outcome.name.removeprefix("human.")
    if not isinstance(outcome, Score) or name.startswith("anchor."):
        return []
    raters = [str(rater) for rater in outcome.details.get("raters", ())]
    return [
        Label(
            task=row.task,
            id=row.sample_id or "",
            checkpoint=row.checkpoint,
            repeat=row.repeat or 1,
            output=text,
            score=name,
            value=outcome.value,
            rater=raters[0] if len(raters) == 1 else "mean of raters",
        )
    ]


def _material(address: Address, rows: Sequence[tuple[Run, JudgedAnswer, Outcome]]) -> ScoreSeries:
    """Keep what the judge of the newest run said; one judge is calibrated at a time."""
    scored = [row for row in rows if isinstance(row[2], Score)] or list(rows)
    newest = max(scored, key=lambda row: row[0].started)
    signature = newest[2].signature
    kept = [row for row in rows if row[2].signature == signature]
    return ScoreSeries(
        task=address[0],
        score=address[1],
        answers=[answer for _, answer, _ in kept],
        scale=newest[2].scale if isinstance(newest[2], Score) else None,
        signature=signature,
        others=len(rows) - len(kept),
    )


def wanted(asked: CalibrationRequest, found: StoredJudgments, names: Sequence[str]) -> list[ScoreSeries]:
    """Return the judged scores that have labels; only the named ones, if any is named (TASK/SCORE).

    Raises:
        ConfigError: A named one is not there.
    """
    labelled = {(label.task, label.score) for label in labels_of(asked, found)}
    known = {one.address: one for place, one in found.materials.items() if place in labelled}
    for name in names:
        if name not in known:
            raise ConfigError(f"no labels with verdicts of {name!r}{did_you_mean(name, known)}")
    return [one for name, one in known.items() if not names or name in names]


def labels_of(asked: CalibrationRequest, found: StoredJudgments) -> Sequence[Label]:
    """Return the labels that were given, else those in the runs."""
    return found.human if asked.labels is None else asked.labels


def rubric_of(asked: CalibrationRequest, material: ScoreSeries, named: str | None) -> Rubric | None:
    """Return the rubric of a score: the one that is named, else the plan's; None where neither is there."""
    if named is not None:
        return load_rubric(named)
    return asked.rubrics.get((material.task, material.score))


def levels_of(rubric: Rubric | None, material: ScoreSeries) -> tuple[float, ...]:
    """Return all levels of a score.

    Raises:
        ConfigError: Nobody knows them.
    """
    if rubric is not None:
        return tuple(rubric.levels)
    if material.scale is not None and material.scale.levels is not None:
        return material.scale.levels
    raise ConfigError(f"the levels of {material.address} are not in the store; name the plan, or --rubric")
