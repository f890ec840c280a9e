"""Show progress on stderr: a bar on a terminal, otherwise a line at intervals."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hengwen.cli.ui.messages import print_error, print_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a progress callback for ``run_plan``, or None if ``quiet``."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield ProgressTicker()
        return
    with _bar() as bar:
        bars: dict[str, TaskID] = {}

        def update(checkpoint: str, done: int, total: int) -> None:
            if checkpoint not in bars:
                bars[checkpoint] = bar.add_task(checkpoint, total=total)
            bar.update(bars[checkpoint], completed=done)

        yield update


@contextmanager
def resumable_progress(
    hint: Callable[[], str], *, quiet: bool
) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a progress callback, or None if ``quiet``; say how to resume a run that is interrupted."""
    from hengwen._internal.gc_tuning import relaxed_gc

    try:
        with relaxed_gc(), progress_bar(quiet=quiet) as progress:
            yield progress
    except KeyboardInterrupt:
        print_error(f"interrupted; {hint()}")
        raise


class ProgressTicker:
    """Print the progress of a run as lines, for logs."""

    def __init__(self, interval: float = 15.0) -> None:
        self._interval = interval
        self._last = time.monotonic()

    def __call__(self, checkpoint: str, done: int, total: int) -> None:
        """Print the progress, unless the last line is too recent."""
        now = time.monotonic()
        if now - self._last >= self._interval:
            self._last = now
            print_info(f"{checkpoint}: {done} of {total} samples")


@contextmanager
def count_bar(description: str, *, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback for the number of items done; None if ``quiet`` or if stderr is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with _bar() as bar:
        task = bar.add_task(description, total=None)
        yield lambda done: bar.update(task, completed=done)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
