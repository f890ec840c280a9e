"""Files that would take all memory or time are errors with their name, long before.

A row of ``FILES`` is a case: the name of a file, its content, the reader, and a part of the error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from limited import outcome_of
from rows import each_row

from hengwen.importers.conversations import read_exchanges
from hengwen.importers.muchin import read_results
from hengwen.io.row_reader import read_rows
from hengwen.io.strict_yaml import load_yaml
from hengwen.judges import read_calibrations
from hengwen.objective.duplicates.training_set import read_answers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited as on Linux"),
]

MIB = 1 << 20


def _rows(path: Path) -> None:
    list(read_rows(path))


def _exchanges(path: Path) -> None:
    read_exchanges(path)


def _results(path: Path) -> None:
    list(read_results(path))


def _training(path: Path) -> None:
    read_answers([str(path)])


Case = tuple[str, Callable[[], str], Callable[[Path], object], str]
LISTS = "[" + "[]," * 4_000_000 + "[]]"
FILES: list[Case] = [
    ("a.jsonl", lambda: '{"id": "' + "x" * 150 * MIB + '"}', _rows, "1: longer than 16 MiB"),
    ("a.jsonl", lambda: f'{{"a": {LISTS}}}', _rows, "1: more than 500,000 lists and objects"),
    ("a.jsonl", lambda: "[" * 10 * MIB, _rows, "1: more than 500,000 lists and objects"),
    ("a.jsonl", lambda: '{"a": ' + "9" * 10 * MIB + "}", _rows, "1: an integer has too many digits"),
    ("a.csv", lambda: 'id\n"' + "a line of a cell\n" * 7 * MIB, _rows, "2: longer than 16 MiB for a row"),
    ("a.csv", lambda: "," * 15 * MIB, _rows, "1: more than 500,000 cells"),
    ("a.csv", lambda: 'id\n"' + '","in a cell\n' * 10 * MIB, _rows, "2: longer than 16 MiB for a row"),
    ("a.json", lambda: " " * 100 * MIB, _exchanges, "expected a JSON list of rows"),
    ("a.json", lambda: '[{"a": "' + "x" * 150 * MIB + '"}]', _exchanges, "longer than 16 MiB"),
    ("a.json", lambda: f'[{{"a": {LISTS}}}]', _exchanges, "more than 500,000 lists and objects"),
    ("a.json", lambda: LISTS, _exchanges, "1: expected an object, got list"),
    ("a.jsonl", lambda: f'{{"messages": {LISTS}}}', _exchanges, "1: more than 500,000 lists and objects"),
    ("pid_1_all.json", lambda: LISTS, _results, "more than 500,000 lists and objects"),
    ("pid_1_all.json", lambda: "[" * 400_000, _results, "nested too deeply"),
    ("a.txt", lambda: "x\n" * 50 * MIB, _training, "larger than 64 MiB"),
    ("a.json", lambda: LISTS, _training, "more than 500,000 lists and objects"),
    ("a.json", lambda: "[" + "1.5," * 8 * MIB + "1]", _training, "more than 2,000,000 values"),
    ("c.json", lambda: LISTS, read_calibrations, "more than 500,000 lists and objects"),
    ("c.json", lambda: "[" * 100_000, read_calibrations, "nested too deeply"),
    ("c.json", lambda: json.dumps({"calibrations": []}), read_calibrations, "this program reads"),
    ("p.yaml", lambda: "# x\n" * 20 * MIB, load_yaml, "larger than 16 MiB"),
    ("p.yaml", lambda: "[" + "a," * 7 * MIB + "]", load_yaml, ":1: not valid YAML: more than 50,000 values"),
    ("p.yaml", lambda: "- a\n" * 4 * MIB, load_yaml, "not valid YAML: more than 50,000 values"),
    ("p.yaml", lambda: "[" + "{}," * 4 * MIB + "]", load_yaml, "not valid YAML: more than 50,000 values"),
    ("p.yaml", lambda: "---\n" * 4 * MIB, load_yaml, "not valid YAML: "),
    ("p.yaml", lambda: "? " * 8 * MIB, load_yaml, ":1: not valid YAML: nested more than 64 levels"),
    ("p.yaml", lambda: "&a " * 4 * MIB, load_yaml, ":1: not valid YAML: "),
    ("p.yaml", lambda: "!" * 15 * MIB, load_yaml, ":1: not valid YAML: "),
    ("p.yaml", lambda: "%TAG ! " + "x" * 15 * MIB, load_yaml, ":2: not valid YAML: "),
]
YAML_SECONDS = 2
"""Seconds of processor time for a file of YAML, on any machine; benchmarks measure less than one."""


@each_row("name, content, read, message", FILES)
def test_a_hostile_file_is_an_error_that_names_it(
    tmp_path: Path, name: str, content: Callable[[], str], read: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / name
    path.write_text(content(), "utf-8")
    outcome = outcome_of(lambda: read(path), *([YAML_SECONDS] if name == "p.yaml" else []))
    assert outcome.startswith(("DataError: ", "ConfigError: ")), outcome
    assert str(path) in outcome
    assert message in outcome
    assert len(outcome) < 1_000
