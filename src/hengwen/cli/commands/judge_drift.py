"""``hengwen judge-drift PLAN``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, open_existing_store
from hengwen.cli.ui.options import Calls
from hengwen.cli.ui.output import Face, exit_code
from hengwen.cli.ui.usage import Without
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from hengwen.monitoring.judge_drift.report import JudgeDriftReport


_CALL_OPTIONS = (
    *("score", "base_url", "concurrency", "budget", "price"),
    *("time_limit", "dry_run", "fresh", "wait", "trust"),
)
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
    score: options.Scores = None,
    old_judge: Annotated[
        str | None,
        typer.Option(
            "--old-judge",
            metavar="JUDGE",
            help="Judge of the earlier run, where it still answers: PROVIDER/MODEL, or its plan (*.yaml). It "
            "judges the later answers too.",
        ),
    ] = None,
    *,
    calls: Annotated[Calls, Without("limit")],
    face: Face,
) -> None:
    """Did the model change, or its judge? Judge the answers of an earlier checkpoint again, and compare.

    Exits with 5 if the budget is reached; the same command resumes.
    """
    from hengwen.cli.ui.output import resumable_progress
    from hengwen.documents.dry_run import dry_run_document
    from hengwen.documents.judge_drift import judge_drift_document
    from hengwen.monitoring.judge_drift.rejudging import estimate_rejudging, rejudge
    from hengwen.monitoring.judge_drift.report import choose_runs, judge_drift_of, stored_judge_drift
    from hengwen.plans.overrides import is_plan_path

    def show_drift(report: JudgeDriftReport) -> None:
        face.show(judge_drift_document(report), face.report_language((report.after,)))

    face.check([plan])
    if not is_plan_path(str(plan)):
        options.refuse(context, dict.fromkeys(_CALL_OPTIONS, "needs a plan: a store is read without a call"))
        if calls.judge is None or old_judge is None:
            raise ConfigError(
                f"{plan}: no plan (.yaml); a store needs --old-judge and --judge, two judges in it"
            )
        with open_existing_store(str(plan)) as opened:
            stored = stored_judge_drift(opened, before, after, (old_judge, calls.judge))
        show_drift(stored)
        return
    with open_existing_store(calls.store) as opened:
        loaded = calls.load(plan)
        old_plan = old_judge is not None and is_plan_path(old_judge)
        pair = choose_runs(opened, before, after, loaded.name)
        common: dict[str, Any] = {
            "store": opened,
            "before": pair.before and pair.before.id,
            "after": pair.after.id,
            "judge": calls.judge,
            "base_url": calls.base_url,
            "old_judge": load_trusted(Path(old_judge or ""), trust=calls.trust) if old_plan else old_judge,
            "trust": True,
        }
        limits = calls.run_options()
        if calls.dry_run:
            estimates = estimate_rejudging(loaded, options=limits, **common)
            face.show(dry_run_document(estimates), face.language(loaded.language))
            raise typer.Exit
        hint = f"the verdicts are in {opened.name}, the same command resumes"
        with resumable_progress(lambda: hint, quiet=face.is_silent) as progress:
            result = rejudge(loaded, options=replace(limits, progress=progress), **common)
        report = judge_drift_of(opened, pair, score or ())
    code = exit_code(result, strict=False)
    show_drift(report)
    face.show_bill(result.bill, face.report_language((report.after,)))
    raise typer.Exit(code)
