"""Score how closely a lyric follows its template: sections, lines, characters, rhymes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from hengwen._internal.parallel import map_stream
from hengwen.objective.lyrics import parse_document, parse_muchin
from hengwen.objective.lyrics.parsed import ParsedPair
from hengwen.objective.lyrics.phases import LyricPhases, compute_phases
from hengwen.objective.lyrics.rules import LyricOptions, Parse, RhymeScope, build_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.table import Table

    from hengwen.objective.lyrics.lines import LineDiagnosis
    from hengwen.objective.lyrics.parsed import ParsedLyric
    from hengwen.objective.lyrics.rules import RuleSetName, RulesLike

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
    """Score many lyrics; the options are those of ``score_lyric``.

    Args:
        pairs: Pairs (lyric, template), any number.
        rules: Rule set: ``document``, ``muchin``, or custom weights (as in ``score_lyric``).
        carry_phase1: Whether the ratio of phase 1 (similarity of the whole texts) also scales the points of
            all later phases.
        strict_count: Whether phase 3 (lengths of lines) counts only lines with exactly the required number of
            characters.
        rhyme_scope: Where rhymes are counted: ``matched`` means in pairs of lines at the same position of
            matched sections, ``whole`` means in the whole texts.
        parse: ``exact`` scores the texts unchanged. ``lenient`` first removes what models add to a lyric,
            such as code fences, timestamps, titles and remarks to the reader.
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
