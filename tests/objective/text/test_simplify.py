"""Traditional characters become simplified ones."""

from __future__ import annotations

import pytest

from hengwen.objective import rhyme_class, score_lyric
from hengwen.objective.text.simplify import simplify


@pytest.mark.parametrize(
    ("line", "code"),
    [("聽音樂", "04J"), ("在銀行", "16T"), ("想睡覺", "13H"), ("聽著", "03G"), ("歸還", "14H")],
)
def test_traditional_characters_rhyme_as_they_should(line: str, code: str) -> None:
    assert rhyme_class(simplify(line)) == code
    rows = score_lyric(f"(verse)\n{line}", "(verse)\nccc", parse="lenient").lines
    assert rows[0].code == code


def test_simplifying_keeps_the_number_of_characters() -> None:
    assert simplify("名著看著後來") == "名著看着后来"
