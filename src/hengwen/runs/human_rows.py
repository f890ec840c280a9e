"""Human labels and anchors as rows: they stand beside the judge's, and never in its means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.records import Row, Score, digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.plans.datasets import Label, ResponseSet
    from hengwen.plans.suite import LoadedPlan
    from hengwen.records import Run

AnswerKey = tuple[str, str, int, str]


def human_rows(suite: LoadedPlan, run: Run, responses: ResponseSet) -> tuple[list[Row], list[str]]:
    """Make the human rows of a run: ``human.SCORE`` for labels, ``human.anchor.SCORE`` for anchors.

    Args:
        suite: With labels and anchors.
        run: Whose checkpoint the labels must name; anchors stand in every run.
        responses: The stored answers of that checkpoint.

    Returns:
        One row for each labelled answer and score, the mean of its raters; and warnings.
    """
    labels: list[Label] = []
    gone = changed = 0
    for _, label in suite.labels:
        if label.checkpoint != run.checkpoint:
            continue
        answers = responses.of(label.task, label.id)
        text = next((answer.text for answer in answers if answer.repeat == label.repeat), None)
        if responses and text is None:
            gone += 1
        elif label.output and text is not None and label.output != text:
            changed += 1
        else:
            labels.append(label)
    rows = _rows(suite, run, labels, "human.", [label for _, label in suite.labels])
    anchors = [label for _, label in suite.anchors]
    rows += _rows(suite, run, anchors, "human.anchor.", anchors)
    warnings = []
    if gone:
        warnings.append(f"{gone} labels of {run.checkpoint!r} name answers that are not there: left out")
    if changed:
        warnings.append(f"{changed} labels of {run.checkpoint!r} are for another text: left out")
    return rows, warnings


def _rows(
    suite: LoadedPlan, run: Run, labels: Sequence[Label], prefix: str, file: Sequence[Label]
) -> list[Row]:
    """Rows of some labels of a file; all checkpoints' rows carry the signature of the whole file."""
    samples = {task.spec.name: task.samples.samples for task in suite.tasks}
    groups: dict[AnswerKey, list[Label]] = {}
    for label in labels:
        groups.setdefault((label.task, label.id, label.repeat, label.score), []).append(label)
    raters = len({label.rater for label in file})
    signature = f"human|raters:{raters}|labels:{digest(file)[:8]}|v:1"
    return [
        Row(
            run_id=run.id,
            task=task,
            checkpoint=run.checkpoint,
            sample_id=sample_id,
            repeat=repeat,
            cluster=samples[task][sample_id].cluster if sample_id in samples[task] else sample_id,
            outcome=Score(
                name=f"{prefix}{score}",
                value=sum(label.value for label in group) / len(group),
                signature=signature,
                scale=suite.scale_of(task, score),
                kind="human",
                details={"raters": [label.rater for label in group]},
            ),
        )
        for (task, sample_id, repeat, score), group in groups.items()
    ]
