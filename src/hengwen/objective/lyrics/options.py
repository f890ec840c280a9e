"""The options of the lyric scorer, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from hengwen.objective.lyrics.rules import LyricRules, RulesLike, find_rules

RhymeScope = Literal["matched", "whole"]
Parse = Literal["exact", "lenient"]
VERSION = 1
"""Raised whenever a number may change."""


@dataclass(frozen=True, slots=True)
class LyricOptions:
    """What may move a score besides the two texts."""

    rules: LyricRules
    carry_phase1: bool = False
    strict_count: bool = False
    rhyme_scope: RhymeScope = "matched"
    parse: Parse = "exact"

    @property
    def signature(self) -> str:
        """Every option, in a fixed order."""
        return (
            f"lyric|rules:{self.rules.signature}|carry:{_yes(self.carry_phase1)}|strict:{_yes(self.strict_count)}"
            f"|scope:{self.rhyme_scope}|parse:{self.parse}|v:{VERSION}"
        )


def check_options(
    rules: RulesLike,
    carry_phase1: bool = False,
    strict_count: bool = False,
    rhyme_scope: str = "matched",
    parse: str = "exact",
) -> LyricOptions:
    """Return the options, or raise.

    Raises:
        ValueError: An option has no allowed value, or does not exist in this rule set.

    Examples:
        >>> check_options("document").signature
        'lyric|rules:document|carry:no|strict:no|scope:matched|parse:exact|v:1'
        >>> check_options("document", parse="loose")
        Traceback (most recent call last):
            ...
        ValueError: parse must be exact or lenient, got 'loose'
    """
    found = find_rules(rules)
    for name, flag in (("carry_phase1", carry_phase1), ("strict_count", strict_count)):
        if not isinstance(flag, bool):
            raise ValueError(f"{name} must be true or false, got {flag!r}")
    if rhyme_scope not in get_args(RhymeScope):
        raise ValueError(f"rhyme_scope must be matched or whole, got {rhyme_scope!r}")
    if parse not in get_args(Parse):
        raise ValueError(f"parse must be exact or lenient, got {parse!r}")
    if found.reading == "muchin" and (strict_count or rhyme_scope == "whole"):
        name = "strict_count" if strict_count else "rhyme_scope 'whole'"
        raise ValueError(f"{name} does not exist in the rules 'muchin', take rules 'document'")
    return LyricOptions(found, carry_phase1, strict_count, rhyme_scope, parse)  # type: ignore[arg-type]


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
