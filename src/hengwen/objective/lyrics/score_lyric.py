"""Score how closely a lyric follows its template: sections, lines, characters, rhymes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from typing import Any

from rich.table import Table

from hengwen._internal.workers import map_stream
from hengwen.objective.lyrics import parse_document, parse_muchin
from hengwen.objective.lyrics.lines import LineDiagnosis
from hengwen.objective.lyrics.parsed import ParsedLyric, ParsedPair
from hengwen.objective.lyrics.phases import LyricPhases, bonus_share, compute_phases
from hengwen.objective.lyrics.rules import (
    LyricOptions,
    Parse,
    RhymeScope,
    RuleSetName,
    RulesLike,
    build_options,
)

_HEADER = ("#", "section", "template", "lyric", "factor", "class", "rhymes", "line")


def explain(score: LyricScore) -> str:
    """Return the score as text: template and lyric line by line, then the sums of points."""
    return "\n".join(_text_rows(score))


def build_table(score: LyricScore) -> Table:
    """Return the lines of the score as a ``rich`` table."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{score.total:.2f} = {score.base:.2f} + {score.bonus:.2f}", caption=score.signature)
    for name in _HEADER:
        table.add_column(name, justify="right" if name in {"#", "factor"} else "left")
    for line in score.lines:
        style = None if line.matched else "dim"
        table.add_row(*map(Text, _cells(line)), style=style)
    return table


def _text_rows(score: LyricScore) -> Iterator[str]:
    yield f"total {score.total:.4f} = base {score.base:.4f} + bonus {score.bonus:.4f}   {score.signature}"
    rows = [_HEADER, *[_cells(line) for line in score.lines]]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(_HEADER) - 1)]
    for row in rows:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[-1]]).rstrip()
    yield from _sums(score)
    yield from (f"repair: {repair}" for repair in score.repairs)


def _cells(line: LineDiagnosis) -> tuple[str, ...]:
    return (
        "" if line.number is None else str(line.number),
        line.section if line.matched else f"{line.section} unmatched",
        _count(line.template_count, line.template_rhymes),
        _count(line.lyric_count, line.lyric_rhymes),
        "" if line.factor is None else f"{line.factor:.4f}",
        f"{line.code} {line.rhyme_name}" if line.code else "",
        " ".join(map(str, line.rhymes_with)),
        line.source,
    )


def _count(count: int | None, rhymes: bool) -> str:
    return "-" if count is None else f"{count}{' R' if rhymes else ''}"


def _sums(score: LyricScore) -> Iterator[str]:
    rules, options = score.options.rules, score.options
    carried = f"p1_sr {score.p1_sr:.4f} x " if options.carry_phase1 else ""
    structure = rules.full * rules.structure
    scaled = f"x am {score.structure_ratio:.4f}"
    for name, points, maximum, ratio, note in (
        ("phase 1", score.phase1, rules.full * rules.overall, f"p1_sr {score.p1_sr:.4f}", "whole texts"),
        (
            "phase 2.1",
            score.phase2_1,
            structure * rules.section_share,
            f"{carried}p2_1_sr {score.p2_1_sr:.4f}",
            "names of sections",
        ),
        (
            "phase 2.2",
            score.phase2_2,
            structure * rules.line_share,
            f"am {score.structure_ratio:.4f}",
            f"am = {carried}p2_1_sr x p2_2_cr {score.p2_2_cr:.4f}; {score.lines_min} lines matched",
        ),
        (
            "phase 3",
            score.phase3,
            rules.full * rules.counts,
            f"p3_cr {score.p3_cr:.4f} {scaled}",
            "share of exact lines" if options.strict_count else "product of the factors",
        ),
        (
            "phase 4",
            score.phase4,
            rules.full * rules.rhyme,
            f"p4_rr {score.p4_rr:.4f} {scaled}",
            f"{score.rhymes_found} rhymes found, {score.rhymes_required} required",
        ),
    ):
        yield f"{name:<10} {points:8.4f} = {maximum:g} x {ratio} ({note})"
    share, reason = _bonus(score)
    yield f"{'bonus':<10} {score.bonus:8.4f} = {rules.bonus:g} x {share:.4f} {scaled} ({reason})"


