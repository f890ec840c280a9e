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
    lines = hengwen("power", PLAN, "--score", "lyrics/lyric.total", *rest).out.splitlines()
    assert lines[1] == "A run of demo detects 9.5 in lyric form."
    assert [line.split() for line in lines[-3:]] == [
        ["Lyric", "form", "9.5", "12", "12"],
        ["Lyric", "form", "4.8", "42", "12"],
        ["Lyric", "form", "2.4", "161", "12"],
    ]


@pytest.mark.usefixtures("demo")
def test_differences_are_those_that_are_named(hengwen) -> None:
    done = hengwen("power", PLAN, "--score", "lyrics/lyric.total", "--difference", "5", "--json")
    (score,) = done.json["scores"]
    assert [item["difference"] for item in score["needed"]] == [5.0]
    assert (done.json["schema"], done.json["tests"]) == (1, 1)
    assert done.json["baseline"]["checkpoint"] == "ckpt-4000"


@pytest.mark.usefixtures("demo")
def test_quiet_prints_nothing(hengwen) -> None:
    done = hengwen("power", PLAN, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.usefixtures("demo")
def test_one_checkpoint_is_not_enough(hengwen, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "hengwen.db") as store:
        store.execute("DELETE FROM run WHERE checkpoint != 'ckpt-4000'")
    done = hengwen("power", PLAN)
    assert (done.code, "power needs runs of two checkpoints on the same prompts" in done.err) == (2, True)


@pytest.mark.usefixtures("demo")
def test_scores_that_cannot_be_planned_say_why(hengwen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out = hengwen("power", PLAN).out
    assert "one value for a group of answers, none for each prompt" in out
