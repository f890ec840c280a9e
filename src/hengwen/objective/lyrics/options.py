"""Options of the lyric scorer, and the check of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from hengwen.objective.lyrics.rules import LyricRules, RulesLike, resolve_rules
from hengwen.objective.signature import build_signature

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
