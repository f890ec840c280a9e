"""Convert two rankings of the same items to two arrays of scores that list the items in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hengwen.relevance_metrics.core.inputs import as_scores, refuse_nan

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ranking = Mapping[Any, float] | Sequence[Any]
"""A mapping from item to score, or names of items, best first."""


def aligned_scores(model: Any, human: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scores of two rankings as two arrays that list the items in the same order."""
    if isinstance(model, Mapping) or isinstance(human, Mapping):
        model, human = _from_mappings(model, human)
    elif _is_names(model) or _is_names(human):
        model, human = _from_names(model, human)
    model_scores, human_scores = as_scores(model), as_scores(human)
    if model_scores.shape != human_scores.shape or model_scores.ndim > 2:
        raise ValueError(
            f"rankings must have the same shape, got {model_scores.shape} and {human_scores.shape}"
        )
    for scores in (model_scores, human_scores):
        refuse_nan(scores, "leave that item out of both rankings")
    return model_scores, human_scores


def _from_mappings(model: Any, human: Any) -> tuple[list[float], list[float]]:
    if not (isinstance(model, Mapping) and isinstance(human, Mapping)):
        raise ValueError("only one of the rankings maps items to scores; pass both in the same form")
    _check_same_items(model, human)
    return [model[item] for item in model], [human[item] for item in model]


def _from_names(model: Any, human: Any) -> tuple[list[int], list[int]]:
    if not (_is_names(model) and _is_names(human)):
        raise ValueError("only one of the rankings lists names; pass both in the same form")
    for names in (model, human):
        if len(set(names)) < len(names):
            repeated = next(item for item in names if list(names).count(item) > 1)
            raise ValueError(f"a ranking names {repeated!r} more than once; name each item once")
    _check_same_items(model, human)
    human_scores = {item: -rank for rank, item in enumerate(human)}
    return [-rank for rank in range(len(model))], [human_scores[item] for item in model]


def _check_same_items(model: Any, human: Any) -> None:
    unmatched = sorted({*model} ^ {*human}, key=str)
    if unmatched:
        raise ValueError(
            f"{unmatched[0]!r} is in one ranking only ({len(unmatched)} such items); rank the same items"
        )


def _is_names(ranking: Any) -> bool:
    return isinstance(ranking, Sequence) and bool(ranking) and all(isinstance(item, str) for item in ranking)
