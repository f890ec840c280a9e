"""Measure how long the pages of ``hengwen view`` take, and how much memory its process holds.

    .venv/bin/python benchmarks/bench_view.py [--checkpoints 100] [--prompts 60 1000] [--steps 20]

The stores are those of ``monitoring_store.py``: 60 prompts with one answer, and 1,000 prompts with two, which
is a million scores. Each page is asked for once cold, then ``--steps`` times; the checkpoint of the grid is
another one each time, as with its slider. Figures are milliseconds from the request to the whole page,
without what the page adds later. Targets: a step of the slider 100 ms with 60 prompts; the median of a page
200 ms, the first time 1 s; 250 MB. The decision is computed in another process, whose time and memory stand
at the end, without a target.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import httpx2

from harness.figures import Figure, print_entries, script_parser
from monitoring_store import write_store

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = {"first page": "/", "grid": "/grid?n={0}", "comparison": "/compare?b=ckpt-{0:03}"}
SMALL = 60
"""Prompts of the store for the step of the slider."""
START_SECONDS = 60


def page_figures(store: Path, prompts: int, checkpoints: int, steps: int) -> Iterator[Figure]:
    """Measure the pages of a store."""
    command = [sys.executable, "-m", "hengwen", "view", str(store), "--no-open", "--lang", "en"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = httpx2.URL(process.stdout.readline().strip())
        try:
            with httpx2.Client(base_url=url.copy_with(path="/", query=None), timeout=START_SECONDS) as client:
                _begin(client, url)
                for name, path in PAGES.items():
                    times = []
                    for step in range(steps + 1):
                        start = time.perf_counter()
                        client.get(path.format(checkpoints - 1 - step)).raise_for_status()
                        times.append(1000 * (time.perf_counter() - start))
                    case = f"{prompts:,} prompts, {checkpoints} checkpoints: {name}"
                    high = 100 if name == "grid" and prompts == SMALL else 200
                    yield Figure(case=f"{case}, first time", value=times[0], unit="ms", high=1000)
                    yield Figure(case=f"{case}, then", value=median(times[1:]), unit="ms", high=high)
                    yield Figure(case=f"{case}, slowest then", value=max(times[1:]), unit="ms", high=1000)
                seconds, deciding = _decide(client, process.pid)
                for name, value, unit, limit in (
                    ("memory", _peak(process.pid), "MB", 250),
                    ("decision, in its process", seconds, "s", None),
                    ("memory of that process", deciding, "MB", None),
                ):
                    case = f"{prompts:,} prompts, {checkpoints} checkpoints: {name}"
                    yield Figure(case=case, value=value, unit=unit, high=limit)
        finally:
            process.terminate()


def _begin(client: httpx2.Client, url: httpx2.URL) -> None:
    """Buy the cookie as soon as the server answers."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            client.get("/", params=dict(url.params)).read()
            return
        except httpx2.ConnectError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _decide(client: httpx2.Client, server: int) -> tuple[float, float]:
    """Wait for the decision; return the seconds since the last page, and the memory of its process."""
    start, peak = time.monotonic(), 0.0
    while "Refresh" in client.get("/").headers:
        for task in Path(f"/proc/{server}/task").iterdir():
            with suppress(OSError, StopIteration):  # thread or process has just ended
                for child in (task / "children").read_text("utf-8").split():
                    peak = max(peak, _peak(int(child)))
        time.sleep(0.2)
    return time.monotonic() - start, peak


def _peak(pid: int) -> float:
    """Return the largest memory that a process held, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def figures(checkpoints: int, sizes: list[int], steps: int) -> Iterator[Figure]:
    """Measure stores with numbers of prompts."""
    with tempfile.TemporaryDirectory() as name:
        for prompts in sizes:
            store = Path(name) / f"{prompts}.db"
            write_store(store, checkpoints, prompts, 1 if prompts <= SMALL else 2, 5)
            yield from page_figures(store, prompts, checkpoints, steps)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__)
    parser.add_argument("--checkpoints", type=int, default=100)
    parser.add_argument("--prompts", type=int, nargs="+", default=[SMALL, 1000])
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    print_entries(figures(options.checkpoints, options.prompts, options.steps), as_json=options.json)


if __name__ == "__main__":
    main()
