"""The labels of people as scores of runs."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING

from hengwen.records import Row, Score, digest
from hengwen.text.safety import same_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.plans.datasets import ResponseSet
    from hengwen.plans.suite import LoadedPlan
    from hengwen.records import Label, Run
    from hengwen.score_id import Role
    from hengwen.store import Store


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
