"""Progress on stderr: a bar on a terminal, lines at intervals in a log."""

from __future__ import annotations

import io
import sys

import pytest

from hengwen.cli.ui import output
from hengwen.cli.ui.output import ProgressTicker, count_bar, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace stderr; a fixture cannot, because pytest sets stderr again before the test."""
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stderr


def test_a_log_gets_a_line_per_interval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter([0.0, 14.9, 15.0, 29.9, 30.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(seconds))  # type: ignore[attr-defined]
    ticker = ProgressTicker(interval=15.0)
    for done in range(1, 5):
        ticker("day-1", done, 4)
    assert capsys.readouterr().err == "day-1: 2 of 4 samples\nday-1: 4 of 4 samples\n"


def test_a_terminal_gets_a_bar_for_each_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with progress_bar(quiet=False) as update:
        assert update is not None
        update("day-1", 1, 3)
        update("day-1", 3, 3)
        update("day-2", 2, 5)
    for text in ("day-1", "3/3", "day-2", "2/5"):
        assert text in terminal.getvalue()


def test_the_first_bar_is_that_of_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with progress_bar(quiet=False, checkpoints=3) as update:
        assert update is not None
        update("day-1", 3, 3)
        update("day-2", 2, 5)
    text = terminal.getvalue()
    assert text.index("all") < text.index("day-1")
    assert "5/13" in text, "3 and 5 samples, and a checkpoint that may have 5 too"


def test_a_terminal_gets_a_count_where_the_total_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with count_bar("lines", quiet=False) as update:
        assert update is not None
        update(7)
    assert "lines" in terminal.getvalue()
    assert "7/?" in terminal.getvalue()


def test_quiet_shows_nothing_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with progress_bar(quiet=True) as update, count_bar("lines", quiet=True) as count:
        assert (update, count) == (None, None)
    assert terminal.getvalue() == ""
