"""Marks in two answers: what differs, or what stands in a reference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hengwen.documents.answers.marks import MAX_TOKENS, mark_pair, mark_references
from hengwen.documents.blocks import Marked


def marked(pieces: tuple[Marked, ...]) -> list[str]:
    return [piece.text for piece in pieces if piece.mark]


@given(
    st.text("山水之间 ab\n", max_size=40),
    st.text("山水之间 ab\n", max_size=40),
    st.text("山水之间", max_size=20),
)
def test_the_pieces_of_a_marked_text_are_the_text(before: str, after: str, reference: str) -> None:
    for text, pieces in zip((before, after), mark_pair(before, after, (reference,)), strict=True):
        assert "".join(piece.text for piece in pieces) == text


def test_in_texts_that_are_alike_the_different_words_and_characters_are_marked() -> None:
    before, after = mark_pair("我在山上看 yellow 的月亮", "我在海上看 blue 的月亮")
    assert (marked(before), marked(after)) == (["山", "yellow"], ["海", "blue"])


def test_equal_texts_have_no_marks() -> None:
    assert mark_pair("山水", "山水", ("山水山水",)) == ((Marked("山水"),), (Marked("山水"),))


def test_in_texts_of_little_in_common_passages_of_a_reference_are_marked() -> None:
    before, after = mark_pair("今夜风平浪静无人", "灯塔里只有我一个", ("听说灯塔里只有猫",))
    assert (marked(before), marked(after)) == ([], ["灯塔里只有"])
    assert {piece.mark for piece in after} == {"", "reference"}


def test_three_characters_of_a_reference_are_not_marked() -> None:
    assert marked(mark_references("灯塔里有人", ("灯塔里没有",))) == []


def test_very_long_texts_are_not_searched() -> None:
    text = "山" * (MAX_TOKENS + 1)
    assert mark_pair(text, text[:-1] + "水") == ((Marked(text),), (Marked(text[:-1] + "水"),))
