"""Convert verdicts (the labels that a model gave) to values, with details on how a value was computed."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.errors import JudgeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.rubric.ask import JudgedReply
    from hengwen.judges.rubric.logprobs import Weights

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


ValueWithDetails = tuple[float, dict[str, Any]]
"""A value, and details on how it was computed."""


def score_from_reply(judged: JudgedReply, values: Mapping[str, float], part: str) -> ValueWithDetails:
    """Return the value of one verdict."""
    label = judged.parsed.label(part)
    return values[label], judged.details(label)


def score_from_logprobs(
    judged: JudgedReply, values: Mapping[str, float], weights: Mapping[str, Weights], part: str
) -> ValueWithDetails:
    """Return the expected value of the labels under the probabilities that the model gave them."""
    part_weights = weights[part]
    details = {
        "label": judged.parsed.label(part),
        "method": "logprobs",
        "weights": {label: round(weight, 6) for label, weight in part_weights.labels.items()},
        "off_label_mass": round(part_weights.off_label, 6),
    }
    return part_weights.mean(values), {**details, **judged.reply_details}


def score_from_samples(
    verdicts: Sequence[JudgedReply], values: Mapping[str, float], failed: Mapping[str, int], part: str
) -> ValueWithDetails:
    """Return the mean value of several verdicts."""
    first = verdicts[0]
    if len(verdicts) == 1 and not failed:
        value, details = score_from_reply(first, values, part)
        return value, {**details, "method": "single"}
    labels = [verdict.parsed.label(part) for verdict in verdicts]
    details = {
        "labels": labels,
        "method": "samples",
        "self_consistency": round(most_common_label(labels)[1], 6),
        "attempts": [verdict.attempt for verdict in verdicts],
        **({"failed": dict(failed)} if failed else {}),
        "model": first.reply.model,
        **({"form": first.reply.response_format} if first.reply.response_format else {}),
    }
    return fsum(values[label] for label in labels) / len(labels), details
