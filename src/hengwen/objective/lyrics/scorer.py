"""The scorer ``lyric`` of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hengwen.objective.lyrics.parsed import LyricLine, ParsedPair, Section
from hengwen.objective.lyrics.phases import match_sections
from hengwen.objective.lyrics.rules import (
    LyricOptions,
    LyricRules,
    Parse,
    RhymeScope,
    RulesLike,
    build_options,
)
from hengwen.objective.lyrics.score_lyric import LyricScore, parse_pair, score_with_options
from hengwen.objective.lyrics.template import check_template
from hengwen.objective.rhyme import last_han
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    Alignment = tuple[list[list[Section]], dict[int, Section]]
    """Sections of a lyric that match none, by the number of template sections before them; and the section
    that matches each template section."""


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


class SungLine(NamedTuple):
    """One line of a lyric beside its template line."""

    text: str
    surplus: int | None
    """Characters more than the template wants, negative if fewer; None without a template line."""
    rhyme: int | None
    """Number of the rhyme in its section, from 0; None if the line rhymes with no other of its section."""
    rhyming: int
    """Index of the rhyming character in the text; -1 if the line does not rhyme."""
    misses_rhyme: bool
    """Whether the template wants a rhyme that the line does not have."""


class TemplateLine(NamedTuple):
    """One line of the template with the line of each lyric; None where there is none."""

    length: int | None
    """Number of characters that the template wants; None for a line that the template does not have."""
    wants_rhyme: bool
    lines: tuple[SungLine | None, SungLine | None]


class SectionPair(NamedTuple):
    """One section of the template with those of both lyrics that match it, or a section of a lyric alone."""

    tag: str
    is_wanted: bool
    """Whether the template has the section."""
    lines: tuple[TemplateLine, ...]


def side_by_side(before: LyricScore, after: LyricScore) -> tuple[SectionPair, ...]:
    """Return both lyrics on the lines of their template, in the order of the template."""
    pairs = [
        score.parsed or parse_pair(score.lyric, score.template, score.options.rules.reading)
        for score in (before, after)
    ]
    alignments = [_align(pair, before.options.rules.autojunk) for pair in pairs]
    template = pairs[0].template.sections
    return tuple(_sections(template, alignments))


def _align(pair: ParsedPair, autojunk: bool) -> Alignment:
    template, lyric = pair
    _, matches = match_sections(template, lyric, autojunk)
    alone: list[list[Section]] = [[] for _ in range(len(template.sections) + 1)]
    start = 0
    for i, j in [*matches, (len(template.sections), len(lyric.sections))]:
        alone[i] += lyric.sections[start:j]
        start = j + 1
    return alone, {i: lyric.sections[j] for i, j in matches}


def _sections(template: tuple[Section, ...], alignments: list[Alignment]) -> Iterator[SectionPair]:
    for i in range(len(template) + 1):
        for side, (alone, _) in enumerate(alignments):
            for section in alone[i]:
                yield _pair(None, section if side == 0 else None, section if side == 1 else None)
        if i < len(template):
            yield _pair(template[i], *(matched.get(i) for _, matched in alignments))


def _pair(template: Section | None, before: Section | None, after: Section | None) -> SectionPair:
    first = template or before or after
    assert first is not None
    rows = zip_longest(*(section.lines if section else () for section in (template, before, after)))
    rhymes = [_rhymes(section) for section in (before, after)]
    lines = tuple(
        TemplateLine(
            due.length if due else None,
            due is not None and due.rhymes > 0,
            (_line(due, old, rhymes[0]), _line(due, new, rhymes[1])),
        )
        for due, old, new in rows
    )
    return SectionPair(first.tag.strip(), template is not None, lines)


def _rhymes(section: Section | None) -> dict[str, int]:
    """Return the number of each rhyme class of a section, in the order in which lines rhyme."""
    codes = [line.code for line in section.lines if line.rhymes] if section else []
    return {code: number for number, code in enumerate(dict.fromkeys(codes))}


def _line(template: LyricLine | None, line: LyricLine | None, rhymes: dict[str, int]) -> SungLine | None:
    if line is None:
        return None
    text = line.source.strip()
    return SungLine(
        text,
        line.effective - template.length if template else None,
        rhymes.get(line.code) if line.rhymes else None,
        last_han(text) if line.rhymes else -1,
        template is not None and template.rhymes > 0 and not line.rhymes,
    )
