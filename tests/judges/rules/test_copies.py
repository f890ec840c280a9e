"""Copies of a reference: word for word, or except for particles and punctuation."""

from __future__ import annotations

from rows import each_row

from hengwen.judges.rules.rule import CopyMatch, find_copy


@each_row(
    ("text", "references", "match"),
    [
        ("晚上好", ["晚安", "晚上好！"], CopyMatch(exact=True, normalized=True)),
        ("晚上好呀", ["晚上好"], CopyMatch(exact=False, normalized=True)),
        ("酒吧 里呢", ["酒吧里呢"], CopyMatch(exact=True, normalized=False)),
        ("晚安", ["晚上好"], CopyMatch(exact=False, normalized=False)),
        ("……", ["晚上好"], CopyMatch(exact=False, normalized=False)),
        ("晚安", ["……", ""], None),
        ("晚安", [], None),
    ],
    ids=["exact", "particle", "moved end of a phrase", "another", "no letter", "bare references", "none"],
)
def test_a_copy_is_exact_or_normalized(text, references, match):
    assert find_copy(text, references) == match
