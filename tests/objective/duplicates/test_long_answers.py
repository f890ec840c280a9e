"""Long answers are compared by other ways, with the same results, up to a limit."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from hengwen.objective.duplicates import similarity as module
from hengwen.objective.duplicates.similarity import AnswerSet, near_duplicates, similarity

DRAW = random.Random(11)
THRESHOLDS = (0.5, 0.7, 0.8, 0.85, 0.9, 1.0)


def answers(kinds: str) -> list[str]:
    """Return some texts, and the same texts with more and more edits."""
    texts = ["".join(DRAW.choices(kinds, k=80)) for _ in range(4)]
    for edits in (2, 6, 12, 20):
        edited = list(texts[0])
        for index in DRAW.sample(range(80), edits):
            edited[index] = DRAW.choice(kinds)
        texts.append("".join(edited))
    return texts


@pytest.mark.parametrize("limits", [(0, 10**9), (0, 0)], ids=["kept", "bigrams first"])
@pytest.mark.parametrize("kinds", ["ab", "abcdefghijklmnopqrstuvwxyz"])
def test_long_answers_have_the_duplicates_of_short_ones(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], kinds: str
) -> None:
    texts = answers(kinds)
    expected = [near_duplicates(texts, threshold) for threshold in THRESHOLDS]
    monkeypatch.setattr(module, "_SHORT_CELLS", limits[0])
    monkeypatch.setattr(module, "_MEDIUM_CELLS", limits[1])
    for thresholds in (THRESHOLDS, THRESHOLDS[::-1]):
        answer_set = AnswerSet(texts)
        duplicates = {threshold: answer_set.duplicates(threshold) for threshold in thresholds}
        assert [duplicates[threshold] for threshold in THRESHOLDS] == expected


def test_too_many_long_answers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("_SHORT_CELLS", "_MEDIUM_CELLS", "_MAX_CELLS"):
        monkeypatch.setattr(module, limit, 0)
    with pytest.raises(ValueError, match="^8 answers are too long to compare in pairs; compare fewer or"):
        near_duplicates(answers("abcdefghijklmnopqrstuvwxyz"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lengths", "threshold", "message"),
    [
        ([20_000] * 101, 0.85, "answers of 10,000 or more have 2,020,000 letters and digits in all, at most"),
        ([9_000] * 1_112, 0.7, "answers have 10,008,000 letters and digits in all, at most 10,000,000 are"),
    ],
)
def test_too_many_letters_in_all_are_refused_before_any_pair_is_compared(
    monkeypatch: pytest.MonkeyPatch, lengths: list[int], threshold: float, message: str
) -> None:
    monkeypatch.setattr(AnswerSet, "_is_similar", None)
    texts = [f"{index:06}".ljust(length, "a") for index, length in enumerate(lengths)]
    with pytest.raises(ValueError, match=message):
        near_duplicates(texts, threshold)


def test_the_bound_of_shared_bigrams_is_never_too_low() -> None:
    for kinds in ("ab", "".join(map(chr, range(0x4E00, 0x4E00 + 3_000)))):
        a, b = ("".join(DRAW.choices(kinds, k=3_000)) for _ in "ab")
        shared = (Counter(pairwise(a)) & Counter(pairwise(b))).total()
        assert shared <= module._most_shared_bigrams(a, b) <= shared + 300


def test_an_answer_of_more_than_a_million_letters_is_refused() -> None:
    with pytest.raises(ValueError, match="^a text of 1000001 letters and digits is too long to compare$"):
        similarity("a" * 1_000_001, "b")
