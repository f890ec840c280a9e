"""Each repair of a text with its note: what was read or dropped, and in which line."""

from __future__ import annotations

from rows import each_row

from hengwen.objective.lyrics.repair import read_tag, repair

FORTY = "一二三四五六七八九十" * 4


@each_row(
    ("text", "repaired", "notes"),
    [
        ("", "", []),
        ("(verse)\n月光", "(verse)\n月光", []),
        ("(verse)\r\n月光", "(verse)\n月光", ["read CR as line ends"]),
        ("(verse)\n\n月光", "(verse)\n月光", ["dropped a blank line"]),
        ("(verse)\n\n\n月光\n", "(verse)\n月光", ["dropped 2 blank lines"]),
        ("(verse)\n---\n月光\n——", "(verse)\n月光", ["line 2: dropped a rule", "line 4: dropped a rule"]),
        (
            "[ti:x]\n[AR:y]\n(verse)\n月",
            "(verse)\n月",
            ["line 1: dropped metadata", "line 2: dropped metadata"],
        ),
        ("(verse)\n月\u200b光\ufeff", "(verse)\n月光", ["line 2: dropped invisible characters"]),
        (
            "(verse)\n[00:12.34][01:02] 月光",
            "(verse)\n月光",
            ["line 2: dropped the timestamp [00:12.34][01:02]"],
        ),
        (
            "(verse)\n[00:12.34] [Chorus]\n月光",
            "(verse)\n(chorus)\n月光",
            ["line 2: dropped the timestamp [00:12.34]", "line 2: read '[Chorus]' as (chorus)"],
        ),
        (
            "(verse)\nＡｂ１月光，「海」？",
            "(verse)\nAb1月光 海",
            ["line 2: read full-width letters as ASCII", "line 2: dropped punctuation ，「 」？"],
        ),
        (
            "(verse)\n> 月光\n# 海\n**风** `x` __y__",
            "(verse)\n月光\n海\n风 x y",
            ["line 2: dropped markup", "line 3: dropped markup", "line 4: dropped markup"],
        ),
        ("(verse)\n聽海", "(verse)\n听海", ["line 2: read traditional characters as simplified"]),
        (
            "(verse)\n**聽，Ａ**",
            "(verse)\n听 A",
            [
                "line 2: dropped markup",
                "line 2: read full-width letters as ASCII",
                "line 2: dropped punctuation ，",
                "line 2: read traditional characters as simplified",
            ],
        ),
    ],
)
def test_each_repair_of_a_line_is_noted(text: str, repaired: str, notes: list[str]) -> None:
    assert repair(text) == (repaired, tuple(notes))


@each_row(
    ("text", "repaired", "notes"),
    [
        (
            "```\n(verse)\n月光\n```",
            "(verse)\n月光",
            ["line 1: dropped a code fence", "line 4: dropped a code fence"],
        ),
        (
            "好的\n\n```text\n(verse)\n月光\n```\n希望你喜欢。",
            "(verse)\n月光",
            ["kept the fenced lines 4 to 5, dropped 2 lines around them"],
        ),
        (
            "```\n(verse)\n月光\n~~~\n后记",
            "(verse)\n月光",
            ["kept the fenced lines 2 to 3, dropped 1 lines around them"],
        ),
        (
            "好的\n```\n月光\n```",
            "好的\n月光",
            ["line 2: dropped a code fence", "line 4: dropped a code fence"],
        ),
        (
            "好的\n```\n(verse)\n月光",
            "(verse)\n月光",
            ["line 1: dropped '好的'", "line 2: dropped a code fence"],
        ),
        (
            "```\n(verse)\n```\n海\n```\n风\n```",
            "(verse)\n海\n风",
            [f"line {number}: dropped a code fence" for number in (1, 3, 5, 7)],
        ),
    ],
    ids=["nothing around", "chatter around", "text after", "no tag inside", "one fence", "four fences"],
)
def test_the_text_inside_the_only_fence_is_kept(text: str, repaired: str, notes: list[str]) -> None:
    assert repair(text) == (repaired, tuple(notes))


