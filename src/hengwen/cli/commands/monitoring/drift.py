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
            metavar="[RUN]...",
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
        typer.Option("--score", help="Test only TASK/SCORE; repeatable; p is corrected for these."),
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
    lang: language.Lang = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say of each score whether checkpoints differ, and whether that is more than they usually move."""
    from hengwen.cli.monitoring.drift_json import drift_json
    from hengwen.cli.monitoring.drift_table import names_text, print_drift
    from hengwen.cli.ui.existing_store import open_existing_store
    from hengwen.cli.ui.messages import print_warning
    from hengwen.monitoring.drift.drift_report import drift_report

    if lang is not None:
        options.parse_language(lang)  # before the look is recorded
    with open_existing_store(store) as opened:
        report = drift_report(
            opened, runs or (), plan=plan, baseline=baseline, scores=score or (), human=human
        )
    for names, text in (
        (report.unchecked, "run by an older version, so whether they are comparable is not known"),
        (report.other_prompts, "left out, because their tasks or prompts differ from the newest run"),
    ):
        if names:
            print_warning(f"{text}: {names_text(names)}")
    if as_json:
        typer.echo(drift_json(report))
    elif not quiet:
        print_drift(report, language.report_language(lang, report.runs))
