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
    store: options.Store = options.DEFAULT_STORE,
    output: options.Outputs = None,
    lang: language.Lang = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Test for each score whether the checkpoints differ, and whether the score drifts.

    A score drifts if its mean moves more than it usually does between checkpoints.
    """
    from hengwen.cli.ui.existing_store import name_plan, open_existing_store
    from hengwen.cli.ui.messages import print_warning
    from hengwen.cli.ui.output import check_outputs, show
    from hengwen.documents.drift.document import drift_document
    from hengwen.documents.drift.words import names_text
    from hengwen.monitoring.drift.drift_report import drift_report
    from hengwen.monitoring.judge_drift.report import judge_drift_of, pair_of_report

    if lang is not None:
        options.parse_language(lang)  # check --lang before the store counts this test
    outputs = check_outputs(output, [human] if human else ())
    with open_existing_store(store) as opened:
        report = drift_report(
            opened, runs or (), plan=plan, baseline=baseline, scores=score or (), human=human
        )
        if plan is None and not runs and not quiet and not as_json:
            name_plan(opened, report.runs[-1].plan)
        pair = pair_of_report(opened, runs or (), baseline, plan)
        judges = judge_drift_of(opened, pair, score or (), skip_others=True)
    for names, text in (
        (report.unchecked, "run by an older version, so whether they are comparable is not known"),
        (report.other_prompts, "left out, because their tasks or prompts differ from the newest run"),
    ):
        if names:
            print_warning(f"{text}: {names_text(names).en}")
    show(
        drift_document(report, judges),
        outputs,
        language=language.report_language(lang, report.runs),
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )
