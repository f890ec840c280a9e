"""Two lyrics on the lines of one template."""

from __future__ import annotations

from hengwen.objective import score_lyric
from hengwen.objective.lyrics.scorer import SectionPair, side_by_side

TEMPLATE = "(verse)\ncccR\nccR\ncc\n(chorus)\ncccc"


def pair(before: str, after: str) -> tuple[SectionPair, ...]:
    return side_by_side(score_lyric(before, TEMPLATE), score_lyric(after, TEMPLATE))


def test_lines_stand_beside_their_template_line_with_what_is_wrong() -> None:
    verse, chorus = pair(
        "(verse)\n我在远方\n见月光\n风起\n(chorus)\n山水之间", "(verse)\n我在那远方\n风里\n(chorus)\n山水之间"
    )
    assert [(line.length, line.wants_rhyme) for line in verse.lines] == [(4, True), (3, True), (2, False)]
    first, second, third = ([line.lines[side] for side in (0, 1)] for line in verse.lines)
    assert [(line.text, line.surplus, line.misses_rhyme) for line in first if line] == [
        ("我在远方", 0, False),
        ("我在那远方", 1, True),
    ]
    assert first[0] is not None
    assert (first[0].rhyme, first[0].text[first[0].rhyming]) == (0, "方")
    assert second[1] is not None
    assert (second[1].surplus, second[1].misses_rhyme, second[1].rhyming) == (-1, True, -1)
    assert third[1] is None
    assert chorus.lines[0].lines[0] == chorus.lines[0].lines[1]


def test_a_section_that_the_template_does_not_have_stands_alone_where_it_is() -> None:
    sections = pair("(intro)\n啦啦\n(verse)\n我在远方", "(verse)\n我在远方\n(ending)\n完")
    assert [(section.tag, section.is_wanted) for section in sections] == [
        ("(intro)", False),
        ("(verse)", True),
        ("(chorus)", True),
        ("(ending)", False),
    ]
    assert sections[0].lines[0].length is None
    assert sections[0].lines[0].lines[1] is None
    assert sections[2].lines[0].lines == (None, None)


def test_two_rhymes_of_a_section_have_two_numbers() -> None:
    template = "(verse)\nccR\nccR\nccR\nccR"
    text = "(verse)\n见月光\n在心上\n我的歌\n不能说"
    (section,) = side_by_side(score_lyric(text, template), score_lyric(text, template))
    numbers = [line.lines[0].rhyme for line in section.lines if line.lines[0]]
    assert numbers[:2] == [0, 0]
