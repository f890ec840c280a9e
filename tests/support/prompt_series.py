"""A score at many checkpoints for tests, from the values of its prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from score_rows import score_of

from hengwen.results.score_series import ScoreMatrix
from hengwen.results.score_table import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Scale
    from hengwen.results.comparability import ComparabilityKey
    from hengwen.results.score_series import ScoreSeries


def prompt_series(
    *checkpoints: Sequence[float | None],
    address: str = "t/s",
    scale: Scale | None = None,
    clusters: Sequence[str] = (),
    shares: Sequence[float] = (),
    signatures: Sequence[str] = (),
    keys: Sequence[ComparabilityKey] = (),
) -> ScoreSeries:
    """Return a score from the values of the prompts p0, p1, ... at each checkpoint; None if missing."""
    matrix, count = ScoreMatrix(), len(checkpoints)
    for index, values in enumerate(checkpoints):
        names = [f"p{row}" for row in range(len(values))]
        column = Column.of(
            values,
            sample_ids=names,
            clusters=clusters[: len(values)] or names,
            signatures={signatures[index] if signatures else "s|v:1"},
            scale=scale,
        )
        matrix.add(column, keys[index] if keys else None)
    task, _, name = address.partition("/")
    series = matrix.series(score_of(name, task), scale, shares or [1.0] * count)
    assert series is not None  # there are values
    return series
