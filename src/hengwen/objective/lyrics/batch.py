"""Score many lyrics, in one process or in several."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hengwen._internal.parallel import map_stream
from hengwen.objective.lyrics.options import LyricOptions, Parse, RhymeScope, build_options
from hengwen.objective.lyrics.score_lyric import score_with_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hengwen.objective.lyrics.rules import RulesLike
    from hengwen.objective.lyrics.score import LyricScore

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
