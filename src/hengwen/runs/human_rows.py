"""Convert human labels and anchors to scores of a run.

An anchor is a frozen answer with a human label; every run judges the answer again. Reports show the human
scores next to the judge's scores, and never include them in the judge's means.
"""

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


def human_rows(suite: LoadedPlan, run: Run, responses: ResponseSet) -> tuple[list[Row], list[str]]:
    """Return the human scores of a run, for labels and for anchors."""
    current: list[Label] = []
    missing = changed = 0
    for _, label in suite.labels:
        if label.checkpoint != run.checkpoint:
            continue
        answers = responses.for_sample(label.task, label.id)
        text = next((answer.text for answer in answers if answer.repeat == label.repeat), None)
        if responses and text is None:
            missing += 1
        elif label.output and text is not None and not same_text(label.output, text):
            changed += 1
        else:
            current.append(label)
    rows = _rows(suite, run, current, "human", [label for _, label in suite.labels])
    anchors = [label for _, label in suite.anchors]
    rows += _rows(suite, run, anchors, "human anchor", anchors)
    warnings = []
    if missing:
        warnings.append(f"skipped {missing} labels of {run.checkpoint!r}: no such answer")
    if changed:
        warnings.append(f"skipped {changed} labels of {run.checkpoint!r}: the answer has another text now")
    return rows, warnings


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
                    "drawn": [label.drawn for label in group],
                },
            ),
        )
        for (task, sample_id, repeat, score), group in groups.items()
    ]
