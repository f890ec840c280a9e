"""Sizes from which the store references prefixes, and forgets them."""

from __future__ import annotations

from rows import each_row

from hengwen.store.record_codec import PrefixStore, decode


@each_row(("length", "is_reference"), [(399, False), (400, True)])
def test_texts_of_400_characters_are_referenced(length: int, is_reference: bool) -> None:
    prefixes = PrefixStore()
    prefixes.encode("x" * length)
    assert isinstance(prefixes.encode("x" * length), dict) is is_reference


@each_row(("others", "is_reference"), [(31, True), (32, False)])
def test_32_texts_are_remembered(others: int, is_reference: bool) -> None:
    prefixes = PrefixStore()
    text = "x" * 500
    prefixes.encode(f"{text}1")
    for number in range(others):
        prefixes.encode(f"{number:04}" * 200)
    assert isinstance(prefixes.encode(f"{text}2"), dict) is is_reference


@each_row(("shared", "is_reference"), [(499, False), (500, True)])
def test_a_text_is_referenced_where_half_of_it_is_shared(shared: int, is_reference: bool) -> None:
    prefixes = PrefixStore()
    prefixes.encode("x" * shared + "1" * (1000 - shared))
    assert isinstance(prefixes.encode("x" * shared + "2" * (1000 - shared)), dict) is is_reference


def test_a_prefix_is_drained_once_and_the_text_used_last_is_searched_first() -> None:
    prefixes = PrefixStore()
    first, second = "x" * 600, "y" * 600
    for text in (first, second):
        prefixes.encode(f"{text}0")
    for number in range(1, 4):
        reference = prefixes.encode(f"{first}{number}")
        assert isinstance(reference, dict)
        assert (reference["length"], reference["rest"]) == (600, str(number))
        fresh = prefixes.drain()
        assert list(fresh.values()) == ([f"{first}0"] if number == 1 else [])
        if fresh:
            kept = fresh
        assert decode(reference, kept) == f"{first}{number}"
    assert [known.text[0] for known in prefixes._recent] == ["x", "y"]
