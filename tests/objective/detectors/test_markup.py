"""Labels and markup in a text."""

from __future__ import annotations

from rows import each_row

from hengwen.objective.detectors import MARK_WORDS, MarkupHit, find_markup, is_section_tag


@each_row(
    "text",
    [
        "我想说：你好",
        "记住：别怕",
        "对了：明天见",
        "首先：别急",
        "晚安：愿你好梦",
        "天气预报：有雨",
        "我们18:30见",
        "https://a.b",
        "Alice: hi",
        "（笑）你好",
        "*伸懒腰*你好",
        "3. 是第三",
        "- 好的，走吧",
        "鱼、虾、蟹",
        "a < b > c",
        "#话题# 今天",
        "2*3*4",
        "(verse)\n风",
        "[Chorus 2]\n风",
        "【副歌】\n风",
        "Pre-Chorus:\n风",
        "<生成推文: AI生活>",
    ],
)
def test_plain_words_are_no_markup(text):
    assert find_markup(text) == []


@each_row(
    "text",
    [
        "【回答】好",
        "[Answer] ok",
        "答案：好",
        "Answer: ok",
        "“墨团：”好",
        "墨团：好",
        "**墨团**：好",
        "## 好",
        "- 一\n- 二",
        "1. 一\n2. 二",
        "1、鱼\n2、虾",
        "**好**",
        "__好__",
        "```py\nx\n```",
        "|a|b|\n|-|-|",
        "<b>好</b>",
        '<a href="x">好</a>',
    ],
)
def test_labels_and_markup_are_found(text):
    assert len(find_markup(text)) >= 1


@each_row(
    ("line", "expected"),
    [
        ("(verse)", True),
        ("副歌", True),
        ("【主歌 1】", True),
        ("副歌响起来了吗", False),
        ("rap god ok yes", False),
    ],
)
def test_section_tags_are_told_from_lines(line, expected):
    assert is_section_tag(line) == expected


def test_each_kind_is_listed_once_with_its_evidence():
    assert find_markup("【回答】**好**的，**真**好") == [
        MarkupHit("label", "label 【回答】"),
        MarkupHit("bold", "bold **好**"),
    ]
    assert {hit.kind for hit in find_markup("# 一\n- 一\n- 二\n<b>三</b>")} <= set(MARK_WORDS)
