"""Normal forms agree with Python's."""

from __future__ import annotations

import random
import unicodedata

import pytest
from rows import each_row

from hengwen.objective import text as module
from hengwen.objective.text import normal_form

MARKS = [
    char
    for char in map(chr, range(0x110000))
    if unicodedata.combining(unicodedata.normalize("NFKD", char)[0])
]


@pytest.mark.slow
def test_a_text_that_grows_to_millions_of_characters_is_refused_before_it_is_normalised() -> None:
    assert len(normal_form("\ufdfa" * 1_000)) == 18_000
    with pytest.raises(ValueError, match="250,000 characters becomes 4,500,000 in NFKC: too long"):
        normal_form("\ufdfa" * 250_000)
    assert len(normal_form("\ufdfa" * 250_000, "NFC")) == 250_000
    assert len(normal_form("a" * 5_000_000 + "\ufdfa")) == 5_000_018


@pytest.mark.slow
def test_no_other_character_becomes_more_than_six() -> None:
    lengths = {char: len(unicodedata.normalize("NFKC", char)) for char in map(chr, range(0x110000))}
    assert {char: length for char, length in lengths.items() if length > 6} == {"\ufdfa": 18, "\ufdfb": 8}


@pytest.mark.slow
@each_row("form", ["NFC", "NFKC"])
def test_runs_of_marks_are_sorted_as_python_sorts_them(form) -> None:
    draw = random.Random(1)
    letters = ["e", "é", "好", "ᄀ", "ে", "가", "ﾊ", "ﾞ"]
    for _ in range(50):
        text = "".join(draw.choices(MARKS + letters, [1] * len(MARKS) + [10] * len(letters), k=600))
        assert normal_form(text, form) == unicodedata.normalize(form, text)


def test_no_mark_is_mistaken_for_a_letter() -> None:
    assert not [mark for mark in MARKS if not module._MAYBE_MARKS.fullmatch(mark * 64)]
    assert not [mark for mark in MARKS if not module._runs_of_marks("NFKC").fullmatch(mark * 64)]
