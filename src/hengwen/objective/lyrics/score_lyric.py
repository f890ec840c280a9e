"""Score how closely a lyric follows its template: sections, lines, characters, rhymes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.objective.lyrics.options import LyricOptions, Parse, RhymeScope, build_options
from hengwen.objective.lyrics.parse import parse_pair
from hengwen.objective.lyrics.phases import compute_phases
from hengwen.objective.lyrics.score import LyricScore

if TYPE_CHECKING:
    from hengwen.objective.lyrics.rules import RulesLike

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
