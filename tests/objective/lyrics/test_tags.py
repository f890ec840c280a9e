"""Section tags as models write them."""

from __future__ import annotations

from rows import each_row

from hengwen.objective.lyrics.repair import read_tag


@each_row(
    ("line", "tag"),
    [
        ("[Verse 1]", "(verse)"),
        ("[Verse 1: 男声]", "(verse)"),
        ("（主歌）", "(verse)"),
        ("【副歌】", "(chorus)"),
        ("（主歌一）", "(verse)"),
        ("**Chorus**", "(chorus)"),
        ("**[Pre-Chorus]**", "(pre-chorus)"),
        ("**Chorus:**", "(chorus)"),
        ("## 桥段", "(bridge)"),
        ("Verse 1:", "(verse)"),
        ("主歌：", "(verse)"),
        ("導歌：", "(pre-chorus)"),
        ("(Verse 2)", "(verse)"),
        ("Pre Chorus", "(pre-chorus)"),
        ("(chorus x2)", "(chorus)"),
        ("(主歌)", "(verse)"),
        ("(verse2)", "(verse2)"),
        ("(hey)", "(hey)"),
        ("[[Verse]]", "(verse)"),
        ("**[Chorus]:**", "(chorus)"),
        ("> # 副歌 #", "(chorus)"),
        ("[Hook - 全体]", "(hook)"),
        ("**Hook**", "(hook)"),
        ("Hook：", "(hook)"),
        ("Hook", None),
        ("[Hook", None),
        ("Hook]", None),
        ("[Hook）", None),
        ("[", None),
        ("[]", None),
        ("**", None),
        ("**Hook - 全体**", None),
        ("第二段主歌", "(verse)"),
        ("verse ii", "(verse)"),
        ("[" + "Verse".ljust(38) + "]", "(verse)"),
        ("[" + "Verse".ljust(39) + "]", None),
        ("（啊）", None),
        ("主歌：风吹过窗台", None),
        ("尾声", None),
        ("月光", None),
        ("", None),
        ("[Verse" + " " * 50 + "]", None),
    ],
)
def test_tags_are_recognized_as_models_write_them(line: str, tag: str | None) -> None:
    assert read_tag(line) == tag
