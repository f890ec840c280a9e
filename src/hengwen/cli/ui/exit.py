"""How ``run``, ``demo`` and ``report`` end: the view is shown, reports are written, the exit code chosen."""

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
    """Return the paths to write; a format that nobody knows is an error before anything is paid for."""
    from hengwen.reports.render.write import format_of

    paths = list(outputs or ())
    for path in paths:
        format_of(path)
    return paths


def show(view: View, outputs: Sequence[Path], *, as_json: bool, quiet: bool) -> None:
    """Print the view (a table, or JSON), and write the reports."""
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
    """Say what failed, and return 1 where a scorer or judge gave no score at all."""
    for warning in result.warnings:
        print_warning(warning)
    failed = sum(result.failures.values())
    if failed:
        kinds = ", ".join(f"{count} {status}" for status, count in sorted(result.failures.items()))
        print_warning(f"{failed} outcomes failed ({kinds}); they are in no mean")
    if result.out_of_budget:
        print_error(
            f"the budget is reached; {result.store} keeps what was weighed, a higher one goes on from there"
        )
        return 5
    if result.unscored:
        names = ", ".join(result.unscored)
        print_error(f"not one score of {names}; what was scored is kept in {result.store}")
        return 1
    return 1 if strict and failed else 0
