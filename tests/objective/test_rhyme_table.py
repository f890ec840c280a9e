"""The program that builds the rhyme table, on small dictionaries and on those that it reads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from rows import each_row

from hengwen.objective import rhyme as rhyme_table

WORDS = [("丁一", "07Q"), ("一丁", "16T"), ("甲一", "01M"), ("乙一", "01M"), ("一七", "01M")]
"""Words with the class of their ending; the first ends in the class that its last character has alone."""
VERSIONS = "pypinyin 1, pypinyin-dict 2"


class Source:
    """A dictionary in which every character is read like 一, but 丁 like 庚; U+4E02 has no reading."""

    versions = VERSIONS

    def character(self, char: str) -> str:
        return {"丁": "17G", "\u4e02": char}.get(char, "07Q")

    def words(self) -> list[tuple[str, str]]:
        return WORDS


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(rhyme_table, "PinyinSource", Source)
    text = rhyme_table.build()
    assert text.endswith("\n")
    return text.splitlines()


def test_the_head_names_the_dictionaries_and_a_letter_for_each_class(table: list[str]) -> None:
    assert table[:2] == [
        f"# rhyme classes of U+4E00..U+9FFF, and the words that end in another class; from {VERSIONS}",
        "A=01M B=07Q C=16T D=17G",
    ]


def test_each_character_has_the_letter_of_its_class_in_rows_of_128(table: list[str]) -> None:
    rows = table[2:-3]
    assert rows[0] == "BD." + "B" * 125
    assert set(rows[1:]) == {"B" * 128}
    assert len("".join(rows)) == 0x9FFF - 0x4E00 + 1


def test_words_with_another_class_than_their_end_follow_by_class_and_by_end(table: list[str]) -> None:
    assert table[-3:] == ["A 乙一 甲一", "A 一七", "C 一丁"]


def test_a_class_that_only_words_have_gets_a_letter_too() -> None:
    lines = list(rhyme_table._lines({"丁": "17G", "七": "七"}, {"01M": ["一丁"]}, "x"))
    assert lines[1:] == ["A=01M B=17G", "B.", "A 一丁"]


@pytest.fixture
def run_main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    monkeypatch.setattr(rhyme_table, "build", lambda: "一 table\n")
    monkeypatch.setattr(rhyme_table, "TABLE", tmp_path / "table.txt")

    def run(*options: str) -> None:
        monkeypatch.setattr(sys, "argv", ["rhyme_table", *options])
        rhyme_table.main()

    return run


def test_the_program_prints_the_table(
    run_main: Callable[..., None], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    run_main()
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == "一 table\n".encode()
    assert not rhyme_table.TABLE.exists()


def test_the_program_writes_the_table_with_line_feeds(
    run_main: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    run_main("--write")
    assert rhyme_table.TABLE.read_bytes() == "一 table\n".encode()
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_the_table_is_what_the_dictionaries_give_today() -> None:
    command = [sys.executable, "-X", "utf8", "-m", "hengwen.objective.rhyme"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    built, shipped = done.stdout.splitlines(), rhyme_table.TABLE.read_text(encoding="utf-8").splitlines()
    assert shipped[0].startswith("# rhyme classes of U+4E00..U+9FFF")
    assert built[1:] == shipped[1:]


@each_row(
    ("reading", "code"),
    [("ㄏㄨㄥˊ", "18D"), ("ㄨㄥ", "17G"), ("ㄩㄥˇ", "18D"), ("ㄓ", "05Z"), ("ㄏㄇ", "ㄇ"), ("", "")],
)
def test_bopomofo_is_classed_by_its_end(reading: str, code: str) -> None:
    assert rhyme_table.class_of_bopomofo(reading) == code


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A source on small dictionaries in the place of pypinyin-dict's, which would change pypinyin."""
    loaded: list[str] = []
    characters = {ord("乐"): "lè,yuè", ord("风"): "fēng"}
    phrases = {"音乐": [["yīn"], ["yuè"]], "Ｔ恤": [["xù"]], "快乐": [["kuài"], ["lè"]]}
    fakes: dict[str, dict[str, object]] = {
        "pypinyin.constants": {"PHRASES_DICT": phrases, "PINYIN_DICT": characters},
        "pypinyin_dict": {},
        "pypinyin_dict.phrase_pinyin_data": {
            "large_pinyin": SimpleNamespace(load=lambda: loaded.append("large_pinyin"))
        },
        "pypinyin_dict.pinyin_data": {"cc_cedict": SimpleNamespace(load=lambda: loaded.append("cc_cedict"))},
    }
    for name, members in fakes.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(rhyme_table, "version", lambda package: f"version of {package}")
    monkeypatch.setattr(rhyme_table, "_mixed_words", lambda: iter(["卡拉OK店"]))
    monkeypatch.setattr(rhyme_table.PinyinSource, "_mixed", lambda self, word: f"class of {word}")
    monkeypatch.setattr(rhyme_table, "_class_of_pinyin", lambda reading: f"class of {reading}")
    result = rhyme_table.PinyinSource()
    assert loaded == ["large_pinyin", "cc_cedict"]
    return result


def test_the_source_names_the_versions_of_its_packages(source: Any) -> None:
    assert source.versions == (
        "pypinyin version of pypinyin, pypinyin-dict version of pypinyin-dict, jieba version of jieba"
    )


def test_a_character_has_the_class_of_its_first_reading(source: Any) -> None:
    assert [source.character(char) for char in "乐风兙"] == ["class of lè", "class of fēng", "兙"]


def test_words_of_han_are_read_by_the_phrases_and_mixed_words_after_them(
    source: Any,
) -> None:
    assert list(source.words()) == [
        ("音乐", "class of yuè"),
        ("快乐", "class of lè"),
        ("卡拉OK店", "class of 卡拉OK店"),
    ]


@pytest.mark.slow
def test_words_of_the_segmenter_that_mix_han_with_other_characters_end_in_han() -> None:
    words = list(rhyme_table._mixed_words())
    assert words[:3] == ["B超", "T恤", "A座"]
    assert len(words) == 61
    assert all(
        "\u4e00" <= word[-1] <= "\u9fd5" and not rhyme_table._ALL_HAN.fullmatch(word) for word in words
    )


@pytest.mark.slow
def test_a_mixed_word_has_the_class_of_its_last_character() -> None:
    source = rhyme_table.PinyinSource.__new__(rhyme_table.PinyinSource)
    assert [source._mixed(word) for word in ("T恤", "B超", "A座")] == ["11Y", "13H", "02B"]
