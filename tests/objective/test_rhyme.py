"""Rhyme classes: what a reader of Mandarin would hear, polyphones read in their word."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from rows import each_row

from hengwen.objective import rhyme_class, text
from hengwen.objective.rhyme import (
    RHYME_CLASSES,
    last_han,
    rhyme_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ONE_EACH = (
    "01M沙 02B波 03G歌 04J月 05Z诗 06E耳 07Q溪 08W水 09K海 10G湖 11Y雨 12H秋 13H桥 14H山 15H春 "
    "16T窗 17G风 18D空"
)


@each_row("pair", ONE_EACH.split())
def test_each_class_has_its_sounds(pair: str) -> None:
    assert rhyme_class(f"看{pair[3]}") == pair[:3]


@each_row(
    ("line", "code"),
    [
        ("听音乐", "04J"),
        ("真快乐", "03G"),
        ("路过银行", "16T"),
        ("向前飞行", "17G"),
        ("早早睡觉", "13H"),
        ("有感觉", "04J"),
        ("他睡着", "13H"),
        ("他看着", "03G"),
        ("怎么也忘不了", "13H"),
        ("我走了", "03G"),
        ("早该归还", "14H"),
        ("请你记得", "03G"),
        ("一朵花儿", "06E"),
        ("新T恤", "11Y"),
        ("呢", "07Q"),
        ("翁", "17G"),
        ("兄", "18D"),
        ("凪", "05Z"),
    ],
)
def test_polyphones_are_read_in_their_word(line: str, code: str) -> None:
    assert rhyme_class(line) == code


def test_what_follows_the_last_han_character_does_not_count() -> None:
    assert rhyme_class("夜色里的风, oh oh!") == rhyme_class("夜色里的风") == "17G"


def test_a_line_without_han_has_no_class() -> None:
    assert rhyme_class("la la 123") is None
    assert rhyme_class("") is None
    assert last_han("㐀〇") == -1


def test_a_character_without_reading_rhymes_only_with_itself() -> None:
    assert rhyme_class("兙") == "兙"
    assert rhyme_name("兙") == "兙"


def test_a_character_that_jieba_does_not_know_stands_alone() -> None:
    assert rhyme_class("月\u9fd6") == rhyme_class("\u9fd6")


def test_an_unknown_scheme_is_named() -> None:
    with pytest.raises(ValueError, match="unknown rhyme scheme 'thirteen'; did you mean 'eighteen'"):
        rhyme_class("风", scheme="thirteen")


def test_there_are_eighteen_classes_with_disjoint_finals() -> None:
    finals = [final for item in RHYME_CLASSES.values() for final in item.finals]
    assert len(RHYME_CLASSES) == 18
    assert sorted({final for final in finals if finals.count(final) > 1}) == ["i"]
    assert [RHYME_CLASSES[code].name for code in ("01M", "05Z", "18D")] == ["一麻", "五支", "十八东"]


def test_the_segmenter_is_asked_only_where_a_word_could_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(text, "last_word", lambda run: asked.append(run) or run[-1])
    for line in ("看见月光", "听音乐", "听音乐的风", "oh"):
        rhyme_class(line)
    assert asked == ["听音乐"]


def run(code: str) -> str:
    # by stdin: some locales cannot encode the characters in arguments
    done = subprocess.run(
        [sys.executable, "-"], input=code, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.slow
def test_scoring_loads_neither_pypinyin_nor_jieba_where_no_word_matters() -> None:
    code = (
        "import sys; from hengwen.objective import score_lyric;"
        "score_lyric('(verse)\\n看见月光', '(verse)\\ncccc');"
        "print([name for name in ('jieba', 'pypinyin', 'pypinyin_dict', 'scipy') if name in sys.modules])"
    )
    assert run(code) == "[]"


@pytest.mark.slow
def test_words_that_a_user_adds_move_nothing_and_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code = (
        "import warnings; warnings.simplefilter('ignore');"
        "import jieba; jieba.setLogLevel(60);"
        "from pypinyin.constants import PHRASES_DICT, PINYIN_DICT;"
        "before = len(PHRASES_DICT), hash(frozenset(PINYIN_DICT.items()));"
        "jieba.add_word('听音乐'); from hengwen.objective import rhyme_class;"
        "print(rhyme_class('听音乐'), before == (len(PHRASES_DICT), hash(frozenset(PINYIN_DICT.items()))),"
        " '听音乐' in jieba.dt.FREQ)"
    )
    assert run(code) == "04J True True"


def test_every_reading_of_the_published_table_is_met(shared: Callable[[str], Path]) -> None:
    path = shared("specs/rhyme.md")
    rows = [line.split(" | ") for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if len(row) == 4 and row[3][:2].isdigit() and "/" not in row[0]]
    assert len(rows) > 160
    assert [row[0] for row in rows if rhyme_class(row[0]) != row[3][:3]] == []
