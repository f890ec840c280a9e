"""The plug-in around ``score_lyric``: fields are the options of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.objective.lyrics.options import LyricOptions, Parse, RhymeScope, check_options
from hengwen.objective.lyrics.score_lyric import score_checked
from hengwen.objective.lyrics.template import check_template
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.objective.lyrics.rules import LyricRules, RulesLike
    from hengwen.objective.lyrics.score import LyricScore

PARTS = ("total", "base", "bonus", "phase1", "phase2_1", "phase2_2", "phase3", "phase4")
"""The parts of a score in the order of ``Lyric.names``; each is an attribute of ``LyricScore``."""


@dataclass(frozen=True, slots=True)
class Lyric:
    """Scores an answer as a lyric against ``sample.metadata["template"]``.

    Raises:
        ValueError: An option has no allowed value.

    Examples:
        >>> Lyric(rules="muchin").signature
        'lyric|rules:muchin|carry:no|strict:no|scope:matched|parse:exact|v:1'
        >>> sample = Sample(id="1", metadata={"template": "(verse)\\ncR\\ncR\\ncc"})
        >>> scores = Lyric().score(sample, Response(sample_id="1", text="(verse)\\n月光\\n海洋\\n风起"))
        >>> scores[0].name, scores[0].value
        ('lyric.total', 110.0)
    """

    rules: RulesLike = "document"
    carry_phase1: bool = False
    strict_count: bool = False
    rhyme_scope: RhymeScope = "matched"
    parse: Parse = "exact"

    def __post_init__(self) -> None:
        _ = self.options

    @property
    def options(self) -> LyricOptions:
        """The fields, checked."""
        return check_options(self.rules, self.carry_phase1, self.strict_count, self.rhyme_scope, self.parse)

    @property
    def signature(self) -> str:
        """Every option, in a fixed order, and the version of the scorer."""
        return self.options.signature

    @property
    def names(self) -> Sequence[str]:
        """``lyric.total`` first."""
        return [f"lyric.{part}" for part in PARTS]

    def score(self, sample: Sample, response: Response) -> Sequence[Score]:
        """Return one score for each name.

        Raises:
            ValueError: The sample has no template, or the texts cannot be scored.
        """
        options = self.options
        scored = score_checked(response.text, _template(sample), options)
        scales, reasons = _scales(options.rules), _reasons(scored)
        return [
            Score(
                name=f"lyric.{part}",
                value=getattr(scored, part),
                signature=options.signature,
                scale=scales[part],
                reason=reasons[part],
                details=_details(scored) if part == "total" else {},
            )
            for part in PARTS
        ]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Yield what is wrong in the template of a sample but can be scored.

        Raises:
            ValueError: The template is missing, no string, or blank.
        """
        return list(check_template(_template(sample)))


def _template(sample: Sample) -> str:
    template = sample.metadata.get("template")
    if template is None:
        raise ValueError(f"sample {sample.id!r} has no template, give it one as metadata 'template'")
    if not isinstance(template, str):
        raise ValueError(
            f"the template of sample {sample.id!r} must be a string, got {type(template).__name__}"
        )
    if not template.strip():
        raise ValueError(
            f"the template of sample {sample.id!r} is empty, it needs lines of c and R under (tags)"
        )
    return template


def _scales(rules: LyricRules) -> Mapping[str, Scale]:
    shares = {
        "phase1": rules.overall,
        "phase2_1": rules.structure * rules.section_share,
        "phase2_2": rules.structure * rules.line_share,
        "phase3": rules.counts,
        "phase4": rules.rhyme,
    }
    tops = {part: rules.full * share for part, share in shares.items()}
    tops.update(total=rules.full + rules.bonus, base=rules.full, bonus=rules.bonus)
    return {part: Scale(low=0.0, high=top or 1.0) for part, top in tops.items()}


def _details(scored: LyricScore) -> dict[str, object]:
    details = scored.as_dict()
    return {**details, "repairs": list(scored.repairs)} if scored.repairs else details


def _reasons(scored: LyricScore) -> Mapping[str, str]:
    structure = f"sections {scored.p2_1_sr:.3f}, lines {scored.p2_2_cr:.3f}"
    rhymes = f"{scored.rc_ing} rhymes given for {scored.rc_ino} asked"
    repairs = f"; {len(scored.repairs)} repairs" if scored.repairs else ""
    return {
        "total": f"base {scored.base:.2f} + bonus {scored.bonus:.2f}; {structure}, "
        f"characters {scored.p3_cr:.3f}, {rhymes}{repairs}",
        "base": "the sum of the phases, without the bonus",
        "bonus": f"{scored.rc_ing} rhymes on {scored.lines_min} matched lines",
        "phase1": f"similarity of the whole texts {scored.p1_sr:.3f}",
        "phase2_1": f"similarity of the sections {scored.p2_1_sr:.3f}",
        "phase2_2": f"{structure}, {scored.lines_min} lines matched",
        "phase3": f"characters {scored.p3_cr:.3f}; {structure}",
        "phase4": f"{rhymes}; {structure}",
    }
