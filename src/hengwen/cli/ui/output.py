"""The end of a command: show its result as files, as JSON or in the terminal, and choose the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.messages import print_error, print_info, print_warning
from hengwen.cli.ui.options import choose_language
from hengwen.text.language import localized

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.documents.blocks import Document
    from hengwen.engine.budget import Bill
    from hengwen.records import Run
    from hengwen.runs.run_plan import RunResult
    from hengwen.text.language import Language


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
