"""Texts that are cut come back, whatever they share."""

from __future__ import annotations

from itertools import takewhile

from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.store.prefix_dedup import LEAST, MOST_SEEN, PrefixStore, join, shared_length

pieces = st.text(st.sampled_from("甲乙a"), max_size=4)


@given(pieces, pieces, pieces)
def test_what_two_texts_share_is_what_the_slow_way_finds(head: str, one: str, other: str) -> None:
    texts = [head + one, head + other]
    assert shared_length(*texts) == len(
        list(takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    )


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), pieces), max_size=12))
def test_every_text_comes_back(parts: list[tuple[int, int, str]]) -> None:
    texts = [f"{'甲乙丙'[which]}" * (LEAST // 2 * length) + end for which, length, end in parts]
    beginnings, kept = PrefixStore(), {}
    for text in texts:
        cut = beginnings.cut(text)
        kept |= beginnings.take()
        assert join(cut, kept) == text


def test_only_so_many_texts_are_remembered_and_what_is_like_no_other_is_not_kept() -> None:
    beginnings = PrefixStore()
    for number in range(3 * MOST_SEEN):
        text = f"{number:04d}" * LEAST
        assert beginnings.cut(text) == text
    assert len(beginnings._seen) == MOST_SEEN
    assert beginnings.take() == {}
