"""The score of one lyric against its template."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from hengwen.objective.lyrics.phases import LyricPhases

if TYPE_CHECKING:
    from rich.table import Table

    from hengwen.objective.lyrics.lines import LineDiagnosis
    from hengwen.objective.lyrics.options import LyricOptions
    from hengwen.objective.lyrics.parsed import ParsedPair


@dataclass(frozen=True, kw_only=True)
class LyricScore(LyricPhases):
    """The score of one lyric against one template, with the texts and options that were scored."""

    msstr: str
    """The lyric in the notation of a template: ``c`` for a character, ``R`` for a rhyming character."""
    options: LyricOptions
    lyric: str = field(repr=False)
    """The lyric that was scored; with ``parse="lenient"``, the repaired lyric."""
    template: str = field(repr=False)
    """The template against which the lyric was scored; with ``parse="lenient"``, the repaired template."""
    repairs: tuple[str, ...] = ()
    """Descriptions of the changes that lenient parsing made; empty with ``parse="exact"``."""
    parsed: ParsedPair | None = field(default=None, repr=False, compare=False)
    """The parsed texts; None in an unpickled score, which parses the texts again when it needs them."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "parsed": None}

    @property
    def signature(self) -> str:
        """Signature of the scorer: a text with every setting that can change the score."""
        return self.options.signature

    @property
    def lines(self) -> tuple[LineDiagnosis, ...]:
        """Rows that compare the lyric with the template line by line; computed at each access."""
        from hengwen.objective.lyrics.lines import diagnose
        from hengwen.objective.lyrics.parse import parse_pair

        rules = self.options.rules
        template, lyric = self.parsed or parse_pair(self.lyric, self.template, rules.reading)
        return diagnose(template, lyric, rules)

    def explain(self) -> str:
        """Return the score as text from which the total can be recomputed by hand.

        Examples:
            >>> from hengwen.objective import score_lyric
            >>> score = score_lyric("(verse)\\n月光\\n远方", "(verse)\\ncR\\nccR")
            >>> print(score.explain().splitlines()[3])
            2  (verse)  3 R       2 R    0.8000  16T 十六唐  1       远方
        """
        from hengwen.objective.lyrics.explanation import explain

        return explain(self)

    def table(self) -> Table:
        """Return a ``rich`` table that compares the lyric with the template line by line."""
        from hengwen.objective.lyrics.explanation import build_table

        return build_table(self)

    def as_dict(self) -> dict[str, float | str]:
        """Return the numbers and the simplified lyric as values for JSON, the total first.

        Examples:
            >>> from hengwen.objective import score_lyric
            >>> list(score_lyric("(verse)\\n月光", "(verse)\\ncc").as_dict())[:3]
            ['total', 'base', 'bonus']
        """
        numbers = {item.name: getattr(self, item.name) for item in fields(LyricPhases)}
        return {
            "total": numbers.pop("total"),
            "base": self.base,
            "bonus": self.bonus,
            **numbers,
            "msstr": self.msstr,
        }