@each_row(
    ("text", "keep_ahead", "repaired", "dropped"),
    [
        ("春风\n---\n(verse)\n月", False, "(verse)\n月", {1: "春风"}),
        ("春风\n(verse)\n月", True, "春风\n(verse)\n月", {}),
        ("《远方》\n春风\n(verse)\n月", True, "春风\n(verse)\n月", {1: "《远方》"}),
        ("歌名：远方\nTitle: x\n好的：\n月", False, "月", {1: "歌名：远方", 2: "Title: x", 3: "好的："}),
        ("好的:\n月", False, "月", {1: "好的:"}),
        ("好的\n月", False, "好的\n月", {}),
        ("远方：\n月", False, "远方\n月", {}),
        ("(verse)\n月\n\n希望你喜欢！", False, "(verse)\n月", {4: "希望你喜欢！"}),
        ("(verse)\n月\n\n希望你喜欢！\n\n", False, "(verse)\n月", {4: "希望你喜欢！"}),
        ("(verse)\n月\n---\n希望你喜欢！", False, "(verse)\n月", {4: "希望你喜欢！"}),
        ("(verse)\n月\n\nI hope you like it.", False, "(verse)\n月", {4: "I hope you like it."}),
        ("(verse)\n月\n希望你喜欢！", False, "(verse)\n月\n希望你喜欢", {}),
        ("(verse)\n月\n\n希望你喜欢", False, "(verse)\n月\n希望你喜欢", {}),
        ("(verse)\n月\n\n我喜欢！", False, "(verse)\n月\n我喜欢", {}),
        ("(verse)\n\n希望你喜欢！", False, "(verse)", {3: "希望你喜欢！"}),
        ("希望你喜欢！", False, "希望你喜欢", {}),
        ("\n希望你喜欢！", False, "希望你喜欢", {}),
        (f"{FORTY}十一\n(verse)\n月", False, "(verse)\n月", {1: FORTY}),
    ],
)
def test_title_and_chatter_around_a_lyric_are_dropped(
    text: str, keep_ahead: bool, repaired: str, dropped: dict[int, str]
) -> None:
    result = repair(text, keep_ahead=keep_ahead)
    assert result.text == repaired
    notes = [note for note in result.repairs if ": dropped '" in note]
    assert notes == [f"line {number}: dropped {line!r}" for number, line in dropped.items()]


def test_lines_ahead_of_the_first_tag_are_dropped_by_default() -> None:
    assert repair("春风\n(verse)\n月") == repair("春风\n(verse)\n月", keep_ahead=False)


@each_row(
    ("line", "tag"),
    [
        ("[Verse_1]", "(verse)"),
        ("[Pre _ Chorus]", "(pre-chorus)"),
        ("[ _Verse- ]", "(verse)"),
        ("[Verse  IV]", "(verse)"),
        ("[Verse b]", "(verse)"),
        ("[第一段 主歌]", "(verse)"),
        ("[主歌 × 3]", "(verse)"),
        ("[verse*2]", "(verse)"),
        ("[VERSE]", "(verse)"),
        ("{主歌}", "(verse)"),
        ("「副歌」", "(chorus)"),
        ("〔前奏〕", "(intro)"),
        ("［间奏］", "(interlude)"),
        ("[Intro, 吉他]", "(intro)"),
        ("[a]", None),
        ("()", None),
        ("(x", None),
        ("*", None),
        ("[Verse", None),
        ("Verse]", None),
        ("# Hook", "(hook)"),
        ("Ending", None),
        ("[Ending]", "(ending)"),
        ("(" + "a" * 38 + ")", "(" + "a" * 38 + ")"),
        ("(" + "a" * 39 + ")", None),
    ],
)
def test_decoration_numbers_and_remarks_of_a_tag_do_not_count(line: str, tag: str | None) -> None:
    assert read_tag(line) == tag
