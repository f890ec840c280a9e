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
from pathlib import Path
from typing import Any

import pytest
import yaml

TABLE = Path(__file__).parent / "wrong_inputs"
KEYS = {"name", "run", "stderr", "code", "edit", "write", "env", "stdin", "before", "needs"}
MIN_ROWS = 120


def table() -> list[Any]:
    return [
        pytest.param(row, id=f"{path.stem}: {row['name']}")
        for path in sorted(TABLE.glob("*.yaml"))
        for row in yaml.safe_load(path.read_text("utf-8"))
    ]


ROWS = table()


def test_the_table_is_large_and_names_each_row_once() -> None:
    rows = [param.values[0] for param in ROWS]
    assert len(rows) >= MIN_ROWS
    assert all(row.keys() <= KEYS for row in rows)
    assert len({row["name"] for row in rows}) == len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_a_wrong_input_gets_its_line_and_exit_code(
    hengwen, plan: Path, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "needs" in row:
        pytest.importorskip(row["needs"])
    folder = plan.parent
    for name, (old, new) in row.get("edit", {}).items():
        text = (folder / name).read_text("utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), "utf-8")
    for name, text in row.get("write", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name, value in row.get("env", {}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(row.get("stdin", "").encode())))
    for command in row.get("before", ()):
        assert hengwen(*shlex.split(command)).code == 0
    done = hengwen(*shlex.split(row["run"]))
    lines = [line.replace(f"{folder}/", "").replace(str(folder), "FOLDER") for line in done.err.splitlines()]
    expected = row["stderr"].splitlines()
    assert lines == [_with_prefix(line) for line in expected]
    assert done.code == row.get("code", 2)


def _with_prefix(line: str) -> str:
    return line.removeprefix("info: ") if line.startswith("info: ") else f"hengwen: {line}"
