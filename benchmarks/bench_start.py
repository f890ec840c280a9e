"""Measure how long the program takes to start, compared with Python that does nothing.

    .venv/bin/python benchmarks/bench_start.py [--rounds 9]

Target: ``--help`` takes at most 0.25 s more than three times ``python -c pass``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.environment import error_line
from harness.figures import HENGWEN, Figure, Problem, print_entries, script_parser
from harness.processes import run_process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.figures import Entry

COMMANDS = {
    "python -c pass": ("python", "-c", "pass"),
    "hengwen --help": (HENGWEN, "-m", "hengwen", "--help"),
    "import hengwen": (HENGWEN, "-c", "import hengwen"),
    "import openai": ("openai", "-c", "import openai"),
    "import openevals": ("openevals", "-c", "import openevals.llm"),
    "import autoevals": ("autoevals", "-c", "import autoevals"),
    "import inspect_ai": ("inspect-ai", "-c", "import inspect_ai"),
    "import deepeval": ("deepeval", "-c", "import deepeval"),
}
BASELINES = 3
"""``--help`` may take 0.25 s more than this multiple of the time of ``python -c pass``."""


def figures(rounds: int) -> Iterator[Entry]:
    """Measure each program; the first round only fills the caches of files."""
    for turn in range(rounds + 1):
        seconds = {}
        for case, (system, *arguments) in COMMANDS.items():
            try:
                usage = run_process([sys.executable, *arguments], DEEPEVAL_TELEMETRY_OPT_OUT="1")
            except SystemExit as error:
                if turn == 0:
                    yield Problem(case=case, system=system, message=error_line(str(error)))
                continue
            seconds[case] = usage
            if turn:
                yield Figure(case=case, system=system, value=usage.wall, unit="s")
                yield Figure(case=case, system=system, value=usage.cpu, unit="s of CPU")
                yield Figure(case=case, system=system, value=usage.megabytes, unit="MB")
        program, python = seconds.get("hengwen --help"), seconds["python -c pass"]
        if turn and program:
            case = f"hengwen --help minus {BASELINES} x python -c pass"
            yield Figure(case=case, value=program.wall - BASELINES * python.wall, unit="s", high=0.25)
            yield Figure(case=case, value=program.cpu - BASELINES * python.cpu, unit="s of CPU")


def main() -> None:
    """Print the figures."""
    options = script_parser(__doc__, rounds=9).parse_args()
    print_entries(figures(options.rounds), as_json=options.json)


if __name__ == "__main__":
    main()
