"""``hengwen drift [RUN...]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import language, options


def drift(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Run ids, prefixes of ids, or checkpoint names; default: the newest run of each checkpoint.",
        ),
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", help="Name of the plan; default: that of the newest run.")
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN",
            help="First checkpoint of the tests; default: the pinned run, otherwise the first checkpoint.",
        ),
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            "--score", help="Test only TASK/SCORE; repeatable; p-values are corrected for their number."
        ),
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(
            "--human",
            help="Human values of checkpoints (columns checkpoint, value) or prompts (id, value), .csv or "
            ".jsonl; default: the labels in the store.",
        ),
    ] = None,
    rejudge: Annotated[
        Path | None,
        typer.Option(
            "--rejudge",
            metavar="PLAN",
            help="Did the model change, or its judge? Judge the answers of the checkpoint before the newest "
            "(or of the baseline) again with the judges of PLAN.",
        ),
    ] = None,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    concurrency: options.Concurrency = 16,
    budget: options.Budget = None,
    time_limit: options.TimeLimit = None,
    dry_run: options.DryRun = False,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="With --rejudge: do not reuse the verdicts of an earlier --rejudge."),
    ] = False,
    wait: options.Wait = False,
    trust: options.Trust = False,
    store: options.Store = options.DEFAULT_STORE,
    lang: language.Lang = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Test for each score whether the checkpoints differ, and whether the score drifts.

    A score drifts if its mean moves more than it usually does between checkpoints.
    """
    from hengwen.cli.monitoring.drift_json import drift_json
    from hengwen.cli.monitoring.drift_table import names_text, print_drift
    from hengwen.cli.monitoring.judge_drift_table import judge_drift_document, print_judge_drift
    from hengwen.cli.monitoring.rejudge import RejudgeOptions, rejudge_answers
    from hengwen.cli.ui.existing_store import open_existing_store
    from hengwen.cli.ui.messages import print_warning
    from hengwen.monitoring.drift.drift_report import drift_report
    from hengwen.monitoring.judge_drift.report import judge_drift_of
    from hengwen.monitoring.judge_drift.run_pair import pair_of_report

    if lang is not None:
        options.parse_language(lang)  # check --lang before the store counts this test
    if rejudge is None and (dry_run or fresh):
        raise typer.BadParameter(f"{'--dry-run' if dry_run else '--fresh'} is for --rejudge PLAN")
    code = 0
    with open_existing_store(store) as opened:
        if rejudge is not None:
            again = RejudgeOptions(
                plan=rejudge,
                judge=judge,
                base_url=base_url,
                concurrency=concurrency,
                budget=budget,
                time_limit=time_limit,
                dry_run=dry_run,
                fresh=fresh,
                wait=wait,
                trust=trust,
            )
            code, plan = rejudge_answers(
                opened, again, runs or (), baseline, plan, as_json=as_json, quiet=quiet
            )
        report = drift_report(
            opened, runs or (), plan=plan, baseline=baseline, scores=score or (), human=human
        )
        pair = pair_of_report(opened, runs or (), baseline, plan)
        judges = judge_drift_of(opened, pair, score or (), skip_others=True)
    for names, text in (
        (report.unchecked, "run by an older version, so whether they are comparable is not known"),
        (report.other_prompts, "left out, because their tasks or prompts differ from the newest run"),
    ):
        if names:
            print_warning(f"{text}: {names_text(names)}")
    if as_json:
        typer.echo(drift_json(report, judge_drift_document(judges) if judges.is_known else None))
    elif not quiet:
        view_language = language.report_language(lang, report.runs)
        print_drift(report, view_language)
        if judges.is_known:
            typer.echo()
            print_judge_drift(judges, view_language)
    raise typer.Exit(code)
