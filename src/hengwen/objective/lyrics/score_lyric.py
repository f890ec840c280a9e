"""How far a lyric keeps to its template: sections, lines, characters, rhymes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.objective.lyrics.options import LyricOptions, Parse, RhymeScope, check_options
from hengwen.objective.lyrics.parse import parse_pair
from hengwen.objective.lyrics.phases import weigh
from hengwen.objective.lyrics.score import LyricScore

if TYPE_CHECKING:
    from hengwen.objective.lyrics.rules import RulesLike

MAX_CHARACTERS = 200_000
"""Longer texts are refused: they are no lyrics, and comparing them could take minutes."""


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
    """Score a lyric against the template it was asked to follow.

    Args:
        lyric: Lines of text under tags like ``(verse)``.
        template: The same with ``c`` for a character and ``R`` for a rhyming one.
        rules: ``document`` (the published description), ``muchin`` (the public program, to the last digit),
            or weights of your own: a ``LyricRules``, or a mapping of its fields.
        carry_phase1: Let phase 1 weigh on all later phases, too.
        strict_count: Phase 3 is the share of template lines whose number of characters is met exactly
            (document only).
        rhyme_scope: Count rhymes in ``matched`` pairs of lines, or in the ``whole`` texts (document only).
        parse: ``exact`` takes texts as they are; ``lenient`` first repairs what models write around lyrics,
            and says so.

    Returns:
        A score of 0 to 100 with a bonus of up to 10, and what it was computed from. An empty lyric scores 0.

    Raises:
        TypeError: The lyric or the template is no string.
        ValueError: The template is empty (document only), a text is too long, or an option is not allowed.

    Notes:
        After "Objective Evaluation of LLM Fine-tuned Lyric Generation Effectiveness", of MuChin-V2.

    Examples:
        >>> score = score_lyric("(verse)\\n我在远方\\n看见月光\\n你在风里", "(verse)\\ncccR\\ncccR\\ncccc")
        >>> score.total, score.base, score.bonus
        (110.0, 100.0, 10.0)
    """
    options = check_options(rules, carry_phase1, strict_count, rhyme_scope, parse)
    return score_checked(lyric, template, options)


def score_checked(lyric: str, template: str, options: LyricOptions) -> LyricScore:
    """Score with options that are already checked."""
    for name, text in (("lyric", lyric), ("template", template)):
        if not isinstance(text, str):
            raise TypeError(f"the {name} must be a string, got {type(text).__name__}")
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"the {name} has {len(text)} characters, at most {MAX_CHARACTERS} can be scored")
    repairs: tuple[str, ...] = ()
    if options.parse == "lenient":
        lyric, template, repairs = _repair(lyric, template)
    wanted, given = parse_pair(lyric, template, options)
    return LyricScore(
        **weigh(wanted, given, options),
        msstr=given.msstr,
        options=options,
        lyric=lyric,
        template=template,
        repairs=repairs,
    )


def _repair(lyric: str, template: str) -> tuple[str, str, tuple[str, ...]]:
    from hengwen.objective.lyrics.repair import repair

    wanted = repair(template, keep_ahead=True)
    given = repair(lyric, keep_ahead=not wanted.text.startswith("("))
    return given.text, wanted.text, (*[f"template, {note}" for note in wanted.repairs], *given.repairs)
