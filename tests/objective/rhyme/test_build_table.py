"""The text of the rhyme table, built from small dictionaries, and the program that prints or writes it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from hengwen.objective.rhyme import build_table, class_of_line

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
    monkeypatch.setattr(class_of_line, "PinyinSource", Source)
    text = build_table._table()
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
    lines = list(build_table._lines({"丁": "17G", "七": "七"}, {"01M": ["一丁"]}, "x"))
    assert lines[1:] == ["A=01M B=17G", "B.", "A 一丁"]


@pytest.fixture
def run_main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    monkeypatch.setattr(build_table, "_table", lambda: "table of this process\n")
    monkeypatch.setattr(build_table, "build", lambda: "一 from a subprocess\n")
    monkeypatch.setattr(build_table, "TABLE", tmp_path / "table.txt")

    def run(option: str) -> None:
        monkeypatch.setattr(sys, "argv", ["build_table", *option.split()])
        build_table.main()

    return run


@pytest.mark.parametrize(
    ("option", "text"), [("--print", "table of this process\n"), ("", "一 from a subprocess\n")]
)
def test_the_program_prints_the_table(
    run_main: Callable[[str], None], capsys: pytest.CaptureFixture[str], option: str, text: str
) -> None:
    run_main(option)
    assert capsys.readouterr().out == text
    assert not build_table.TABLE.exists()


def test_the_program_writes_the_table_with_line_feeds(
    run_main: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    run_main("--write")
    assert build_table.TABLE.read_bytes() == "一 from a subprocess\n".encode()
    assert capsys.readouterr().out == ""


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, object]]]:
    """The commands that were run; a command with an even number before it succeeds."""
    calls: list[tuple[list[str], dict[str, object]]] = []

    def run(command: list[str], **options: object) -> SimpleNamespace:
        calls.append((command, options))
        return SimpleNamespace(returncode=len(calls) - 1, stdout="table", stderr="x" * 400 + "the end")

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_the_table_is_built_in_a_process_of_its_own(
    processes: list[tuple[list[str], dict[str, object]]],
) -> None:
    assert build_table.build() == "table"
    ((command, options),) = processes
    module = "hengwen.objective.rhyme.build_table"
    assert command == [sys.executable, "-P", "-X", "utf8", "-m", module, "--print"]
    assert options == {"capture_output": True, "encoding": "utf-8", "check": False}


def test_a_process_that_fails_is_an_error_with_the_end_of_its_message(
    processes: list[tuple[list[str], dict[str, object]]],
) -> None:
    build_table.build()
    with pytest.raises(RuntimeError) as caught:
        build_table.build()
    assert str(caught.value) == f"the rhyme table could not be built: {'x' * 393}the end"


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> class_of_line.PinyinSource:
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
    monkeypatch.setattr(class_of_line, "version", lambda package: f"version of {package}")
    monkeypatch.setattr(class_of_line, "_mixed_words", lambda: iter(["卡拉OK店"]))
    monkeypatch.setattr(class_of_line.PinyinSource, "_mixed", lambda self, word: f"class of {word}")
    monkeypatch.setattr(class_of_line, "_class_of_pinyin", lambda reading: f"class of {reading}")
    result = class_of_line.PinyinSource()
    assert loaded == ["large_pinyin", "cc_cedict"]
    return result


def test_the_source_names_the_versions_of_its_packages(source: class_of_line.PinyinSource) -> None:
    assert source.versions == (
        "pypinyin version of pypinyin, pypinyin-dict version of pypinyin-dict, jieba version of jieba"
    )


def test_a_character_has_the_class_of_its_first_reading(source: class_of_line.PinyinSource) -> None:
    assert [source.character(char) for char in "乐风兙"] == ["class of lè", "class of fēng", "兙"]


def test_words_of_han_are_read_by_the_phrases_and_mixed_words_after_them(
    source: class_of_line.PinyinSource,
) -> None:
    assert list(source.words()) == [
        ("音乐", "class of yuè"),
        ("快乐", "class of lè"),
        ("卡拉OK店", "class of 卡拉OK店"),
    ]


@pytest.mark.slow
def test_words_of_the_segmenter_that_mix_han_with_other_characters_end_in_han() -> None:
    words = list(class_of_line._mixed_words())
    assert words[:3] == ["B超", "T恤", "A座"]
    assert len(words) == 61
    assert all(
        "\u4e00" <= word[-1] <= "\u9fd5" and not class_of_line._ALL_HAN.fullmatch(word) for word in words
    )


@pytest.mark.slow
def test_a_mixed_word_has_the_class_of_its_last_character() -> None:
    source = class_of_line.PinyinSource.__new__(class_of_line.PinyinSource)
    assert [source._mixed(word) for word in ("T恤", "B超", "A座")] == ["11Y", "13H", "02B"]
