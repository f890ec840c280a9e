"""Progress on stderr: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what ``run_plan`` tells its progress to, or None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bars: dict[str, object] = {}

        def tell(checkpoint: str, done: int, total: int) -> None:
            if checkpoint not in bars:
                bars[checkpoint] = bar.add_task(checkpoint, total=total)
            bar.update(bars[checkpoint], completed=done)  # type: ignore[arg-type]

        yield tell
