"""From verdicts to values, each with the details that say how it came about."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.judges.rubric.samples import most_common_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.rubric.ask import JudgedReply
    from hengwen.judges.rubric.logprobs import Weights

Valued = tuple[float, dict[str, Any]]
"""A value and its details."""


def score_from_reply(asked: JudgedReply, values: Mapping[str, float], place: str) -> Valued:
    """Return the value of one verdict.

    Args:
        asked: The verdict.
        values: By label.
        place: ``level`` or a criterion.
    """
    label = asked.parsed.at(place)
    return values[label], asked.details(label)


def score_from_logprobs(
    asked: JudgedReply, values: Mapping[str, float], weights: Mapping[str, Weights], place: str
) -> Valued:
    """Return the expected value over the labels that the model weighed.

    Args:
        asked: The verdict.
        values: By label.
        weights: By place, of this verdict.
        place: ``level`` or a criterion.
    """
    found = weights[place]
    details = {
        "label": asked.parsed.at(place),
        "method": "logprobs",
        "weights": {label: round(weight, 6) for label, weight in found.labels.items()},
        "off_label_mass": round(found.off_label, 6),
    }
    return found.mean(values), {**details, **asked.about}


def score_from_samples(
    asked: Sequence[JudgedReply], values: Mapping[str, float], failed: Mapping[str, int], place: str
) -> Valued:
    """Return the mean of several verdicts.

    Args:
        asked: The verdicts, at least one.
        values: By label.
        failed: How many samples gave none, by status.
        place: ``level`` or a criterion.
    """
    if len(asked) == 1 and not failed:
        value, details = score_from_reply(asked[0], values, place)
        return value, {**details, "method": "single"}
    labels = [one.parsed.at(place) for one in asked]
    details = {
        "labels": labels,
        "method": "samples",
        "self_consistency": round(most_common_label(labels)[1], 6),
        "attempts": [one.attempt for one in asked],
        **({"failed": dict(failed)} if failed else {}),
        "model": asked[0].reply.model,
        **({"form": asked[0].reply.form} if asked[0].reply.form else {}),
    }
    return fsum(values[label] for label in labels) / len(labels), details