def _bonus(score: LyricScore) -> tuple[float, str]:
    rules, r_ratio = score.options.rules, score.r_ratio
    required, rhymed, aligned = score.rhymes_required, score.rhymes_found, score.rhymes_aligned
    share = bonus_share(r_ratio, required, rhymed, aligned, rules)
    r_text = f"r = {rhymed}/{score.lines_min} = {r_ratio:.4f}"
    if rules.band_low <= r_ratio <= rules.band_high:
        return share, f"{r_text} is in the band {rules.band_low:g} to {rules.band_high:g}"
    if required == rhymed == aligned > 0:
        return share, f"{r_text} is outside the band, but every rhyme is on a line that requires one"
    return share, f"{r_text} is {'near' if share else 'outside'} the band"


def _width(text: str) -> int:
    """Return how many columns a text takes in a terminal; Han and full-width characters take two."""
    return sum(2 if char >= "\u2e80" else 1 for char in text)


_TEMPLATE_PARSERS = {"document": parse_document.parse_template, "muchin": parse_muchin.parse_template}
_LYRIC_PARSERS = {"document": parse_document.parse_lyric, "muchin": parse_muchin.parse_lyric}
_MAX_CACHED_CHARACTERS = 10_000
"""Templates with more characters than this are parsed at every call, so that the cache of templates stays
small."""


def parse_pair(lyric: str, template: str, reading: RuleSetName) -> ParsedPair:
    """Parse a template and a lyric as the rule set ``reading`` defines."""
    parse_template = _parse_short_template if len(template) <= _MAX_CACHED_CHARACTERS else _parse_template
    parsed_template = parse_template(template, reading)
    if reading == "document" and not parsed_template.sections:
        raise ValueError("the template is empty, it needs lines of c and R under tags like (verse)")
    return ParsedPair(parsed_template, _LYRIC_PARSERS[reading](lyric))


def _parse_template(template: str, reading: RuleSetName) -> ParsedLyric:
    return _TEMPLATE_PARSERS[reading](template)


_parse_short_template = lru_cache(maxsize=512)(_parse_template)


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
        return explain(self)

    def table(self) -> Table:
        """Return a ``rich`` table that compares the lyric with the template line by line."""
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


MAX_CHARACTERS = 200_000
"""Maximum number of characters of a text; a comparison of longer texts can take minutes."""


def score_lyric(
    lyric: str,
    template: str,
    *,
    rules: RulesLike = "document",
    carry_phase1: bool = False,
    strict_count: bool = False,
    rhyme_scope: RhymeScope = "matched",
    parse: Parse = "exact",
) -> LyricScore:
    """Score a lyric against the template it should follow.

    Args:
        lyric: Lines of text under tags like ``(verse)``.
        template: Lines under the same tags; each character is written ``c``, a rhyming character ``R``.
        rules: ``document`` (the published description of the score), ``muchin`` (the numbers of the public
            program MuChin, except for rounding), or custom weights: a ``LyricRules``, or a mapping of its
            fields.
        carry_phase1: Whether the ratio of phase 1 (similarity of the whole texts) also scales the points of
            all later phases.
        strict_count: Whether the ratio of phase 3 (lengths of lines) is the share of template lines whose
            lyric line has exactly the required number of characters (only with rules ``document``).
        rhyme_scope: Where rhymes are counted: ``matched`` means in pairs of lines at the same position of
            matched sections, ``whole`` means in the whole texts (only with rules ``document``).
        parse: ``exact`` scores the texts unchanged. ``lenient`` first removes what models add to a lyric
            (code fences, rulers like ``---``, timestamps, titles, remarks to the reader) and unifies the form
            of tags; each change is listed in the score.

    Returns:
        A score from 0 to 100 plus a bonus of up to 10, with all ratios and counts. An empty lyric scores 0.

    Raises:
        TypeError: The lyric or the template is not a string.
        ValueError: The template is empty (an error only with rules ``document``), a text is too long, or an
            option is not allowed.

    Notes:
        The score follows "Objective Evaluation of LLM Fine-tuned Lyric Generation Effectiveness", part of
        MuChin-V2.

    Examples:
        >>> score = score_lyric("(verse)\\n我在远方\\n看见月光\\n你在风里", "(verse)\\ncccR\\ncccR\\ncccc")
        >>> score.total, score.base, score.bonus
        (110.0, 100.0, 10.0)
    """
    options = build_options(rules, carry_phase1, strict_count, rhyme_scope, parse)
    return score_with_options(lyric, template, options)


