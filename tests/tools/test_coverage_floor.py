"""``make coverage`` fails below the floors of lines and of branches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "coverage_floor.py"


@pytest.mark.parametrize(
    ("lines", "branches", "code"),
    [(950, 90, 0), (949, 90, 1), (950, 89, 1)],
    ids=["both", "lines", "branches"],
)
def test_each_floor_counts_alone(tmp_path: Path, lines: int, branches: int, code: int) -> None:
    totals = {
        "covered_lines": lines,
        "num_statements": 1000,
        "covered_branches": branches,
        "num_branches": 100,
    }
    (tmp_path / "coverage.json").write_text(json.dumps({"totals": totals}), "utf-8")
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "coverage.json"], check=False, capture_output=True, text=True
    )
    assert done.returncode == code
    assert done.stdout == (f"lines {lines / 10} % (at least 95), branches {branches:.1f} % (at least 90)\n")
