"""What the lyric scorer gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from hengwen.objective.lyrics.lines import LineDiagnosis
    from hengwen.objective.lyrics.options import LyricOptions


@dataclass(frozen=True, kw_only=True)
class LyricScore:
    """The score of one lyric against one template, with everything it was computed from."""

    phase1: float
    """The whole texts compared: 0 to 10."""
    phase2_1: float
    """Names, order and number of sections: 0 to 32.5."""
    phase2_2: float
    """Numbers of lines in matched sections: 0 to 17.5."""
    phase3: float
    """Characters line by line: 0 to 20."""
    phase4: float
    """Numbers of rhyming lines: 0 to 20."""
    extra: float
    """The bonus for good rhyme: 0 to 10."""
    total: float
    """The sum of the six: 0 to 110."""
    p1_sr: float
    p2_1_sr: float
    p2_2_cr: float
    p3_cr: float
    p4_rr: float
    r_ratio: float
    """Rhymes by matched lines; above 1 only with ``rhyme_scope="whole"`` or several marks in a line."""
    acmp_sr: float
    """The product that carries the structure into phases 3, 4 and the bonus."""
    rc_ino: int
    """Rhymes that the template asks for."""
    rc_ing: int
    """Rhymes that the lyric gives."""
    pll_rc: int
    """Pairs of lines that rhyme in both."""
    lines_min: int
    """Matched lines."""
    msstr: str
    """The lyric simplified to the signs of a template."""
    options: LyricOptions
    lyric: str = field(repr=False)
    """As it was read: after repairs, if the parse was lenient."""
    template: str = field(repr=False)
    repairs: tuple[str, ...] = ()
    """What lenient parsing changed, in plain words; empty with ``parse="exact"``."""

    @property
    def base(self) -> float:
        """The total without the bonus: 0 to 100."""
        return self.phase1 + self.phase2_1 + self.phase2_2 + self.phase3 + self.phase4

    @property
    def bonus(self) -> float:
        """The same as ``extra``."""
        return self.extra

    @property
    def signature(self) -> str:
        """Everything besides the two texts that can move the numbers."""
        return self.options.signature

    @property
    def lines(self) -> tuple[LineDiagnosis, ...]:
        """Every line of both texts: wanted and got, side by side. Computed when asked for."""
        from hengwen.objective.lyrics.lines import diagnose

        return diagnose(self)

    def explain(self) -> str:
        """Return the score as text, from which the total can be recomputed by hand."""
        from hengwen.objective.explain import explain

        return explain(self)

    def table(self) -> Table:
        """Return the lines of the score as a table of rich."""
        from hengwen.objective.explain import table

        return table(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers and the simplified lyric, JSON-able; the headline first.

        Examples:
            >>> from hengwen.objective import score_lyric
            >>> list(score_lyric("(verse)\\n月光", "(verse)\\ncc").as_dict())[:3]
            ['total', 'base', 'bonus']
        """
        names = (*_PHASES, *_RATIOS, *_COUNTS, "msstr")
        numbers = {name: getattr(self, name) for name in names}
        return {"total": self.total, "base": self.base, "bonus": self.bonus, **numbers}


_PHASES = ("phase1", "phase2_1", "phase2_2", "phase3", "phase4", "extra")
_RATIOS = ("p1_sr", "p2_1_sr", "p2_2_cr", "p3_cr", "p4_rr", "r_ratio", "acmp_sr")
_COUNTS = ("rc_ino", "rc_ing", "pll_rc", "lines_min")
