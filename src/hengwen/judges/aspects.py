"""Choose the overall level of an answer: the level that the judge named, or one computed from its criteria.

A judge returns a verdict for each answer: one overall level and one level for each criterion. The overall
level can be replaced by the lowest or the median level of the criteria.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from hengwen.records import Failure, Outcome, Score
from hengwen.score_id import judge_name, score_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

LevelFrom = Literal["holistic", "min_aspect", "median_aspect"]


def parse_level_from(how: str, criteria: Sequence[str]) -> LevelFrom:
    """Check the option ``level_from`` and return it."""
    methods: tuple[LevelFrom, ...] = get_args(LevelFrom)
    for method in methods:
        if method == how:
            if method != "holistic" and not criteria:
                raise ValueError(f"level_from: {how} needs a rubric with criteria")
            return method
    raise ValueError(f"level_from must be one of {', '.join(methods)}, got {how!r}")


def aggregate_level(how: LevelFrom, level: Outcome, aspects: Sequence[Outcome]) -> Outcome:
    """Return the overall level of an answer."""
    if how == "holistic":
        return level
    for aspect in aspects:
        if isinstance(aspect, Failure) and aspect.status != "not_applicable":
            return replace(aspect, name=level.name, message=f"no {how}: {aspect.name}: {aspect.message}")
    scores = [aspect for aspect in aspects if isinstance(aspect, Score)]
    if not scores:
        return Failure(
            name=level.name,
            status="not_applicable",
            message=f"no {how}: no criterion applies",
            signature=level.signature,
            kind="judge",
        )
    values = [score.value for score in scores]
    value = min(values) if how == "min_aspect" else statistics.median_low(values)
    chosen = next(score for score in scores if score.value == value)
    holistic = level if isinstance(level, Score) else None
    details = {
        **chosen.details,
        **({"holistic": holistic.value} if holistic else {}),
        "level_from": how,
        "aspect": score_ids("", [level.name, chosen.name], judge_name([level.name]))[chosen.name].part,
    }
    reason = (holistic.reason if holistic else "") or chosen.reason
    return replace(chosen, name=level.name, value=value, reason=reason, details=details)
