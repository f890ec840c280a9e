"""How commands that evaluate or report end: show the view, write reports, choose the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_error, print_info, print_warning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.reports import View
    from hengwen.runs.run_plan import RunResult


def check_outputs(outputs: Sequence[Path] | None) -> list[Path]:
    """Return the report paths; an unknown format is an error before any call is made."""
    from hengwen.reports.render.write import format_of

    paths = list(outputs or ())
    for path in paths:
        format_of(path)
    return paths


def show_view(view: View, outputs: Sequence[Path], *, as_json: bool, quiet: bool) -> None:
    """Print the view as a table or as JSON, and write the reports."""
    from hengwen.reports.render.write import render, write_report

    if as_json:
        typer.echo(render(view, "json"), nl=False)
    elif not quiet:
        from hengwen.cli.ui.tables import print_view

        print_view(view)
    for path in outputs:
        write_report(view, path)
        print_info(f"report: {path}")


def exit_code(result: RunResult, *, strict: bool) -> int:
    """Print warnings and failures, and return the exit code.

    Returns:
        5 if the budget is reached, 1 if a scorer or judge gave no score at all, or if an outcome failed and
        ``strict`` is set, otherwise 0.
    """
    from hengwen.reports.text.sanitize import one_line
    from hengwen.reports.text.wording import failure_text
    from hengwen.reports.view.cells import MAX_REASON

    for warning in result.warnings:
        print_warning(warning)
    failed = sum(result.failures.values())
    if failed:
        reasons = failure_text(
            result.failures,
            {status: one_line(message, MAX_REASON) for status, message in result.first_messages.items()},
        )
        print_warning(f"{failed} outcomes failed: {reasons}; means do not include them")
    if result.out_of_budget:
        print_error(
            f"budget reached; the results so far are in {result.store}, a higher budget resumes the run"
        )
        return 5
    if result.unscored:
        print_error(f"no scores for {', '.join(result.unscored)}; all other scores are in {result.store}")
        return 1
    return 1 if strict and failed else 0
