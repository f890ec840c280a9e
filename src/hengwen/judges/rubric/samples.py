"""Combine several verdicts on one response: leave out failed tries, and find the most common label."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hengwen.errors import JudgeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.judges.rubric.ask import JudgedReply

MODEL_FAILURES = ("parse_error", "off_scale", "truncated", "refused")
"""Statuses of failures that the model causes. A later run would get the same failures, so the score is
computed without the failed tries (requests that gave no verdict)."""


def split_verdicts(
    results: Sequence[JudgedReply | BaseException],
) -> tuple[list[JudgedReply], Counter[str]]:
    """Return the verdicts, and the number of failed tries by failure status."""
    verdicts: list[JudgedReply] = []
    errors: list[JudgeError] = []
    for result in results:
        if not isinstance(result, BaseException):
            verdicts.append(result)
        elif isinstance(result, JudgeError) and result.status in MODEL_FAILURES:
            errors.append(result)
        else:
            raise result
    statuses = Counter(error.status for error in errors)
    if 2 * len(verdicts) > len(results):
        return verdicts, statuses
    (status, _), *_ = statuses.most_common(1)
    typical = next(error for error in errors if error.status == status)
    if len(results) == 1:
        raise typical
    message = f"{len(errors)} of {len(results)} samples gave no verdict: {typical}"
    raise JudgeError(message, status=status, raw=typical.raw) from None


def most_common_label(labels: Sequence[str]) -> tuple[str, float]:
    """Return the most common label and its share; of equally common labels, return the first."""
    if len(labels) == 1:
        return labels[0], 1.0
    (label, count), *_ = Counter(labels).most_common(1)
    return label, count / len(labels)
