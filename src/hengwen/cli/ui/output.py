"""The end of a command: show its result as files, as JSON or in the terminal, and choose the exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import print_error, print_info, print_warning
from hengwen.cli.ui.options import choose_language
from hengwen.text.language import Language, localized, say

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

    from hengwen.documents.blocks import Document
    from hengwen.engine.metered_backend import Bill
    from hengwen.records import Run
    from hengwen.runs.run_plan import RunResult


@dataclass(frozen=True, slots=True)
class Face:
    """Options that say how a command shows its result."""

    output: options.Outputs = None
    lang: options.Lang = None
    as_json: options.Json = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False

    @property
    def is_silent(self) -> bool:
        """Whether the terminal shows no table and no progress."""
        return self.quiet or self.as_json

    def check(self, inputs: Sequence[Path] = ()) -> None:
        """Raise an error for a wrong ``--lang``, or a path of ``--output`` that cannot be written."""
        from hengwen.documents.render.write import check_format
        from hengwen.io.output_files import check_output

        choose_language(self.lang)
        for path in self.output or ():
            check_format(path)
            check_output(path, inputs)

    def language(self, plan: object = None) -> Language:
        """Return the language of ``--lang``, else that of a plan, else that of the locale."""
        return choose_language(self.lang, plan)

    def report_language(self, runs: Sequence[Run]) -> Language:
        """Return the language of a report: from the option, else the newest run's plan, else the locale."""
        return self.language(runs[-1].facts.get("language") if runs else None)

    def show(self, document: Document, language: Language) -> None:
        """Write a document to its files, then print its record as JSON, or the document itself."""
        from hengwen.documents.render.write import to_json, write_document

        for path in self.output or ():
            write_document(document, path, language)
            print_info(f"report: {path}")
        if self.as_json:
            typer.echo(to_json(document), nl=False)
        elif not self.quiet:
            from rich.console import Console

            from hengwen.documents.render.terminal import to_terminal

            to_terminal(document, Console(highlight=False), language, verbose=self.verbose)

    def show_bill(self, bill: Bill, language: Language) -> None:
        """Print what the calls of a command have used and cost."""
        from hengwen.documents.dry_run import bill_text

        if not self.is_silent:
            print_info(bill_text(bill).in_language(language))


def exit_code(result: RunResult, *, strict: bool, store_is_kept: bool = True) -> int:
    """Print warnings and failures, and return the exit code."""
    from hengwen.text.numbers import failure_texts, plural

    for warning in result.warnings:
        print_warning(warning)
    failed = sum(result.failures.values())
    if failed:
        reasons = ", ".join(map(localized, failure_texts(result.failures, result.first_messages)))
        print_warning(f"{plural(failed, 'failure')}: {reasons}; means do not include them")
    if result.out_of_budget:
        print_error(
            f"budget reached; the results so far are in {result.store}, a higher budget resumes the run"
        )
        return 5
    if result.unreachable:
        print_error(
            f"gave up {', '.join(result.unreachable)}; the results so far are in {result.store}, "
            "the same command resumes the run"
        )
        return 1
    if result.unscored:
        unscored = f"no scores for {', '.join(result.unscored)}"
        print_error(f"{unscored}; all other scores are in {result.store}" if store_is_kept else unscored)
        return 1
    return 1 if strict and failed else 0


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
