"""Templates made from lyrics, and what is wrong in a template."""

from __future__ import annotations

from rows import each_row

from hengwen.objective import check_template, score_lyric, to_msstr

LYRIC = "歌\n(verse)\n月光, 远方\nla la\n你的窗\n(chorus)\n海"


def test_a_lyric_becomes_what_the_scorer_compares() -> None:
    assert to_msstr(LYRIC) == "c\n(verse)\ncc, cR\nla la\nccR\n(chorus)\nc"
    assert to_msstr(LYRIC) == score_lyric(LYRIC, "c").msstr
    assert to_msstr(LYRIC, rules="muchin").startswith("歌\n(verse)\ncc, cR\n")


def test_a_clean_template_holds_nothing_but_its_signs() -> None:
    assert to_msstr(LYRIC, clean=True) == "c\n(verse)\ncccR\nccR\n(chorus)\nc"
    assert check_template(to_msstr("(verse)\n月光, 远方\n你的窗", clean=True)) == ()


@each_row(
    ("template", "fault"),
    [
        ("", "the template is empty"),
        (" \n\n", "the template is empty"),
        ("ccR\nccR", "no section tag such as (verse), so no section of a lyric can match"),
        ("(verse)\ncc\n\ncc", "line 3: blank"),
        ("(verse)\ncC\ncc", "line 2: unexpected 'C', a line consists of c, R and spaces"),
        ("(verse)\nccR，\nccR", "line 2: unexpected '，', a line consists of c, R and spaces"),
        ("(verse)\ncRc\nccR", "line 2: R inside the line, it must be the last character"),
        ("(verse)\ncc\n[chorus]\ncc", "line 3: '[chorus]' is not a tag, write (name) in ASCII parentheses"),
        ("(verse)\ncc\n(verse 2)\ncc", "line 3: '(verse 2)' is not a tag, write (name) in ASCII parentheses"),
        ("(verse)\n(chorus)\ncc", "line 1: section (verse) has no lines"),
        ("(verse)\ncc\n(chorus)", "line 3: section (chorus) has no lines"),
        (
            "(verse)\ncc\ncR",
            "line 1: section (verse) has a single R, a rhyme needs two lines",
        ),
    ],
)
def test_each_fault_is_named_with_its_line(template: str, fault: str) -> None:
    assert check_template(template) == (fault,)


def test_a_sound_template_has_no_fault() -> None:
    assert check_template("(verse)\nccc ccR\ncccR\n(bridge)\ncccc\n") == ()
