"""What the scorer gives to answers that try to please it; the figures of docs/lyrics.md are checked here."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import each_row

from hengwen.objective import check_template, score_lyric, to_msstr

DOCS = Path(__file__).resolve().parents[3] / "docs" / "lyrics.md"

SONG = """(verse)
清晨的巷口飘着豆浆香
外婆把旧毛衣晒在阳光
我背着书包跑过小桥旁
风把课本翻到没写完的那章
(chorus)
后来我走过许多的车站
把思念装进每一个夜晚
灯火照着回不去的河岸
你还在窗口等我吃晚饭
(bridge)
时间是一条安静的小河
带走了歌声留下了石头
我学会沉默也学会忍受
却学不会在你面前假装成熟
(chorus)
后来我走过许多的车站
把思念装进每一个夜晚
灯火照着回不去的河岸
你还在窗口等我吃晚饭"""

OTHER = """(intro)
雪落无声
(verse)
他说北方的冬天很长
(rap)
一二三四五六七
快跑
(verse)
城市的霓虹又亮起来
我们都忘了最初的样子
(outro)
再见"""

TEMPLATE = to_msstr(SONG, clean=True)
SECTIONS = ["(" + section.rstrip("\n") for section in SONG.split("(")[1:]]


def each_line(change: object) -> str:
    assert callable(change)
    return "\n".join(line if line.startswith("(") else change(line) for line in SONG.split("\n"))


def reversed_lines(section: str) -> str:
    tag, *lines = section.split("\n")
    return "\n".join([tag, *reversed(lines)])


ANSWERS = {
    "the song itself": SONG,
    "a copy of the template": TEMPLATE,
    "half of each line replaced by the letter c": each_line(
        lambda line: "c" * (len(line) // 2) + line[len(line) // 2 :]
    ),
    "Latin words only": each_line(lambda line: "la " * (len(line) // 3)),
    "each line padded with Latin": each_line(lambda line: f"{line} oh yeah baby"),
    "one line repeated": each_line(lambda _: SONG.split("\n")[1]),
    "one character repeated": each_line(lambda line: "啊" * len(line)),
    "sections shuffled": "\n".join(SECTIONS[index] for index in (2, 0, 3, 1)),
    "lines of each section reversed": "\n".join(map(reversed_lines, SECTIONS)),
    "a lyric for another template": OTHER,
    "the tags without lines": "\n".join(line for line in SONG.split("\n") if line.startswith("(")),
    "the lines without tags": "\n".join(line for line in SONG.split("\n") if not line.startswith("(")),
    "blank lines between all lines": SONG.replace("\n", "\n\n"),
    "an empty answer": "",
}
each = pytest.mark.parametrize("name", ANSWERS)


def figures(name: str) -> list[str]:
    document, muchin = (score_lyric(ANSWERS[name], TEMPLATE, rules=rules) for rules in ("document", "muchin"))
    return [f"{value:.2f}" for value in (document.total, document.base, muchin.total, muchin.base)]


def test_the_template_is_sound() -> None:
    assert check_template(TEMPLATE) == ()


@each
def test_the_documented_figures_are_those_of_the_scorer(name: str) -> None:
    rows = [line.strip("| ").split(" | ") for line in DOCS.read_text(encoding="utf-8").split("\n")]
    documented = {row[0]: row[1:] for row in rows if len(row) == 5}
    assert documented[name] == figures(name)


@each
def test_nothing_beats_the_song_itself(name: str) -> None:
    assert score_lyric(ANSWERS[name], TEMPLATE).total <= score_lyric(SONG, TEMPLATE).total == 105


@each_row(
    ("name", "most"),
    [
        ("a copy of the template", 60),
        ("Latin words only", 60),
        ("half of each line replaced by the letter c", 85),
        ("sections shuffled", 85),
        ("a lyric for another template", 20),
        ("the tags without lines", 40),
        ("the lines without tags", 20),
        ("an empty answer", 0),
    ],
)
def test_what_does_not_keep_to_the_template_is_far_below(name: str, most: float) -> None:
    assert score_lyric(ANSWERS[name], TEMPLATE).total <= most


def test_the_public_program_takes_a_parroted_template_for_a_perfect_song() -> None:
    parroted, song = (
        score_lyric(ANSWERS[name], TEMPLATE, rules="muchin").total
        for name in ("a copy of the template", "the song itself")
    )
    assert parroted == song


@each_row("name", ["one line repeated", "one character repeated"])
def test_form_alone_does_not_see_repetition(name: str) -> None:
    assert score_lyric(ANSWERS[name], TEMPLATE).total > 90


def test_a_parroted_template_without_rhymes_gets_the_points_of_rhyme() -> None:
    template = "(verse)\ncccc\nccccc"
    score = score_lyric(template, template)
    assert score.phase4 == 20
    assert 70 < score.total < 80
