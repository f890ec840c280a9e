"""The bulk path gives the scores of the single one, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rows import each_row

from hengwen.objective import score_lyric, score_lyrics
from hengwen.objective.lyrics.rules import build_options
from hengwen.objective.lyrics.score_lyric import stream_scores

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPLATE = "(verse)\ncccR\ncccR"
LYRICS = ["(verse)\n我在远方\n看见月光", "(verse)\n月", "", "听音乐\n(verse)\n想你"]


@pytest.mark.slow
@each_row("workers", [1, 2])
def test_many_are_scored_as_one_by_one(workers: int) -> None:
    pairs = [(lyric, TEMPLATE) for lyric in LYRICS] * 60
    results = score_lyrics(iter(pairs), rules="muchin", workers=workers)
    assert results == [score_lyric(lyric, template, rules="muchin") for lyric, template in pairs]


def test_a_stream_goes_on_behind_a_pair_that_cannot_be_scored() -> None:
    pairs = [(LYRICS[0], TEMPLATE), (LYRICS[0], " "), (LYRICS[1], TEMPLATE)]
    results = [isinstance(result, ValueError) for result in stream_scores(pairs, build_options("document"))]
    assert results == [False, True, False]


def test_a_stream_reads_no_further_than_it_must() -> None:
    consumed: list[int] = []

    def pairs() -> Iterator[tuple[str, str]]:
        for number in range(10_000):
            consumed.append(number)
            yield LYRICS[0], TEMPLATE

    assert next(stream_scores(pairs(), build_options("document"))).total == 105
    assert len(consumed) < 1000


def test_nothing_gives_nothing() -> None:
    assert score_lyrics([]) == []


def test_the_pair_that_cannot_be_scored_is_named() -> None:
    with pytest.raises(ValueError, match="pair 1: the template is empty"):
        score_lyrics([(LYRICS[0], TEMPLATE), (LYRICS[0], "")])


@each_row("workers", [0, -1, True, 1.5])
def test_workers_must_be_a_whole_number(workers: object) -> None:
    with pytest.raises(ValueError, match="workers must be a whole number"):
        score_lyrics([], workers=workers)


def test_a_text_is_no_pair() -> None:
    with pytest.raises(TypeError, match=r"a pair must be \(lyric, template\), got '月光'"):
        score_lyrics(["月光"])


@each_row("which", ["lyric", "template"])
def test_a_text_that_is_too_long_is_refused_with_the_limit(which: str) -> None:
    texts = {"lyric": LYRICS[0], "template": TEMPLATE, which: "c" * 200_001}
    with pytest.raises(ValueError, match=f"the {which} has 200001 characters, at most 200000 can be scored"):
        score_lyric(**texts)
