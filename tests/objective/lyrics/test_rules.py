"""Weights: free, but they must sum to 1."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from rows import each_row

from hengwen.objective import LyricRules
from hengwen.objective.lyrics.rules import NAMED_RULES, resolve_rules


def test_the_two_rule_sets_differ_in_four_numbers() -> None:
    document, muchin = NAMED_RULES["document"], NAMED_RULES["muchin"]
    names = ("strict_bonus", "near_bonus", "line_guard", "no_rhyme")
    assert [getattr(document, name) for name in names] == [0.5, 0.0, 0.0, 1.0]
    assert [getattr(muchin, name) for name in names] == [0.7, 0.4, 0.01, 0.0]
    assert (document.signature, muchin.signature) == ("document", "muchin")


@each_row(
    ("numbers", "message"),
    [
        ({"counts": 0.3}, "overall, structure, counts and rhyme must sum to 1, got 1.1"),
        ({"line_share": 0.4}, "section_share and line_share must sum to 1, got 1.05"),
        ({"overall": -0.1, "structure": 0.7}, "overall must be a finite number of at least 0, got -0.1"),
        ({"full": 0}, "full and bonus must be above 0, got 0 and 10.0"),
        ({"band_low": 0.9}, "band_low must not be above band_high, got 0.9 and 0.8"),
        ({"strict_bonus": 1.5}, "strict_bonus must be at most 1, got 1.5"),
        ({"bonus": float("nan")}, "bonus must be a finite number of at least 0, got nan"),
        ({"full": "100"}, "full must be a finite number of at least 0, got '100'"),
        ({"reading": "muchinn"}, "unknown reading 'muchinn'; did you mean 'muchin'?"),
    ],
)
def test_a_wrong_number_is_named(numbers: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", "[?]")):
        LyricRules(**numbers)


def test_only_changed_numbers_are_in_the_signature() -> None:
    rules = LyricRules(reading="muchin", strict_bonus=0.5, near_bonus=0.4, line_guard=0.01, no_rhyme=0)
    assert rules.signature == "muchin(strict_bonus=0.5)"


def test_rules_are_found_by_name_or_taken_as_they_are() -> None:
    rules = LyricRules(band_low=0.5)
    assert resolve_rules(rules) is rules
    with pytest.raises(ValueError, match="rules must be one of document, muchin or a LyricRules, got 3"):
        resolve_rules(3)


def test_a_mapping_starts_from_the_numbers_of_its_reading() -> None:
    assert resolve_rules({"reading": "muchin", "band_low": 0.5}).signature == "muchin(band_low=0.5)"
    assert resolve_rules({}) == NAMED_RULES["document"]


@each_row(
    ("mapping", "message"),
    [
        ({"overal": 0.1}, "rules have no field 'overal'; did you mean 'overall'"),
        ({"reading": "other"}, "rules must be one of document, muchin or a LyricRules, got 'other'"),
        ({"overall": 0.2}, "must sum to 1, got 1.1"),
    ],
)
def test_a_wrong_mapping_is_named(mapping: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve_rules(mapping)


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        LyricRules().full = 90  # type: ignore[misc]
