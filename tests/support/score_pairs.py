"""Scores of two made-up runs on the same prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hengwen.monitoring.run_comparison import RunComparison, ScorePair, Weights, compare_scores
from hengwen.monitoring.tested_scores import Family
from hengwen.records import Run, Scale
from hengwen.results.paired_values import PairedValues

UNIT = Scale(low=0, high=1, discrete=True)
DOWN = Scale(low=0, high=1, higher_is_better=False, discrete=True)


def paired(before: Sequence[float], after: Sequence[float], **changes: Any) -> PairedValues:
    prompts = tuple(f"p{index}" for index in range(len(before)))
    fields: dict[str, Any] = {
        "prompts": prompts,
        "clusters": prompts,
        "before": tuple(map(float, before)),
        "after": tuple(map(float, after)),
        "repeats": (((1,), (1,)),) * len(prompts),
        "subsampled": 0,
        "coverage": (1.0, 1.0),
        "answer_coverage": (1.0, 1.0),
        "repeat_variance": None,
    }
    return PairedValues(**{**fields, **changes})


def pair(
    before: Sequence[float],
    after: Sequence[float],
    *,
    address: str = "t/s",
    family: Family = "headline",
    scale: Scale | None = UNIT,
    length_changes: Sequence[float] | None = None,
    **changes: Any,
) -> ScorePair:
    values = paired(before, after, **changes)
    return ScorePair(
        address=address, family=family, scale=scale, values=values, length_changes=length_changes
    )


def comparison(*pairs: ScorePair, weights: Weights = "equal", **fields: Any) -> RunComparison:
    """Return the comparison of the runs ``a`` and ``b``."""
    before, after = (Run(id=f"r-{name}", plan="p", plan_hash="", checkpoint=name) for name in "ab")
    scores = compare_scores(pairs, weights=weights)
    return RunComparison(before=before, after=after, scores=scores, weights=weights, **fields)
