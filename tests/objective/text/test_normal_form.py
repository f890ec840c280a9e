"""Normal forms agree with Python's."""

from __future__ import annotations

import random
import unicodedata

import pytest

from hengwen.objective.text import normal_form as module
from hengwen.objective.text.normal_form import normal_form

MARKS = [
    char
    for char in map(chr, range(0x110000))
    if unicodedata.combining(unicodedata.normalize("NFKD", char)[0])
]


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_runs_of_marks_are_sorted_as_python_sorts_them(form) -> None:
    draw = random.Random(1)
    letters = ["e", "é", "好", "ᄀ", "ে", "가", "ﾊ", "ﾞ"]
    for _ in range(50):
        text = "".join(draw.choices(MARKS + letters, [1] * len(MARKS) + [10] * len(letters), k=600))
        assert normal_form(text, form) == unicodedata.normalize(form, text)


def test_no_mark_is_mistaken_for_a_letter() -> None:
    assert not [mark for mark in MARKS if not module._MAYBE_MARKS.fullmatch(mark * 64)]
    assert not [mark for mark in MARKS if not module._runs_of_marks("NFKC").fullmatch(mark * 64)]
