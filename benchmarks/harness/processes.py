"""Programs that benchmarks run: their cost, and the server that stands for a model."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STUB = Path(__file__).resolve().parents[1] / "judge_stub.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Cost of a program."""

    wall: float
    """Seconds until the program ended."""
    cpu: float
    """Seconds of CPU."""
    megabytes: float
    """Largest memory (resident set size)."""


def run_process(command: Sequence[str], **environment: str) -> Usage:
    """Run a program without its output, and return its cost.

    Raises:
        SystemExit: If the program fails; the message is its last error line.
    """
    start = time.perf_counter()
    with subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(errors or f"{command[0]} ended with {process.returncode}")
    return Usage(wall=wall, cpu=usage.ru_utime + usage.ru_stime, megabytes=usage.ru_maxrss / 1024)


def process_usage() -> tuple[float, float]:
    """Return CPU seconds and peak megabytes of this process."""
    numbers = resource.getrusage(resource.RUSAGE_SELF)
    return numbers.ru_utime + numbers.ru_stime, numbers.ru_maxrss / 1024


@dataclass
class StubServer:
    """A running ``judge_stub.py``."""

    url: str
    """Base URL of the server's OpenAI-compatible API."""
    counts: dict[int, int] = field(default_factory=dict)
    """Number of replies by HTTP status; filled when the server has stopped."""


@contextmanager
def stub(latency: float, *options: Any) -> Iterator[StubServer]:
    """Start the server, yield it, and stop it at the end.

    Args:
        latency: Seconds until the server answers a call.
        *options: Options of ``judge_stub.py``.
    """
    command = [sys.executable, str(STUB), str(latency), *map(str, options)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        server = StubServer(f"http://127.0.0.1:{process.stdout.readline().strip()}/v1")
        yield server
        process.stdin.close()
        counts = json.loads(process.stdout.read())
        server.counts.update({int(status): number for status, number in counts.items()})
