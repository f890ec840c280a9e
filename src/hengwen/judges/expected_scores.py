"""From verdicts to values, each with the details that say how it came about."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.judges.expected_samples import modal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.expected_weights import Weights
    from hengwen.judges.verdict import ParsedVerdict
    from hengwen.judges.verdict_ladder import Asked

Valued = tuple[float, dict[str, Any]]
"""A value and its details."""


def single(asked: Asked, place: str, values: Mapping[str, float]) -> Valued:
    """Return the value of one verdict.

    Args:
        asked: The verdict.
        place: ``level`` or a criterion.
        values: Value by label.
    """
    label = label_at(asked.parsed, place)
    return values[label], {"label": label, **asked.about}


def weighted(asked: Asked, place: str, weights: Mapping[str, Weights], values: Mapping[str, float]) -> Valued:
    """Return the expected value over the labels that the model weighed.

    Args:
        asked: The verdict.
        place: ``level`` or a criterion.
        weights: By place, of this verdict.
        values: Value by label.
    """
    found = weights[place]
    details = {
        "label": label_at(asked.parsed, place),
        "method": "logprobs",
        "weights": {label: round(weight, 6) for label, weight in found.labels.items()},
        "off_label_mass": round(found.off_label, 6),
    }
    return found.mean(values), {**details, **asked.about}


def sampled(
    asked: Sequence[Asked], failed: Mapping[str, int], place: str, values: Mapping[str, float]
) -> Valued:
    """Return the mean of several verdicts.

    Args:
        asked: The verdicts, at least one.
        failed: How many samples gave none, by status.
        place: ``level`` or a criterion.
        values: Value by label.
    """
    if len(asked) == 1 and not failed:
        value, details = single(asked[0], place, values)
        return value, {**details, "method": "single"}
    labels = [label_at(one.parsed, place) for one in asked]
    details = {
        "labels": labels,
        "method": "samples",
        "self_consistency": round(modal(labels)[1], 6),
        "attempts": [one.attempt for one in asked],
        **({"failed": dict(failed)} if failed else {}),
        "model": asked[0].reply.model,
        **({"form": asked[0].reply.form} if asked[0].reply.form else {}),
    }
    return fsum(values[label] for label in labels) / len(labels), details


def label_at(parsed: ParsedVerdict, place: str) -> str:
    """Return the label of the level, or of a criterion.

    Args:
        parsed: The verdict.
        place: ``level`` or a criterion.
    """
    return parsed.level if place == "level" else parsed.criteria[place]
