"""Helps: their order, their length, their paragraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_help_has_whole_paragraphs_and_arguments_in_capitals(hengwen: Callable) -> None:
    text = hengwen("doctor", "--help").out
    assert "Usage: hengwen doctor [OPTIONS] [PLAN]" in text
    lines = [line.strip() for line in text.splitlines()]
    start = lines.index(next(line for line in lines if line.startswith("The test checks")))
    end = lines.index("", start)
    assert all(len(line) > 60 for line in lines[start : end - 1])
    assert "Usage: hengwen init [OPTIONS] [DIR] [FILE.yaml]" in hengwen("init", "--help").out
    assert "Usage: hengwen import scores [OPTIONS] {FILE}..." in hengwen("import", "scores", "--help").out


def test_the_help_has_the_commands_that_everybody_needs_first(hengwen: Callable) -> None:
    lines = [line.split()[1] for line in hengwen("--help").out.splitlines() if line.startswith("│ ")]
    assert lines[lines.index("demo") :][:6] == ["demo", "init", "run", "report", "view", "compare"]


def test_the_help_of_run_fits_one_screen(hengwen: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert len(hengwen("run", "--help").out.splitlines()) <= 45
