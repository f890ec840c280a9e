"""Encoded texts come back, whatever they share."""

from __future__ import annotations

from itertools import takewhile

from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.store.record_codec import MAX_RECENT, MIN_LENGTH, PrefixStore, decode, shared_length

pieces = st.text(st.sampled_from("甲乙a"), max_size=4)


@given(pieces, pieces, pieces)
def test_the_shared_length_equals_that_of_a_slow_search(head: str, earlier: str, later: str) -> None:
    texts = [head + earlier, head + later]
    assert shared_length(*texts) == len(
        list(takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    )


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), pieces), max_size=12))
def test_every_text_comes_back(parts: list[tuple[int, int, str]]) -> None:
    texts = [f"{'甲乙丙'[which]}" * (MIN_LENGTH // 2 * length) + end for which, length, end in parts]
    prefixes = PrefixStore()
    stored: dict = {}
    for text in texts:
        encoded = prefixes.encode(text)
        stored |= prefixes.drain()
        assert decode(encoded, stored) == text


def test_few_texts_are_remembered_and_one_that_shares_nothing_is_not_stored() -> None:
    prefixes = PrefixStore()
    for number in range(3 * MAX_RECENT):
        text = f"{number:04d}" * MIN_LENGTH
        assert prefixes.encode(text) == text
    assert len(prefixes._recent) == MAX_RECENT
    assert prefixes.drain() == {}
