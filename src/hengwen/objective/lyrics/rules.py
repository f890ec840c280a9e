"""Weights of the lyric scorer, and its two rule sets ``document`` and ``muchin``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isclose, isfinite
from typing import Any, Literal, TypeAlias, get_args

from hengwen.errors import did_you_mean
from hengwen.objective.checks import build_signature

RuleSetName = Literal["document", "muchin"]
READINGS: tuple[RuleSetName, ...] = ("document", "muchin")


RulesLike: TypeAlias = "str | LyricRules | Mapping[str, object]"
"""Rules as callers pass them: the name of a rule set, a LyricRules, or a mapping of its fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LyricRules:
    """Checked weights of the lyric scorer.

    The field ``reading`` decides how texts are parsed: ``document`` follows the published description of the
    score, ``muchin`` the public program MuChin. All numbers can be changed; the defaults are those of the
    rule set ``document``. The scores of the rule set ``muchin`` (``NAMED_RULES["muchin"]``) equal those of
    MuChin, except for rounding differences of up to 3 units in the last place.

    Raises:
        ValueError: The weights of the phases do not sum to 1, or ``section_share`` and ``line_share`` do not;
            or a number is out of its range.

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
    """Points of a perfect lyric without the bonus (``FP`` in the published description)."""
    bonus: float = 10.0
    """Highest bonus for rhyme (``ES`` in the published description)."""
    overall: float = 0.10
    """Weight of phase 1, the similarity of the whole texts (``D1W`` in the published description)."""
    structure: float = 0.50
    """Weight of phases 2.1 (sections) and 2.2 (numbers of lines) together (``D2W`` in the published
    description)."""
    counts: float = 0.20
    """Weight of phase 3, the lengths of lines (``D3W`` in the published description)."""
    rhyme: float = 0.20
    """Weight of phase 4, the number of rhymes (``D4W`` in the published description)."""
    section_share: float = 0.65
    """Part of the weight ``structure`` for phase 2.1 of the score, which compares the names of sections;
    the other part is ``line_share``."""
    line_share: float = 0.35
    """Part of the weight ``structure`` for phase 2.2 of the score, which compares the numbers of lines in
    sections; the other part is ``section_share``."""
    band_low: float = 0.6
    """Lowest share of rhyming lines that gets the full rhyme bonus."""
    band_high: float = 0.8
    """Highest share of rhyming lines that gets the full rhyme bonus."""
    strict_bonus: float = 0.5
    """Share of the rhyme bonus for a lyric that rhymes in exactly the lines that require a rhyme, although
    its share of rhyming lines is below ``band_low`` or above ``band_high``."""
    near_bonus: float = 0.0
    """Factor of the rhyme bonus for a lyric that gets neither the full bonus nor ``strict_bonus``. Let r be
    the share of rhyming lines. If r is at most 0.3 away from 0.7, the lyric gets the share ``near_bonus`` *
    (1 - |r - 0.7|) of the bonus. Otherwise, it gets no bonus."""
    line_guard: float = 0.0
    """Number added to the denominator of ``p2_2_cr``, the ratio by which phase 2.2 of the score compares the
    numbers of lines of template and lyric."""
    no_rhyme: float = 1.0
    """Value of ``p4_rr``, the ratio of phase 4 of the score (number of rhymes), if neither the template nor
    the lyric has a rhyme."""

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
        if not isclose(parts, 1.0):
            raise ValueError(f"overall, structure, counts and rhyme must sum to 1, got {parts:.9g}")
        shares = self.section_share + self.line_share
        if not isclose(shares, 1.0):
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
    def autojunk(self) -> bool:
        """Whether texts are compared with difflib's junk heuristic, which ignores frequent characters."""
        return self.reading == "muchin"

    @property
    def signature(self) -> str:
        """Rule set (``document`` or ``muchin``), then every number that differs from that of the rule set."""
        defaults = NAMED_RULES[self.reading]
        changed = [
            f"{item.name}={getattr(self, item.name):.12g}"
            for item in fields(self)[1:]
            if getattr(self, item.name) != getattr(defaults, item.name)
        ]
        return f"{self.reading}({','.join(changed)})" if changed else self.reading


NAMED_RULES: dict[str, LyricRules] = {
    "document": LyricRules(),
    "muchin": LyricRules(reading="muchin", strict_bonus=0.7, near_bonus=0.4, line_guard=0.01, no_rhyme=0.0),
}


def resolve_rules(rules: RulesLike) -> LyricRules:
    """Return the rules for a name, a ``LyricRules`` or a mapping of its fields."""
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
    return replace(resolve_rules(numbers.get("reading", "document")), **numbers)


RhymeScope = Literal["matched", "whole"]
Parse = Literal["exact", "lenient"]
VERSIONS: dict[Parse, int] = {"exact": 1, "lenient": 2}
"""Version of the scorer for each parse mode. The version is raised whenever a change of the code may change a
score."""


@dataclass(frozen=True, slots=True)
class LyricOptions:
    """All options that can change the score of a lyric against a template."""

    rules: LyricRules
    carry_phase1: bool = False
    strict_count: bool = False
    rhyme_scope: RhymeScope = "matched"
    parse: Parse = "exact"

    def __post_init__(self) -> None:
        for name in ("carry_phase1", "strict_count"):
            if not isinstance(flag := getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, got {flag!r}")
        if self.rhyme_scope not in get_args(RhymeScope):
            raise ValueError(f"rhyme_scope must be matched or whole, got {self.rhyme_scope!r}")
        if self.parse not in get_args(Parse):
            raise ValueError(f"parse must be exact or lenient, got {self.parse!r}")
        if self.rules.reading == "muchin" and (self.strict_count or self.rhyme_scope == "whole"):
            name = "strict_count" if self.strict_count else "rhyme_scope 'whole'"
            raise ValueError(f"{name} does not exist in the rules 'muchin', use rules 'document'")

    @property
    def signature(self) -> str:
        """Signature of the scorer: every option in a fixed order, and the version."""
        return build_signature(
            "lyric",
            ("rules", self.rules.signature),
            ("carry", self.carry_phase1),
            ("strict", self.strict_count),
            ("scope", self.rhyme_scope),
            ("parse", self.parse),
            ("v", VERSIONS[self.parse]),
        )


def build_options(
    rules: RulesLike,
    carry_phase1: bool = False,
    strict_count: bool = False,
    rhyme_scope: RhymeScope = "matched",
    parse: Parse = "exact",
) -> LyricOptions:
    """Return checked options; ``rules`` may be the name of a rule set or a mapping."""
    return LyricOptions(resolve_rules(rules), carry_phase1, strict_count, rhyme_scope, parse)
