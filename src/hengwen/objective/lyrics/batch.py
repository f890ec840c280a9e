"""Many lyrics at once, in one process or several."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hengwen._internal.parallel import map_stream
from hengwen.objective.lyrics.options import LyricOptions, Parse, RhymeScope, check_options
from hengwen.objective.lyrics.score_lyric import score_checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hengwen.objective.lyrics.rules import RulesLike
    from hengwen.objective.lyrics.score import LyricScore

Pair = tuple[str, str]


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
        pairs: (lyric, template), any number.
        rules: As in ``score_lyric``, like the options that follow.
        carry_phase1: See ``score_lyric``.
        strict_count: See ``score_lyric``.
        rhyme_scope: See ``score_lyric``.
        parse: See ``score_lyric``.
        workers: Processes; 1 scores in this one. Starting one takes a second: worth it from some thousand on.

    Returns:
        One score for each pair, in their order; the same whatever ``workers`` is.

    Raises:
        ValueError: As in ``score_lyric``, naming the place of the pair from 0; or ``workers`` is below 1.

    Examples:
        >>> template = "(verse)\\ncc"
        >>> [score.total for score in score_lyrics([("(verse)\\n月光", template), ("", template)])]
        [100.0, 0.0]
    """
    options = check_options(rules, carry_phase1, strict_count, rhyme_scope, parse)
    scores = []
    for place, outcome in enumerate(stream_scores(pairs, options, workers=workers)):
        if isinstance(outcome, ValueError):
            raise ValueError(f"pair {place}: {outcome}") from outcome
        scores.append(outcome)
    return scores


def stream_scores(
    pairs: Iterable[Pair], options: LyricOptions, *, workers: int = 1
) -> Iterator[LyricScore | ValueError]:
    """Yield a score for each pair in turn, or the error where there is none; memory stays flat.

    Args:
        pairs: (lyric, template), any number; read as they are needed.
        options: From ``lyric_options.check_options``.
        workers: Processes; 1 scores in this one.

    Raises:
        ValueError: ``workers`` is below 1.

    Examples:
        >>> outcomes = stream_scores([("月光", "(verse)\\ncc"), ("月光", "")], check_options("document"))
        >>> [type(outcome).__name__ for outcome in outcomes]
        ['LyricScore', 'ValueError']
    """
    return map_stream(partial(_score, options=options), pairs, workers=workers)


def _score(pair: Pair, options: LyricOptions) -> LyricScore | ValueError:
    try:
        return score_checked(*pair, options)
    except ValueError as error:
        return error
