"""Tests of families as fast as simulations need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from hengwen.stats.step_down import FamilyScore, StepDown, step_down

FLIPS = 399


def _none(*_: object, **__: object) -> None:
    """Stand for a smallest detectable difference; a mock takes longer to set up than to test a score."""


@contextmanager
def quick_tests() -> Iterator[None]:
    """Draw 399 flips instead of 9,999, which holds the level too; leave out smallest detectable differences.

    No verdict uses a smallest detectable difference, and finding it takes most of the time of a comparison.
    """
    with (
        patch("hengwen.stats.exchange.MIN_DRAWS", FLIPS),
        patch("hengwen.stats.exchange.DRAWS_BELOW_LEVEL", 4),
        patch("hengwen.stats.paired.RESAMPLES", FLIPS),
        patch("hengwen.monitoring.drift.differences.detectable_difference", _none),
        patch("hengwen.results.score_series.detectable_difference", _none),
    ):
        yield


def uncorrected(scores: Sequence[FamilyScore], alpha: float) -> StepDown:
    """Test each pair alone: a wrong method, which a simulation has to tell from the right one."""
    result = step_down(scores, alpha)
    return replace(result, p_adjusted=result.p)
