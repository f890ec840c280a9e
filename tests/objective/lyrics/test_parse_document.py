"""Every field of parsed lines and sections under the rule set ``document``."""

from __future__ import annotations

from rows import each_row

from hengwen.objective.lyrics.parse_document import parse_line, parse_lyric, parse_template
from hengwen.objective.lyrics.parsed import LineReading, LyricLine, Section


@each_row(
    ("line", "size", "rhymes"),
    [("cccR", 4, 1), ("ccc", 3, 0), ("R", 1, 1), ("RcR", 3, 1), ("cc, oh R!", 3, 1), ("la", 0, 0)],
)
def test_a_template_line_counts_both_marks_and_rhymes_once(line: str, size: int, rhymes: int) -> None:
    (section,) = parse_template(line).sections
    assert section.lines == (LyricLine(line, size, size, rhymes, "", ""),)


@each_row(
    ("line", "code", "plain", "rhymed"),
    [
        ("月光", "16T", "cc", "cR"),
        ("月 光", "16T", "c c", "c R"),
        ("Oh 月光!", "16T", "Oh cc!", "Oh cR!"),
        ("cR 月光", "16T", "\ufffd\ufffd cc", "\ufffd\ufffd cR"),
    ],
)
def test_a_line_with_han_characters_has_two_forms(line: str, code: str, plain: str, rhymed: str) -> None:
    assert parse_line(line) == LineReading(
        code, LyricLine(plain, 2, 2, 0, code, line), LyricLine(rhymed, 2, 2, 1, code, line)
    )


@each_row(("line", "text"), [("la la", "la la"), ("rock R", "ro\ufffdk \ufffd")])
def test_a_line_without_han_characters_neither_counts_nor_rhymes(line: str, text: str) -> None:
    plain = LyricLine(text, 0, 0, 0, "", line)
    assert parse_line(line) == LineReading("", plain, plain)


def test_a_line_may_be_longer_than_those_in_the_cache() -> None:
    for length in (99, 100, 101, 500):
        (section,) = parse_lyric("月" * length).sections
        assert [(line.text, line.length, line.rhymes) for line in section.lines] == [
            ("c" * length, length, 0)
        ]


def test_sections_keep_their_tags_and_names() -> None:
    template = parse_template("hi\n(Verse-2)\nccR\n\n(2)\n(oh) c\n(a b)\n()")
    assert [(section.name, section.tag) for section in template.sections] == [
        ("", ""),
        ("verse", "(Verse-2)"),
        ("2", "(2)"),
    ]
    assert template.text == template.msstr == "hi\n(Verse-2)\nccR\n(2)\n(oh) c\n(a b)\n()"
    assert parse_template("(a)\n(b)").sections == (Section("a", "(a)", ()), Section("b", "(b)", ()))
    assert parse_template(" \n").sections == ()


def test_lines_rhyme_only_inside_their_section() -> None:
    lyric = parse_lyric("(a)\n月光\n风\n海洋\n(b)\n远方\nla")
    assert lyric.text == "(a)\ncR\nc\ncR\n(b)\ncc\nla"
    assert lyric.msstr == lyric.text
