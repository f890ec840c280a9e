"""Show progress on stderr: a bar on a terminal, otherwise a line at intervals."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hengwen.cli.ui.messages import print_error, print_info
from hengwen.cli.ui.options import choose_language
from hengwen.text.language import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, Task, TaskID


@contextmanager
def progress_bar(*, quiet: bool, checkpoints: int = 1) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a progress callback for ``run_plan``, with a first bar for all checkpoints; None if ``quiet``."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield ProgressTicker()
        return
    with _bar(say(" answers/s").in_language(choose_language(None))) as bar:
        whole = (
            bar.add_task(say("all").in_language(choose_language(None)), total=None)
            if checkpoints > 1
            else None
        )
        bars: dict[str, TaskID] = {}
        samples: dict[str, tuple[int, int]] = {}

        def update(checkpoint: str, done: int, total: int) -> None:
            if checkpoint not in bars:
                bars[checkpoint] = bar.add_task(checkpoint, total=total)
            bar.update(bars[checkpoint], completed=done)
            if whole is not None:
                samples[checkpoint] = done, total
                totals = [number for _, number in samples.values()]
                expected = sum(totals) + max(totals) * max(0, checkpoints - len(totals))
                bar.update(whole, completed=sum(number for number, _ in samples.values()), total=expected)

        yield update


@contextmanager
def resumable_progress(
    hint: Callable[[], str], *, quiet: bool, checkpoints: int = 1
) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a progress callback, or None if ``quiet``; say how to resume a run that is interrupted."""
    try:
        with progress_bar(quiet=quiet, checkpoints=checkpoints) as progress:
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
    with _bar("/s") as bar:
        task = bar.add_task(description, total=None)
        yield lambda done: bar.update(task, completed=done)


def _bar(unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Speed over the last 30 seconds."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:.1f}{unit}", style="progress.data.speed")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
