"""The end of commands that evaluate or report: show results, write reports, choose the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_error, print_info, print_warning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.reports import View
    from hengwen.runs.run_plan import RunResult


def check_outputs(outputs: Sequence[Path] | None, inputs: Sequence[Path] = ()) -> list[Path]:
    """Return the paths of the reports; raise an error unless a report can be written to each path."""
    from hengwen.io.output_target import check_output
    from hengwen.reports.render.write import format_of

    paths = list(outputs or ())
    for path in paths:
        format_of(path)
        check_output(path, inputs)
    return paths


def show_view(view: View, outputs: Sequence[Path], *, as_json: bool, quiet: bool) -> None:
    """Write the reports, then print the view (the data of a report) as a table or as JSON."""
    from hengwen.reports.render.write import render, write_report

    for path in outputs:
        write_report(view, path)
        print_info(f"report: {path}")
    if as_json:
        typer.echo(render(view, "json"), nl=False)
    elif not quiet:
        from hengwen.cli.ui.tables import print_view

        print_view(view)


def exit_code(result: RunResult, *, strict: bool, store_is_kept: bool = True) -> int:
    """Print warnings and failures, and return the exit code."""
    from hengwen.text.numbers import failure_text

    for warning in result.warnings:
        print_warning(warning)
    failed = sum(result.failures.values())
    if failed:
        reasons = failure_text(result.failures, result.first_messages)
        print_warning(f"{failed} outcomes failed: {reasons}; means do not include them")
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
        rest = f"; all other scores are in {result.store}" if store_is_kept else ""
        print_error(f"no scores for {', '.join(result.unscored)}{rest}")
        return 1
    if strict and failed:
        return 1
    return 4 if result.pending_calls and not result.exported else 0
