"""Several verdicts on one answer: which of them count, and how far they agree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hengwen.errors import JudgeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.judges.rubric.ask import JudgedReply

LEFT_OUT = ("parse_error", "off_scale", "truncated", "refused")
"""What the model is to blame for: asking again in a later run would not mend it."""


def split_verdicts(
    results: Sequence[JudgedReply | BaseException],
) -> tuple[list[JudgedReply], Counter[str]]:
    """Return the verdicts, and how many samples gave none, by status.

    A sample whose replies held no verdict is left out as long as more than half are there. One that the
    endpoint did not answer is not: then there is no verdict now, and a later run asks for what is missing.

    Args:
        results: What came of each sample.

    Raises:
        JudgeError: Half of the samples or more gave no verdict; the status is the most common one.
        BackendError: An endpoint did not answer.
        BaseException: Whatever else was raised.
    """
    good: list[JudgedReply] = []
    bad: list[JudgeError] = []
    for result in results:
        if not isinstance(result, BaseException):
            good.append(result)
        elif isinstance(result, JudgeError) and result.status in LEFT_OUT:
            bad.append(result)
        else:
            raise result
    statuses = Counter(error.status for error in bad)
    if 2 * len(good) > len(results):
        return good, statuses
    (status, _), *_ = statuses.most_common(1)
    last = next(error for error in bad if error.status == status)
    if len(results) == 1:
        raise last
    message = f"{len(bad)} of {len(results)} samples gave no verdict: {last}"
    raise JudgeError(message, status=status, raw=last.raw) from None


def most_common_label(labels: Sequence[str]) -> tuple[str, float]:
    """Return the most common label, the first of equals, and its share.

    Examples:
        >>> most_common_label(["B", "A", "B", "B"])
        ('B', 0.75)
    """
    if len(labels) == 1:
        return labels[0], 1.0
    (label, count), *_ = Counter(labels).most_common(1)
    return label, count / len(labels)
