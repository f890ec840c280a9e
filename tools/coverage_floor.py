"""Fail if line or branch coverage is too low; coverage.py itself has one limit for both together."""

from __future__ import annotations

import json
import sys
from pathlib import Path

MIN_LINES = 95.0
MIN_BRANCHES = 90.0


def main(report: Path) -> int:
    """Return 0 if a coverage report (JSON) reaches the minimum of lines and of branches, else 1."""
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    print(
        f"lines {lines:.1f} % (at least {MIN_LINES:g}), branches {branches:.1f} % (at least {MIN_BRANCHES:g})"
    )
    return 0 if lines >= MIN_LINES and branches >= MIN_BRANCHES else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