def score_with_options(lyric: str, template: str, options: LyricOptions) -> LyricScore:
    """Score a lyric against its template, with options that are already checked."""
    for name, text in (("lyric", lyric), ("template", template)):
        if not isinstance(text, str):
            raise TypeError(f"the {name} must be a string, got {type(text).__name__}")
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"the {name} has {len(text)} characters, at most {MAX_CHARACTERS} can be scored")
    repairs: tuple[str, ...] = ()
    if options.parse == "lenient":
        lyric, template, repairs = _repair_pair(lyric, template)
    parsed = parse_pair(lyric, template, options.rules.reading)
    phases = compute_phases(parsed.template, parsed.lyric, options)
    return LyricScore(
        **vars(phases),
        msstr=parsed.lyric.msstr,
        options=options,
        lyric=lyric,
        template=template,
        repairs=repairs,
        parsed=parsed,
    )


def _repair_pair(lyric: str, template: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the repaired lyric and template, and the notes on both."""
    from hengwen.objective.lyrics.repair import repair

    new_template = repair(template, keep_ahead=True)
    new_lyric = repair(lyric, keep_ahead=not new_template.text.startswith("("))
    notes = (*[f"template, {note}" for note in new_template.repairs], *new_lyric.repairs)
    return new_lyric.text, new_template.text, notes


Pair = tuple[str, str]
"""A lyric and the template against which it is scored."""


def score_lyrics(
    pairs: Iterable[Pair],
    *,
    rules: RulesLike = "document",
    carry_phase1: bool = False,
    strict_count: bool = False,
    rhyme_scope: RhymeScope = "matched",
    parse: Parse = "exact",
    workers: int = 1,
) -> list[LyricScore]:
    """Score many lyrics.

    Args:
        pairs: Pairs (lyric, template), any number.
        rules: As in ``score_lyric``, like all further options but ``workers``.
        carry_phase1: See ``score_lyric``.
        strict_count: See ``score_lyric``.
        rhyme_scope: See ``score_lyric``.
        parse: See ``score_lyric``.
        workers: Number of processes, at least 1; with 1, no further process is started. Starting a process
            takes about a second, so further processes pay off from some thousand lyrics on.

    Returns:
        One score for each pair, in the order of the pairs. The scores do not depend on ``workers``.

    Raises:
        ValueError: A pair cannot be scored (the message has its index, from 0), an option is not allowed, or
            ``workers`` is below 1.

    Examples:
        >>> template = "(verse)\\ncc"
        >>> [score.total for score in score_lyrics([("(verse)\\n月光", template), ("", template)])]
        [100.0, 0.0]
    """
    options = build_options(rules, carry_phase1, strict_count, rhyme_scope, parse)
    scores = []
    for index, result in enumerate(stream_scores(pairs, options, workers=workers)):
        if isinstance(result, ValueError):
            raise ValueError(f"pair {index}: {result}") from result
        scores.append(result)
    return scores


def stream_scores(
    pairs: Iterable[Pair], options: LyricOptions, *, workers: int = 1
) -> Iterator[LyricScore | ValueError]:
    """Yield the score of each pair, or the error of a pair; memory does not grow with the number of pairs."""
    return map_stream(partial(_score_or_error, options=options), pairs, workers=workers)


def _score_or_error(pair: Pair, options: LyricOptions) -> LyricScore | ValueError:
    if isinstance(pair, str):  # a text of two characters would count as a lyric and a template
        raise TypeError(f"a pair must be (lyric, template), got {pair!r:.40}")
    try:
        return score_with_options(*pair, options)
    except ValueError as error:
        return error
