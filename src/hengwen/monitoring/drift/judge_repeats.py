"""Compute how much repeated judgments of one answer vary, for judges that judge each answer several times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.records import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hengwen.records import Row


def judge_repeat_variance(rows: Iterable[Row], task: str, name: str) -> float | None:
    """Return the variance of the single judgments of an answer, pooled over answers.

    A judge with the option ``samples`` judges each answer several times. It stores the level name of each
    judgment (``labels``) and, as the score, the mean of their values. The value of a level is taken from
    answers whose judgments all name this level. Answers with a level of unknown value are left out.

    Args:
        rows: Rows of one run.
        task: Task of the score.
        name: Name of the score.

    Returns:
        The variance; None if no answer has several judgments whose values are known.

    Examples:
        >>> from hengwen.records import Row
        >>> def row(number, value, labels):
        ...     details = {"method": "samples", "labels": labels}
        ...     score = Score(name="craft.level", value=value, signature="s", kind="judge", details=details)
        ...     key = {"run_id": "r", "task": "t", "checkpoint": "c", "sample_id": f"p{number}", "repeat": 1}
        ...     return Row(**key, cluster="p", outcome=score)
        >>> rows = [row(1, 0.5, ["B", "B"]), row(2, 1.0, ["A", "A"]), row(3, 0.75, ["A", "B"])]
        >>> round(judge_repeat_variance(rows, "t", "craft.level"), 4)  # 0.125 / 3 degrees of freedom
        0.0417
    """
    verdicts: list[list[str]] = []
    values: dict[str, float] = {}
    for row in rows:
        outcome = row.outcome
        if row.task != task or outcome.name != name or not isinstance(outcome, Score):
            continue
        labels = _labels(outcome.details)
        if len(labels) > 1:
            verdicts.append(labels)
        if len(set(labels)) == 1:
            values[labels[0]] = outcome.value
    squares, freedom = 0.0, 0
    for labels in verdicts:
        if not all(label in values for label in labels):
            continue
        known = [values[label] for label in labels]
        mean = sum(known) / len(known)
        squares += sum((value - mean) ** 2 for value in known)
        freedom += len(known) - 1
    return squares / freedom if freedom else None


def _labels(details: Mapping[str, object]) -> list[str]:
    labels = details.get("labels")
    return [str(label) for label in labels] if isinstance(labels, list) else []
