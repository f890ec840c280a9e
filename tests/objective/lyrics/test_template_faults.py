"""Every fault of a template, with its line, and templates derived from lyrics."""

from __future__ import annotations

from rows import each_row

from hengwen.objective import check_template, to_msstr

NO_TAG = "no section tag such as (verse), so no section of a lyric can match"


@each_row(
    ("template", "faults"),
    [
        ("", ["the template is empty"]),
        (" \n\t", ["the template is empty"]),
        ("(verse)\nccR\nccR", []),
        ("(verse)\nccR\n  ccR  \n(chorus)\nc c", []),
        ("(verse)\n\nccR\n\nccR", ["line 2: blank", "line 4: blank"]),
        ("\n(verse)\ncc", ["line 1: blank"]),
        ("(verse)\n(chorus)\ncc", ["line 1: section (verse) has no lines"]),
        ("(verse)\ncc\n(chorus)", ["line 3: section (chorus) has no lines"]),
        (
            "(verse)\ncc\n(chorus)\nccR\ncc",
            ["line 3: section (chorus) has a single R, a rhyme needs two lines"],
        ),
        ("(verse)\nccR\nccR\nccR", []),
        ("cc\nccR", ["line 1: section without a tag has a single R, a rhyme needs two lines", NO_TAG]),
        ("ccR\nccR", [NO_TAG]),
        ("cc\n(verse)\ncc", []),
        ("(verse)\nRcc\nccR", ["line 2: R inside the line, it must be the last character"]),
        ("(verse)\nccRR\nccR", ["line 2: R inside the line, it must be the last character"]),
        ("(verse)\ncxc，c，", ["line 2: unexpected 'x ，', a line consists of c, R and spaces"]),
        ("(verse)\n（副歌）", ["line 2: '（副歌）' is not a tag, write (name) in ASCII parentheses"]),
        ("(verse)\n[chorus]:\ncc", ["line 2: '[chorus]:' is not a tag, write (name) in ASCII parentheses"]),
        (
            "(verse)\ncc\n(pre chorus)",
            ["line 3: '(pre chorus)' is not a tag, write (name) in ASCII parentheses"],
        ),
        ("(pre-chorus)\ncc\n(verse_2)\nc", []),
        (
            "(verse)\nccR\nxR\n\n(chorus)",
            [
                "line 3: unexpected 'x', a line consists of c, R and spaces",
                "line 4: blank",
                "line 5: section (chorus) has no lines",
            ],
        ),
    ],
)
def test_each_fault_of_a_template_is_named_with_its_line(template: str, faults: list[str]) -> None:
    assert list(check_template(template)) == faults


@each_row(
    ("lyric", "options", "template"),
    [
        ("(verse)\n夜, 月光\noh\n海洋\n来", {}, "(verse)\nc, cR\noh\ncR\nc"),
        ("(verse)\n夜, 月光\noh\n海洋\n来", {"clean": True}, "(verse)\nccR\ncR\nc"),
        ("(verse)\n月光cR", {}, "(verse)\ncc\ufffd\ufffd"),
        ("(verse)\n月光cR\n海洋", {"rules": "muchin"}, "(verse)\ncRcR\ncR"),
        ("前奏\n(verse)\n月光\n海洋", {"clean": True}, "cc\n(verse)\ncR\ncR"),
        ("前奏(verse)\n月光\n海洋", {"clean": True, "rules": "muchin"}, "(verse)\ncR\ncR"),
        ("(verse)\n\u4e00\u9fff\u3400\ua000", {"clean": True}, "(verse)\ncc"),
        ("(verse)\n月光R\n海洋", {"clean": True, "rules": "muchin"}, "(verse)\ncR\ncR"),
    ],
)
def test_a_template_is_derived_from_a_lyric(lyric: str, options: dict, template: str) -> None:
    assert to_msstr(lyric, **options) == template
