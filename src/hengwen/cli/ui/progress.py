"""Progress on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hengwen.cli.ui.messages import print_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what ``run_plan`` tells its progress to, or None where nobody looks."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield ProgressTicker()
        return
    with _bar() as bar:
        bars: dict[str, TaskID] = {}

        def tell(checkpoint: str, done: int, total: int) -> None:
            if checkpoint not in bars:
                bars[checkpoint] = bar.add_task(checkpoint, total=total)
            bar.update(bars[checkpoint], completed=done)

        yield tell


class ProgressTicker:
    """Says how far a run is, at most once in ``every`` seconds: for logs."""

    def __init__(self, every: float = 15.0) -> None:
        self._every = every
        self._last = time.monotonic()

    def __call__(self, checkpoint: str, done: int, total: int) -> None:
        """Say it, if it is time."""
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            print_info(f"{checkpoint}: {done} of {total} samples")


@contextmanager
def count_bar(what: str, *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield what is told how many are done where nobody knows how many there will be, or None."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with _bar() as bar:
        task = bar.add_task(what, total=None)
        yield lambda done: bar.update(task, completed=done)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
