"""Wrong inputs: each gets its exact lines on stderr and its exit code. The table: ``wrong_inputs/*.yaml``.

Each file of the table is a list of rows about one subject, each a mapping:

- ``name``: what is wrong, unique in the table.
- ``run``: arguments of ``hengwen``, as in a shell.
- ``stderr``: all that is written to stderr, without the prefix ``hengwen: `` of each line; ``FOLDER`` stands
  for the folder of the test, and a line that starts with ``info: `` has no prefix.
- ``code``: the exit code; default 2.
- ``edit``: by file, [old text, new text]: a change of the small plan ``plan.yaml`` and the files that it
  names (see ``tests/conftest.py``), which are valid without it.
- ``write``: by file, text of a further file, or of another one of the same name.
- ``env``: further environment variables.
- ``stdin``: text of standard input.
- ``before``: commands that run first and must succeed.
- ``needs``: an optional package; without it the row is skipped.
"""

from __future__ import annotations

import io
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

TABLE = Path(__file__).parent / "wrong_inputs"
KEYS = {"name", "run", "stderr", "code", "edit", "write", "env", "stdin", "before", "needs"}
MIN_ROWS = 120


ROWS: dict[str, list[Any]] = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(TABLE.glob("*.yaml"))
}


def test_the_table_is_large_and_names_each_row_once() -> None:
    rows = [row for many in ROWS.values() for row in many]
    assert len(rows) >= MIN_ROWS
    assert all(row.keys() <= KEYS for row in rows)
    assert len({row["name"] for row in rows}) == len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("subject", ROWS)
def test_a_wrong_input_gets_its_line_and_exit_code(
    hengwen, write_plan, tmp_path: Path, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    differences = []
    for number, row in enumerate(ROWS[subject]):
        if "needs" in row and find_spec(row["needs"]) is None:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        write_plan(folder)
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            done = outcome(hengwen, row, folder, patch)
        lines = [
            line.replace(f"{folder}/", "").replace(str(folder), "FOLDER") for line in done.err.splitlines()
        ]
        expected = [_with_prefix(line) for line in row["stderr"].splitlines()]
        if (lines, done.code) != (expected, row.get("code", 2)):
            differences.append((row["name"], lines, done.code))
    assert differences == []


def outcome(hengwen: Any, row: dict[str, Any], folder: Path, patch: pytest.MonkeyPatch) -> Any:
    """Return how the command of a row ended."""
    for name, (old, new) in row.get("edit", {}).items():
        text = (folder / name).read_text("utf-8")
        assert old in text, row["name"]
        (folder / name).write_text(text.replace(old, new, 1), "utf-8")
    for name, text in row.get("write", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name, value in row.get("env", {}).items():
        patch.setenv(name, value)
    patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(row.get("stdin", "").encode())))
    for command in row.get("before", ()):
        assert hengwen(*shlex.split(command)).code == 0, row["name"]
    return hengwen(*shlex.split(row["run"]))


def _with_prefix(line: str) -> str:
    return line.removeprefix("info: ") if line.startswith("info: ") else f"hengwen: {line}"
