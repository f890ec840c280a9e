"""``hengwen report [RUN…]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(help="Run ids (prefixes do) or checkpoint names; default: the newest run of each."),
    ] = None,
    output: options.Outputs = None,
    plan: Annotated[
        str | None, typer.Option("--plan", help="Of which plan; default: the newest run's.")
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option("--calibration", help="Say how far the judges agree with people: of hengwen calibrate."),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show runs of the store again, or write reports of them."""
    from hengwen.cli.commands.runs import open_existing_store
    from hengwen.cli.ui.exit import check_outputs, show
    from hengwen.errors import ConfigError
    from hengwen.judges.calibration import read_calibrations
    from hengwen.reports.view.calibrations import with_calibrations
    from hengwen.reports.view.from_store import collect_view

    paths = check_outputs(output)
    calibrations = read_calibrations(calibration) if calibration else ()
    with open_existing_store(store) as opened:
        found = (
            sorted((opened.find(name) for name in runs), key=lambda run: (run.plan, run.order))
            if runs
            else []
        )
        found = found or opened.latest(plan)
        if not found:
            raise ConfigError(
                f"no runs {f'of plan {plan!r} ' if plan else ''}in {opened.name}; see: hengwen run"
            )
        plans = {run.plan for run in found}
        if len(plans) > 1:
            raise ConfigError(f"a report shows one plan, these runs are of {', '.join(sorted(plans))}")
        view = with_calibrations(collect_view(opened, found), calibrations)
        show(view, paths, as_json=as_json, quiet=quiet)
