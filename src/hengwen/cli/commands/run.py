"""``hengwen run PLAN``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_or_create_store, print_warning
from hengwen.cli.ui.options import Calls
from hengwen.cli.ui.output import Face, exit_code
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from hengwen.plans.plan import Plan
    from hengwen.runs.run_plan import RunResult
    from hengwen.store.store import Store

PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a YAML file.")]


def run(
    plan: PlanPath,
    workers: options.Workers = None,
    strict: options.Strict = False,
    engine: options.Engine = "local",
    *,
    calls: Calls,
    face: Face,
) -> None:
    """Evaluate the checkpoints of a plan; the same command resumes an interrupted run."""
    evaluate_plan(plan, calls, face, strict=strict, workers=workers, engine=engine)


def evaluate_plan(
    plan: Path,
    calls: Calls,
    face: Face,
    *,
    strict: bool = False,
    **others: Any,
) -> None:
    """Evaluate a plan, or estimate the cost; show the result, and exit. ``others`` are options of the run."""
    from hengwen.cli.ui.output import resumable_progress
    from hengwen.documents.dry_run import dry_run_document
    from hengwen.plans.overrides import input_files
    from hengwen.runs.run_plan import estimate_plan, run_plan
    from hengwen.store import store_files

    run_options = calls.run_options(**others)
    loaded = calls.load(plan)
    face.check([plan, *input_files(loaded), *store_files(calls.store)])
    for spec in () if calls.dry_run else loaded.log:
        from hengwen.integrations.loggers import tool_of

        tool_of(spec)  # a tool that is not installed is an error before any call
    judging: dict[str, Any] = {"judge": calls.judge, "base_url": calls.base_url, "trust": True}
    with open_or_create_store(calls.store) as opened:
        if calls.dry_run:
            estimates = estimate_plan(loaded, store=opened, options=run_options, **judging)
            face.show(dry_run_document(estimates), face.language(loaded.language))
            raise typer.Exit

        def hint() -> str:
            return f"the results are in {opened.name}, the same command resumes the run"

        with resumable_progress(hint, quiet=face.is_silent, checkpoints=len(loaded.checkpoints)) as progress:
            run_options = replace(run_options, progress=progress)
            result = run_plan(loaded, store=opened, options=run_options, **judging)
        _log_results(loaded, result, opened)
        if face.output or face.as_json or not face.quiet:
            from hengwen.documents.run.document import report_document

            document = report_document(opened, result.runs, warnings=result.warnings)
            try:
                face.show(document, face.report_language(result.runs))
            except ConfigError as error:
                raise ConfigError(
                    f"{error}; the results are in {opened.name}: hengwen report -o FILE"
                ) from None
    face.show_bill(result.bill, face.language(loaded.language))
    raise typer.Exit(exit_code(result, strict=strict))


def _log_results(plan: Plan, result: RunResult, store: Store) -> None:
    """Log the scores to the tools that the plan names; an error of a tool loses no result."""
    finished = [run for run in result.runs if run.status == "finished"]
    for spec in plan.log if finished else ():
        from hengwen.integrations.loggers import log_run

        try:
            log_run(finished, spec, store=store)
        except Exception as error:
            print_warning(f"not logged to {spec.tool}: {error}; the results are in {store.name}")
