"""Shares of the bonus inside, near and outside the band of rhyming lines."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.objective.lyrics.phases import bonus_share
from hengwen.objective.lyrics.rules import NAMED_RULES

DOCUMENT, MUCHIN = NAMED_RULES["document"], NAMED_RULES["muchin"]


@each_row(("r_ratio", "share"), [(0.6, 1.0), (0.7, 1.0), (0.8, 1.0), (0.59, 0.0), (0.81, 0.0)])
def test_the_whole_bonus_is_for_the_band_with_its_ends(r_ratio: float, share: float) -> None:
    assert bonus_share(r_ratio, 1, 2, 1, DOCUMENT) == share


@each_row(
    ("required", "rhymed", "aligned", "share"),
    [(1, 1, 1, 0.5), (4, 4, 4, 0.5), (4, 4, 3, 0.0), (4, 3, 3, 0.0), (3, 4, 3, 0.0), (0, 0, 0, 0.0)],
)
def test_outside_the_band_every_rhyme_must_be_required(
    required: int, rhymed: int, aligned: int, share: float
) -> None:
    assert bonus_share(1.0, required, rhymed, aligned, DOCUMENT) == share


@each_row(
    ("r_ratio", "share"), [(0.9, 0.4 * 0.8), (0.5, 0.4 * 0.8), (0.41, 0.4 * 0.71), (0.39, 0.0), (0.0, 0.0)]
)
def test_near_the_band_the_bonus_of_muchin_falls_with_the_distance_from_its_middle(
    r_ratio: float, share: float
) -> None:
    assert bonus_share(r_ratio, 4, 3, 2, MUCHIN) == pytest.approx(share)


def test_a_bonus_for_required_rhymes_is_independent_of_the_distance() -> None:
    assert {bonus_share(ratio, 2, 2, 2, MUCHIN) for ratio in (0.1, 0.5, 0.9, 1.0)} == {0.7}
