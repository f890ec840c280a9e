"""Measure how long the program takes to start, compared with Python that does nothing.

    .venv/bin/python -m pytest benchmarks/bench_start.py --benchmark-only

The aim for ``--help``: at most 3 times ``python -c pass`` plus 0.25 s.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import hengwen": ("-c", "import hengwen"),
    "hengwen --help": ("-m", "hengwen", "--help"),
    "import openai (peer)": ("-c", "import openai"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_start(benchmark: BenchmarkFixture, name: str) -> None:
    def start() -> None:
        subprocess.run([sys.executable, *COMMANDS[name]], capture_output=True, check=True)

    benchmark.pedantic(start, rounds=9, warmup_rounds=1)
