"""``hengwen power``: what is printed, in which width and language, and as JSON."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from pathlib import Path

import pytest
from rich.cells import cell_len

pytestmark = pytest.mark.slow

PLAN = files("hengwen.demo") / "data" / "plan.yaml"


@pytest.fixture
def demo(hengwen, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store with the runs of the packaged demo."""
    assert hengwen("run", PLAN, "--quiet").code == 0
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_fits_eighty_columns(hengwen, language: str) -> None:
    done = hengwen("power", PLAN, "--lang", language)
    assert done.code == 0
    assert max(map(cell_len, done.out.splitlines())) <= 80


@pytest.mark.usefixtures("demo")
def test_each_score_is_said_in_words(hengwen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    rest = ("--baseline", "ckpt-2000", "--other", "ckpt-4000")
    lines = hengwen("power", PLAN, "--score", "lyrics/lyric.total", *rest, "-v").out.splitlines()
    assert lines[0].endswith(
        " · variances from ckpt-2000 and ckpt-4000; power 80%, alpha 0.05 for 1 headline score"
    )
    assert "A run of demo detects differences from about 9.43 in lyric form." in lines
    assert any(line.split()[:5] == ["Lyric", "form", "9.43", "12", "×"] for line in lines)
    text = "\n".join(lines)
    assert "between prompts (" in text
    assert "with any number of repeats these prompts show at best " in text
    assert "this task has 24 answers in a run and makes no calls" in text
    assert "*1" in text
    assert "no number of repeats of the present 12 prompts is enough" in text


@pytest.mark.usefixtures("demo")
def test_differences_are_those_that_are_named(hengwen) -> None:
    done = hengwen("power", PLAN, "--score", "lyrics/lyric.total", "--difference", "5", "--json")
    (score,) = done.json["scores"]
    assert [item["difference"] for item in score["requirements"]] == [5.0]
    assert done.json["schema"] == 1
    assert (done.json["tests"], done.json["power"]) == (1, 0.8)
    assert done.json["baseline"]["checkpoint"] == "ckpt-4000"
    sizes = score["requirements"][0]["sizes"]
    assert [size["repeats"] for size in sizes] == [1, 2, 3, 5, 10]
    assert score["requirements"][0]["cheapest"] == sizes[0]


@pytest.mark.usefixtures("demo")
def test_quiet_prints_nothing(hengwen) -> None:
    done = hengwen("power", PLAN, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.usefixtures("demo")
def test_one_checkpoint_states_its_assumption(hengwen, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "hengwen.db") as store:
        store.execute("DELETE FROM run WHERE checkpoint != 'ckpt-4000'")
    out = " ".join(hengwen("power", PLAN, "--correlation", "0.5", "-v").out.split())
    assert "the true values of two checkpoints are assumed to correlate by 0.5" in out
    assert "a run of a second checkpoint replaces this assumption" in out


@pytest.mark.usefixtures("demo")
def test_scores_that_cannot_be_planned_say_why(hengwen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out = hengwen("power", PLAN).out
    assert "one value for a group of answers, none for each prompt" in out


@pytest.mark.usefixtures("demo")
def test_a_judge_of_the_command_line_is_paid_for(hengwen) -> None:
    judge = ("--judge", "openai/m", "--base-url", "http://127.0.0.1:9/v1")
    done = hengwen("power", PLAN, "--score", "lyrics/lyric.total", "--json", *judge)
    (score,) = done.json["scores"]
    assert (score["present"]["answers"], score["present"]["calls"], score["present"]["cost"]) == (
        24,
        24,
        None,
    )
