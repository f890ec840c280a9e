"""Traditional characters become simplified ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rows import each_row

from hengwen.objective import rhyme_class, score_lyric
from hengwen.objective.text import simplify

HAN = [chr(code) for code in range(0x4E00, 0xA000)]


@each_row(
    ("line", "code"),
    [("聽音樂", "04J"), ("在銀行", "16T"), ("想睡覺", "13H"), ("聽著", "03G"), ("歸還", "14H")],
)
def test_traditional_characters_rhyme_as_they_should(line: str, code: str) -> None:
    assert rhyme_class(simplify(line)) == code
    rows = score_lyric(f"(verse)\n{line}", "(verse)\nccc", parse="lenient").lines
    assert rows[0].code == code


@each_row(
    ("traditional", "simplified"),
    [
        ("擔心糾纏的痕跡", "担心纠缠的痕迹"),
        ("永恆支撐", "永恒支撑"),
        ("眼淚乾了，乾杯，樹幹，干涉", "眼泪干了，干杯，树干，干涉"),
        ("扭轉乾坤，乾隆", "扭转乾坤，乾隆"),
        ("明瞭，瞭望", "明了，瞭望"),
        ("名著看著後來", "名著看着后来"),
        ("著名的著作，顯著", "著名的著作，显著"),
        ("寫著名字，看著書", "写着名字，看着书"),
        ("妳和祂和牠", "你和他和它"),
        ("嗰個喎", "嗰个喎"),  # their simplified forms are rare and have no rhyme class
        ("我爱的音乐，后来干杯", "我爱的音乐，后来干杯"),
        ("Rock & roll", "Rock & roll"),
        ("愛\ud800愛", "爱\ud800爱"),
        ("", ""),
    ],
)
def test_words_decide_where_a_character_has_two_simplified_forms(traditional: str, simplified: str) -> None:
    assert simplify(traditional) == simplified


@pytest.mark.slow
def test_every_character_becomes_one_character_and_none_loses_its_rhyme_class() -> None:
    simplified = simplify("".join(HAN))
    assert len(simplified) == len(HAN)
    assert sum(map(str.__ne__, HAN, map(simplify, HAN))) > 2800
    assert [char for char in HAN if rhyme_class(char) and not rhyme_class(simplify(char))] == []


def test_a_table_in_the_working_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "t2s.json").write_text("{}", "utf-8")
    script = "from hengwen.objective.text import simplify; assert simplify(chr(0x611B)) == chr(0x7231)"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_the_signature_of_lenient_parsing_names_its_version() -> None:
    lenient, exact = (score_lyric("(verse)\n愛", "(verse)\nc", parse=parse) for parse in ("lenient", "exact"))
    assert lenient.signature.endswith("|parse:lenient|v:2")
    assert exact.signature.endswith("|parse:exact|v:1")
