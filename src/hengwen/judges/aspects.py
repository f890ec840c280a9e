"""The level of a verdict from its criteria: the least, or the median, in place of the judge's own word."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from hengwen.records import Failure, Outcome, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

LevelFrom = Literal["holistic", "min_aspect", "median_aspect"]


def parse_level_from(how: str, criteria: Sequence[str]) -> LevelFrom:
    """Return the way to a level.

    Args:
        how: As a plan names it.
        criteria: Of the rubric.

    Raises:
        ValueError: It is unknown, or there are no criteria.
    """
    known = next((one for one in get_args(LevelFrom) if one == how), None)
    if known is None:
        raise ValueError(f"level_from must be one of {', '.join(get_args(LevelFrom))}, got {how!r}")
    if known != "holistic" and not criteria:
        raise ValueError(f"level_from: {how} needs a rubric with criteria")
    return known  # type: ignore[no-any-return]


def aggregate_level(how: LevelFrom, level: Outcome, aspects: Sequence[Outcome]) -> Outcome:
    """Return the level that a verdict counts with.

    Args:
        how: ``min_aspect`` is the lowest criterion; ``median_aspect`` the lower median, which is a level.
        level: The judge's own for the whole; its value stays in ``details["holistic"]``.
        aspects: The criteria. One that is not applicable is left out; any other failure fails the level.

    Examples:
        >>> names = ["x.level", "x.a", "x.b", "x.c", "x.d"]
        >>> given = zip(names, [1, 0.25, 0.5, 0.75, 1], strict=True)
        >>> level, *rest = [Score(name=name, value=value, signature="s") for name, value in given]
        >>> aggregate_level("min_aspect", level, rest).value, aggregate_level("median_aspect", level, rest).value
        (0.25, 0.5)
    """
    if how == "holistic":
        return level
    failed = [one for one in aspects if isinstance(one, Failure) and one.status != "not_applicable"]
    if failed:
        message = f"no {how}: {failed[0].name}: {failed[0].message}"
        return replace(failed[0], name=level.name, message=message)
    scores = [one for one in aspects if isinstance(one, Score)]
    if not scores:
        return Failure(
            name=level.name,
            status="not_applicable",
            message=f"no {how}: no criterion applies",
            signature=level.signature,
            kind="judge",
        )
    values = [one.value for one in scores]
    value = min(values) if how == "min_aspect" else statistics.median_low(values)
    chosen = next(one for one in scores if one.value == value)
    own = level if isinstance(level, Score) else None
    details = {
        **chosen.details,
        **({"holistic": own.value} if own else {}),
        "level_from": how,
        "aspect": chosen.name.rpartition(".")[2],
    }
    reason = (own.reason if own else "") or chosen.reason
    return replace(chosen, name=level.name, value=value, reason=reason, details=details)
