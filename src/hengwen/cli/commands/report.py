"""``hengwen report [RUN…]``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Run
    from hengwen.store import Store


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run ids, prefixes of them, or checkpoint names; default: each checkpoint's newest run."
        ),
    ] = None,
    output: options.Outputs = None,
    plan: Annotated[
        str | None,
        typer.Option("--plan", help="Name of the plan to report; default: the plan of the newest run."),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            "--calibration", help="File written by hengwen calibrate; adds the judges' agreement with humans."
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show stored runs, or write reports of them."""
    from hengwen.cli.ui.existing_store import open_existing_store
    from hengwen.cli.ui.exit import check_outputs, show_view
    from hengwen.judges.calibration import read_calibrations
    from hengwen.reports.view.calibrations import with_calibrations
    from hengwen.reports.view.from_store import collect_view

    paths = check_outputs(output)
    calibrations = read_calibrations(calibration) if calibration else ()
    with open_existing_store(store) as opened:
        view = with_calibrations(collect_view(opened, _select_runs(opened, runs, plan)), calibrations)
        show_view(view, paths, as_json=as_json, quiet=quiet)


def _select_runs(store: Store, names: Sequence[str] | None, plan: str | None) -> list[Run]:
    """The named runs in training order, or the newest run of each checkpoint of a plan."""
    from hengwen.errors import ConfigError

    if not names:
        runs = store.latest(plan)
        if not runs:
            plan_text = f"of plan {plan!r} " if plan else ""
            raise ConfigError(f"no runs {plan_text}in {store.name}; see: hengwen run")
        return runs
    runs = [store.find(name) for name in names]
    plans = {run.plan for run in runs}
    if len(plans) > 1:
        raise ConfigError(f"a report shows one plan, these runs belong to {', '.join(sorted(plans))}")
    return runs
