"""``hengwen run PLAN``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hengwen.cli.ui import language, options
from hengwen.cli.ui.messages import print_waiting, print_warning

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.cli.follow_up import FollowUp
    from hengwen.plans.plan import Plan
    from hengwen.runs.options import RunOptions
    from hengwen.runs.run_plan import RunResult
    from hengwen.store.store import Store

    Evaluate = Callable[[Plan, RunOptions], RunResult]

PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a YAML file.")]


def run(
    context: typer.Context,
    plan: PlanPath,
    output: options.Outputs = None,
    store: options.Store = options.DEFAULT_STORE,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    concurrency: options.Concurrency = options.DEFAULT_CONCURRENCY,
    workers: options.Workers = None,
    limit: options.Limit = None,
    budget: options.Budget = None,
    price: options.Price = None,
    time_limit: options.TimeLimit = None,
    dry_run: options.DryRun = False,
    fresh: options.Fresh = False,
    wait: options.Wait = False,
    share: options.Share = False,
    strict: options.Strict = False,
    lang: language.Lang = None,
    trust: options.Trust = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option("--engine", help="Run in this process, or by workers of a Ray cluster."),
    ] = "local",
    ray_address: options.RayAddress = None,
) -> None:
    """Evaluate the checkpoints of a plan; the same command resumes an interrupted run."""
    from hengwen.runs.options import RunOptions

    evaluate: Evaluate | None = None
    if engine == "ray":
        _check_ray(store, fresh=fresh, budget=budget, only_this_machine=ray_address is None)
        evaluate = partial(_run_on_ray, store, judge, base_url, workers, ray_address)
    else:
        options.refuse(context, {"ray_address": "needs --engine ray"})
    run_options = RunOptions(
        concurrency=concurrency,
        workers=None if engine == "ray" else workers,
        limit=limit,
        fresh=fresh,
        budget=budget,
        price=options.parse_price(price),
        time_limit=time_limit,
        wait=print_waiting if wait else False,
        share=share,
    )
    evaluate_plan(
        plan,
        store,
        run_options,
        evaluate=evaluate,
        output=output,
        judge=judge,
        base_url=base_url,
        dry_run=dry_run,
        strict=strict,
        lang=lang,
        trust=trust,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


def evaluate_plan(
    plan: Path,
    store: str,
    run_options: RunOptions,
    *,
    evaluate: Evaluate | None = None,
    follow_up: FollowUp | None = None,
    output: list[Path] | None = None,
    judge: str | None = None,
    base_url: str | None = None,
    dry_run: bool = False,
    strict: bool = False,
    lang: str | None = None,
    trust: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Evaluate a plan, or estimate the cost; show the result, and exit."""
    from hengwen.cli.ui.existing_store import open_or_create_store
    from hengwen.cli.ui.output import check_outputs, exit_code, show, show_bill
    from hengwen.cli.ui.progress import resumable_progress
    from hengwen.cli.ui.trust import load_trusted
    from hengwen.documents.dry_run import dry_run_document
    from hengwen.errors import ConfigError
    from hengwen.plans.input_files import input_files
    from hengwen.runs.estimate_plan import estimate_plan
    from hengwen.runs.run_plan import run_plan
    from hengwen.store import store_files

    language.choose_language(lang)  # so that a wrong --lang is an error before any call
    loaded = load_trusted(plan, trust=trust, judge=judge, base_url=base_url)
    paths = check_outputs(output, [plan, *input_files(loaded), *store_files(store)])
    for spec in () if dry_run else loaded.log:
        from hengwen.integrations.loggers import tool_of

        tool_of(spec)  # a tool that is not installed is an error before any call
    with open_or_create_store(store) as opened:
        if dry_run:
            estimates = estimate_plan(
                loaded,
                store=opened,
                judge=judge,
                base_url=base_url,
                options=run_options,
                trust=True,
            )
            show(
                dry_run_document(estimates),
                paths,
                language=language.choose_language(lang, loaded.language),
                as_json=as_json,
                quiet=quiet,
            )
            raise typer.Exit
        if follow_up is not None:
            follow_up.open(opened, loaded.name)

        def hint() -> str:
            resume = follow_up.resume_hint() if follow_up else "the same command resumes the run"
            return f"the results are in {opened.name}, {resume}"

        with resumable_progress(
            hint, quiet=quiet or as_json, checkpoints=len(loaded.checkpoints)
        ) as progress:
            run_options = replace(run_options, progress=progress)
            if evaluate is not None:
                result = evaluate(loaded, run_options)
            else:
                result = run_plan(
                    loaded, store=opened, judge=judge, base_url=base_url, options=run_options, trust=True
                )
        _log_results(loaded, result, opened)
        if follow_up is not None:
            follow_up.show(result, strict=strict, as_json=as_json)
        if paths or as_json or not quiet:
            from hengwen.documents.run.document import report_document

            document = report_document(
                opened, result.runs, warnings=result.warnings, pending_calls=result.pending_calls
            )
            report_language = language.report_language(lang, result.runs)
            try:
                show(
                    document,
                    paths,
                    language=report_language,
                    as_json=as_json,
                    quiet=quiet,
                    verbose=verbose,
                )
            except ConfigError as error:
                raise ConfigError(
                    f"{error}; the results are in {opened.name}: hengwen report -o FILE"
                ) from None
    show_bill(result.bill, language.choose_language(lang, loaded.language), quiet=quiet or as_json)
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


def _run_on_ray(
    store: str,
    judge: str | None,
    base_url: str | None,
    workers: int | None,
    address: str | None,
    plan: Plan,
    run_options: RunOptions,
) -> RunResult:
    from hengwen.plans.overrides import resolve_plan
    from hengwen.runs.cluster.run_on_ray import run_on_ray

    resolved = resolve_plan(plan, judge=judge, base_url=base_url)
    return run_on_ray(resolved, store, run_options, workers=workers, address=address)


def _check_ray(store: str, *, fresh: bool, budget: float | None, only_this_machine: bool) -> None:
    """Check that Ray can run a plan; this is called before the store is opened.

    Raises:
        ConfigError: The store is not in PostgreSQL, or an option does not apply.
        PluginError: Ray is not installed.
    """
    from hengwen.errors import ConfigError
    from hengwen.runs.cluster.connection import import_ray
    from hengwen.runs.cluster.run_on_ray import check_store

    if fresh or budget is not None:
        raise ConfigError(f"{'--fresh' if fresh else '--budget'} does not apply with --engine ray")
    check_store(store)
    import_ray(only_this_machine=only_this_machine)
