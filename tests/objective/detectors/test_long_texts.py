"""Long texts on which a pattern that backtracks would take minutes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rows import each_row

pytestmark = pytest.mark.slow

HANG_GUARD = 600
"""Seconds after which a search hangs; it takes a fraction of a second, and much more on a busy machine."""
PROGRAM = """
from hengwen.objective.detectors import find_breakage
from hengwen.objective.detectors import find_markup
from hengwen.objective.detectors import find_numbers

text = {text}
breakage = find_breakage(text)
print(breakage and breakage.en, len(find_markup(text)), len(find_numbers(text)))
"""


@each_row(
    ("text", "results"),
    [
        ('"a" * 50_000', "loops on 'a' 0 0"),
        ('"ab" * 20_000 + "c" * 9', "loops on 'ab' 0 0"),
        ('"".join(map(str, range(12_000)))', "None 0 1"),
    ],
    ids=["one letter", "two letters", "digits"],
)
def test_a_long_text_is_searched_without_backtracking(text: str, results: str) -> None:
    """A pattern holds the interpreter, so that only another process can end it."""
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(text=text)],
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_GUARD,
        check=True,
    )
    assert process.stdout.strip() == results


TRAPS = """
from hengwen.objective.detectors import find_markup
from hengwen.objective.detectors import answer_without_thinking
from hengwen.objective.duplicates.similarity import normalize_text
from hengwen.objective.text import normal_form
from hengwen.prompts.render import neutralize

N = 1_000_000
for search, text in (
    (find_markup, "\\n" * N),
    (find_markup, "\\r\\n" * N),
    (find_markup, (" " * 100 + "\\n") * (N // 100)),
    (find_markup, "- \\n" * N),
    (find_markup, "|" + " " * N + "x"),
    (normalize_text, "的说" * N + "好"),
    (normalize_text, "啊" * N + "好"),
    (neutralize, "<" * N),
    (neutralize, "<<<" + " " * N),
    (neutralize, "<<<" * N + " " * N),
    (normal_form, "e" + "\\u0301" * N + "\\u0316" * N),
    (answer_without_thinking, "</think>" + " \\t" * N + "x"),
):
    search(text)
"""


def test_a_million_blank_lines_particles_brackets_or_marks_are_searched_in_linear_time() -> None:
    """With the square of their number a search would take an hour."""
    subprocess.run([sys.executable, "-c", TRAPS], timeout=HANG_GUARD, check=True)
