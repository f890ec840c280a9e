"""Every weight of the lyric scorer, and which reading of the published description it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isclose, isfinite
from typing import Any, Literal, TypeAlias

from hengwen.errors import did_you_mean

RuleSetName = Literal["document", "muchin"]
READINGS: tuple[RuleSetName, ...] = ("document", "muchin")


RulesLike: TypeAlias = "str | LyricRules | Mapping[str, Any]"
"""What may be given as rules: a name, a LyricRules, or a mapping of its fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LyricRules:
    """The weights, checked where they are made.

    ``reading`` fixes how texts are read: ``document`` is the published description as a careful reader
    implements it, ``muchin`` the public program, to the last digit. The numbers below are free; the defaults
    are those of ``document``.

    Raises:
        ValueError: The weights of the parts, or the two shares of the structure, do not sum to 1; or a number
            is off its range.

    Examples:
        >>> LyricRules(overall=0.2, structure=0.4).signature
        'document(overall=0.2,structure=0.4)'
        >>> LyricRules(overall=0.2)
        Traceback (most recent call last):
            ...
        ValueError: overall, structure, counts and rhyme must sum to 1, got 1.1
    """

    reading: RuleSetName = "document"
    full: float = 100.0
    """FP: what a perfect lyric gets without the bonus."""
    bonus: float = 10.0
    """ES: the most that rhyme may add."""
    overall: float = 0.10
    """D1W: phase 1."""
    structure: float = 0.50
    """D2W: phases 2.1 and 2.2."""
    counts: float = 0.20
    """D3W: phase 3."""
    rhyme: float = 0.20
    """D4W: phase 4."""
    section_share: float = 0.65
    """The part of ``structure`` for the names of the sections; the rest is for their numbers of lines."""
    line_share: float = 0.35
    band_low: float = 0.6
    """The share of rhyming lines from which on the bonus is full, ..."""
    band_high: float = 0.8
    """... and up to which."""
    strict_bonus: float = 0.5
    """The share of the bonus outside the band, where rhymes stand exactly where they were asked for."""
    near_bonus: float = 0.0
    """The share of the bonus near the band, falling with the distance from 0.7; 0 switches it off."""
    line_guard: float = 0.0
    """Added to the denominator of p2_2_cr."""
    no_rhyme: float = 1.0
    """p4_rr where no rhyme was asked for and none was given."""

    def __post_init__(self) -> None:
        if self.reading not in READINGS:
            raise ValueError(f"unknown reading {self.reading!r}{did_you_mean(str(self.reading), READINGS)}")
        for item in fields(self)[1:]:
            value = getattr(self, item.name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not isfinite(value)
                or value < 0
            ):
                raise ValueError(f"{item.name} must be a finite number of at least 0, got {value!r}")
        self._check_sums()

    def _check_sums(self) -> None:
        parts = self.overall + self.structure + self.counts + self.rhyme
        if not isclose(parts, 1.0, abs_tol=1e-9):
            raise ValueError(f"overall, structure, counts and rhyme must sum to 1, got {parts:.9g}")
        shares = self.section_share + self.line_share
        if not isclose(shares, 1.0, abs_tol=1e-9):
            raise ValueError(f"section_share and line_share must sum to 1, got {shares:.9g}")
        if not self.full > 0 or not self.bonus > 0:
            raise ValueError(f"full and bonus must be above 0, got {self.full} and {self.bonus}")
        if self.band_low > self.band_high:
            raise ValueError(
                f"band_low must not be above band_high, got {self.band_low} and {self.band_high}"
            )
        for name in ("strict_bonus", "near_bonus", "no_rhyme"):
            if getattr(self, name) > 1:
                raise ValueError(f"{name} must be at most 1, got {getattr(self, name)}")

    @property
    def signature(self) -> str:
        """The reading, with every number that is not its default."""
        usual = NAMED_RULES[self.reading]
        changed = [
            f"{item.name}={getattr(self, item.name):.12g}"
            for item in fields(self)[1:]
            if getattr(self, item.name) != getattr(usual, item.name)
        ]
        return f"{self.reading}({','.join(changed)})" if changed else self.reading


NAMED_RULES: dict[str, LyricRules] = {
    "document": LyricRules(),
    "muchin": LyricRules(reading="muchin", strict_bonus=0.7, near_bonus=0.4, line_guard=0.01, no_rhyme=0.0),
}
"""The two rule sets by name."""


def find_rules(rules: RulesLike) -> LyricRules:
    """Return the rules of that name, the rules themselves, or those that a mapping of their fields describes.

    Raises:
        ValueError: No rule set has that name, or the mapping has an unknown field.

    Examples:
        >>> find_rules("muchin").strict_bonus
        0.7
        >>> find_rules({"reading": "muchin", "overall": 0.2, "structure": 0.4}).signature
        'muchin(overall=0.2,structure=0.4)'
    """
    if isinstance(rules, LyricRules):
        return rules
    if isinstance(rules, Mapping):
        return _from_mapping(rules)
    known = NAMED_RULES.get(rules) if isinstance(rules, str) else None
    if known is None:
        raise ValueError(f"rules must be one of {', '.join(NAMED_RULES)} or a LyricRules, got {rules!r}")
    return known


def _from_mapping(numbers: Mapping[str, Any]) -> LyricRules:
    names = [item.name for item in fields(LyricRules)]
    for name in numbers:
        if name not in names:
            raise ValueError(f"rules have no field {name!r}{did_you_mean(str(name), names)}")
    return replace(find_rules(numbers.get("reading", "document")), **numbers)
