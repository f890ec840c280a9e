"""``hengwen judge-drift PLAN``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hengwen.cli.ui import language, options

if TYPE_CHECKING:
    from hengwen.monitoring.judge_drift.report import JudgeDriftReport

_CALL_OPTIONS = [
    "score",
    "base_url",
    "concurrency",
    "budget",
    "price",
    "time_limit",
    "dry_run",
    "fresh",
    "wait",
    "trust",
]
"""Options that have no effect if stored scores are compared."""


def judge_drift(
    context: typer.Context,
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN_OR_STORE",
            help="A plan, whose judges judge the earlier answers again; or a store, in which the scores by "
            "--old-judge and --judge are compared.",
        ),
    ],
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="RUN",
            help="The run whose answers are judged again; default: the pinned baseline, otherwise the "
            "checkpoint before --after.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="RUN",
            help="The later run, with which it is compared; default: that of the last checkpoint.",
        ),
    ] = None,
    score: Annotated[
        list[str] | None, typer.Option("--score", help="Report only TASK/SCORE; repeatable.")
    ] = None,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    old_judge: Annotated[
        str | None,
        typer.Option(
            "--old-judge",
            metavar="JUDGE",
            help="Judge of the earlier run, where it still answers: PROVIDER/MODEL, or its plan (*.yaml). It "
            "judges the later answers too.",
        ),
    ] = None,
    concurrency: options.Concurrency = options.DEFAULT_CONCURRENCY,
    budget: options.Budget = None,
    price: options.Price = None,
    time_limit: options.TimeLimit = None,
    dry_run: options.DryRun = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not reuse the verdicts of an earlier judge-drift.")
    ] = False,
    wait: options.Wait = False,
    trust: options.Trust = False,
    store: options.Store = options.DEFAULT_STORE,
    output: options.Outputs = None,
    lang: language.Lang = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Did the model change, or its judge? Judge the answers of an earlier checkpoint again, and compare.

    Exits with 5 if the budget is reached; the same command resumes.
    """
    from hengwen.cli.ui.existing_store import open_existing_store
    from hengwen.cli.ui.messages import print_waiting
    from hengwen.cli.ui.output import check_outputs, exit_code, show, show_bill
    from hengwen.cli.ui.progress import resumable_progress
    from hengwen.cli.ui.trust import load_trusted
    from hengwen.documents.dry_run import dry_run_document
    from hengwen.documents.judge_drift import judge_drift_document
    from hengwen.errors import ConfigError
    from hengwen.monitoring.judge_drift.rejudging import estimate_rejudging, rejudge
    from hengwen.monitoring.judge_drift.report import choose_runs, judge_drift_of, stored_judge_drift
    from hengwen.plans.overrides import is_plan_path
    from hengwen.runs.options import RunOptions

    def show_drift(report: JudgeDriftReport) -> None:
        drawn_in = language.report_language(lang, (report.after,))
        document = judge_drift_document(report)
        show(document, outputs, language=drawn_in, as_json=as_json, quiet=quiet, verbose=verbose)

    outputs = check_outputs(output, [plan])
    if not is_plan_path(str(plan)):
        options.refuse(context, dict.fromkeys(_CALL_OPTIONS, "needs a plan: a store is read without a call"))
        if judge is None or old_judge is None:
            raise ConfigError(
                f"{plan}: no plan (.yaml); a store needs --old-judge and --judge, two judges in it"
            )
        with open_existing_store(str(plan)) as opened:
            stored = stored_judge_drift(opened, before, after, (old_judge, judge))
        show_drift(stored)
        return
    with open_existing_store(store) as opened:
        loaded = load_trusted(plan, trust=trust, judge=judge, base_url=base_url)
        old_plan = old_judge is not None and is_plan_path(old_judge)
        pair = choose_runs(opened, before, after, loaded.name)
        common: dict[str, Any] = {
            "store": opened,
            "before": pair.before and pair.before.id,
            "after": pair.after.id,
            "judge": judge,
            "base_url": base_url,
            "old_judge": load_trusted(Path(old_judge or ""), trust=trust) if old_plan else old_judge,
            "trust": True,
        }
        limits = RunOptions(
            concurrency=concurrency,
            fresh=fresh,
            budget=budget,
            price=options.parse_price(price),
            time_limit=time_limit,
            wait=print_waiting if wait else False,
        )
        if dry_run:
            show(
                dry_run_document(estimate_rejudging(loaded, options=limits, **common)),
                outputs,
                language=language.choose_language(lang, loaded.language),
                as_json=as_json,
                quiet=False,
            )
            raise typer.Exit
        hint = f"the verdicts are in {opened.name}, the same command resumes"
        with resumable_progress(lambda: hint, quiet=quiet or as_json) as progress:
            result = rejudge(loaded, options=replace(limits, progress=progress), **common)
        report = judge_drift_of(opened, pair, score or ())
    code = exit_code(result, strict=False)
    show_drift(report)
    show_bill(result.bill, language.report_language(lang, (report.after,)), quiet=quiet or as_json)
    raise typer.Exit(code)
