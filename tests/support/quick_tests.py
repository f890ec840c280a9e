"""Tests of families as fast as simulations need them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

FLIPS = 999


@contextmanager
def quick_tests() -> Iterator[None]:
    """Draw 999 flips instead of 9,999, which holds the level too; leave out smallest detectable differences.

    No verdict uses a smallest detectable difference, and finding it takes most of the time of a comparison.
    """
    with (
        patch("hengwen.stats.step_down.MIN_DRAWS", FLIPS),
        patch("hengwen.stats.exchange.MIN_DRAWS", FLIPS),
        patch("hengwen.stats.paired.RESAMPLES", FLIPS),
        patch("hengwen.monitoring.drift.difference_tests.detectable_difference", return_value=None),
        patch("hengwen.results.comparisons.detectable_difference", return_value=None),
    ):
        yield
