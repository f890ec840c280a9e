"""``hengwen report [RUN…]``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import name_plan, open_existing_store, print_warning
from hengwen.cli.ui.output import Face
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from hengwen.records import Run
    from hengwen.store import Store

MAX_NAMES = 4
"""Maximum number of runs that a warning lists by name; further runs are only counted."""


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run ids, prefixes of them, or checkpoint names; default: each checkpoint's newest run."
        ),
    ] = None,
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
    answers: Annotated[
        str | None,
        typer.Option(
            "--answers",
            help="How much of each answer an HTML page holds: numbers (no text), excerpts or full; default: "
            "full for up to some hundred answers, else excerpts.",
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    *,
    face: Face,
) -> None:
    """Show stored runs, or write reports of them."""
    from hengwen.documents.blocks import check_size
    from hengwen.documents.run.document import report_document
    from hengwen.judges.calibration import read_calibrations
    from hengwen.store import store_files

    size = check_size(answers)
    face.check([*([calibration] if calibration else ()), *store_files(store)])
    calibrations = read_calibrations(calibration) if calibration else ()
    with open_existing_store(store) as opened:
        selected, warnings = _select_runs(opened, runs, plan)
        for warning in warnings:
            print_warning(warning)
        if plan is None and not runs and not face.is_silent:
            name_plan(opened, selected[-1].plan)
        document = report_document(
            opened, selected, warnings=warnings, calibrations=calibrations, answers=size
        )
        face.show(document, face.report_language(selected))


def _select_runs(store: Store, names: Sequence[str] | None, plan: str | None) -> tuple[list[Run], list[str]]:
    """Return the named runs, by default the newest of each checkpoint, and warnings about left-out runs."""
    from hengwen.results.comparability import same_prompts

    if not names:
        runs = store.latest(plan)
        if not runs:
            plan_text = f"of plan {plan!r} " if plan else ""
            raise ConfigError(f"no runs {plan_text}in {store.name}; see: hengwen run")
        others = store.left_out(plan)
        return runs, [_left_out_warning(runs, others)] if others else []
    runs = [store.find(name, plan) for name in names]
    plans = {run.plan for run in runs}
    if len(plans) > 1:
        raise ConfigError(f"a report shows one plan, these runs belong to {', '.join(sorted(plans))}")
    same, others = same_prompts(runs)
    if others:
        raise ConfigError(
            f"a report shows one plan, but runs of {runs[0].plan!r} differ in tasks or prompts: "
            f"{_names(same)}; and {_names(others)}; report them separately"
        )
    return runs, []


def _left_out_warning(taken: Sequence[Run], others: Sequence[Run]) -> str:
    return (
        f"runs named {taken[0].plan!r} differ in tasks or prompts; this report takes {_names(taken)} "
        f"and leaves out {_names(others)}; to report those, name them: hengwen report {others[0].id}"
    )


def _names(runs: Sequence[Run]) -> str:
    names = [f"{run.checkpoint} ({run.id})" for run in runs]
    rest = len(names) - MAX_NAMES
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:MAX_NAMES])} and {rest} more"
