"""The scorer ``lyric`` of a plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from hengwen.objective.lyrics.rules import LyricOptions, Parse, RhymeScope, build_options
from hengwen.objective.lyrics.score_lyric import score_with_options
from hengwen.objective.lyrics.template import check_template
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.objective.lyrics.rules import LyricRules, RulesLike
    from hengwen.objective.lyrics.score_lyric import LyricScore

PARTS = ("total", "base", "bonus", "phase1", "phase2_1", "phase2_2", "phase3", "phase4")
"""Attributes of ``LyricScore`` that are reported as scores, in the order of ``Lyric.names``."""


@dataclass(frozen=True, slots=True)
class Lyric:
    """Score responses as lyrics against ``sample.metadata["template"]``; the fields are plan options."""

    reads: ClassVar[tuple[ContextPart, ...]] = ("details",)
    rules: RulesLike = "document"
    carry_phase1: bool = False
    strict_count: bool = False
    rhyme_scope: RhymeScope = "matched"
    parse: Parse = "exact"

    options: LyricOptions = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        options = build_options(
            self.rules, self.carry_phase1, self.strict_count, self.rhyme_scope, self.parse
        )
        object.__setattr__(self, "options", options)

    @property
    def signature(self) -> str:
        """Signature of the scorer: every option in a fixed order, and the version."""
        return self.options.signature

    @property
    def names(self) -> Sequence[str]:
        """Names of the scores, ``lyric.total`` first."""
        return [f"lyric.{part}" for part in PARTS]

    def score(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> Sequence[Score]:
        """Return the scores of one answer, one for each name in ``names``."""
        score = score_with_options(response.text, _template(sample), self.options)
        if not context.details:
            return self._values(score)
        reasons, details = _reasons(score), _details(score)
        return [
            replace(item, reason=reasons[part], details=details if part == "total" else {})
            for part, item in zip(PARTS, self._values(score), strict=True)
        ]

    @property
    def scales(self) -> dict[str, Scale]:
        """Scale of each score by its name."""
        return {f"lyric.{part}": scale for part, scale in _scales(self.options.rules).items()}

    def _values(self, score: LyricScore) -> list[Score]:
        scales, signature = _scales(self.options.rules), self.signature
        return [
            Score(name=f"lyric.{part}", value=getattr(score, part), signature=signature, scale=scales[part])
            for part in PARTS
        ]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Return the faults of a sample's template that do not prevent scoring."""
        return list(check_template(_template(sample)))


def _template(sample: Sample) -> str:
    template = sample.metadata.get("template")
    if template is None:
        others = "rouge, chrf or bleu" if sample.references else "repetition, distinct_n or length"
        raise ValueError(
            f"sample {sample.id!r} has no template, add it as metadata 'template', or score with {others}"
        )
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
    maxima = {part: rules.full * share for part, share in shares.items()}
    maxima.update(total=rules.full + rules.bonus, base=rules.full, bonus=rules.bonus)
    return {part: Scale(low=0.0, high=maximum or 1.0) for part, maximum in maxima.items()}


def _details(score: LyricScore) -> dict[str, object]:
    details: dict[str, object] = {**score.as_dict()}
    return {**details, "repairs": list(score.repairs)} if score.repairs else details


def _reasons(score: LyricScore) -> Mapping[str, str]:
    structure = f"sections {score.p2_1_sr:.3f}, lines {score.p2_2_cr:.3f}"
    rhymes = f"{score.rhymes_found} rhymes found, {score.rhymes_required} required"
    repairs = f"; {len(score.repairs)} repairs" if score.repairs else ""
    return {
        "total": f"base {score.base:.2f} + bonus {score.bonus:.2f}; {structure}, "
        f"characters {score.p3_cr:.3f}, {rhymes}{repairs}",
        "base": "sum of the phases without the bonus",
        "bonus": f"{score.rhymes_found} rhymes on {score.lines_min} matched lines",
        "phase1": f"similarity of the whole texts {score.p1_sr:.3f}",
        "phase2_1": f"similarity of the sections {score.p2_1_sr:.3f}",
        "phase2_2": f"{structure}, {score.lines_min} lines matched",
        "phase3": f"characters {score.p3_cr:.3f}; {structure}",
        "phase4": f"{rhymes}; {structure}",
    }
