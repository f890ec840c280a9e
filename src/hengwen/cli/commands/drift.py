"""``hengwen drift [RUN...]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import name_plan, open_existing_store, print_warning
from hengwen.cli.ui.output import Face


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
    score: options.Scores = None,
    human: Annotated[
        Path | None,
        typer.Option(
            "--human",
            help="Human values of checkpoints (columns checkpoint, value) or prompts (id, value), .csv or "
            ".jsonl; default: the labels in the store.",
        ),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    *,
    face: Face,
) -> None:
    """Test for each score whether the checkpoints differ, and whether the score drifts.

    A score drifts if its mean moves more than it usually does between checkpoints.
    """
    from hengwen.documents.drift.document import drift_document
    from hengwen.documents.drift.words import names_text
    from hengwen.monitoring.drift.drift_report import drift_report
    from hengwen.monitoring.judge_drift.report import judge_drift_of, pair_of_report

    face.check([human] if human else ())
    with open_existing_store(store) as opened:
        report = drift_report(
            opened, runs or (), plan=plan, baseline=baseline, scores=score or (), human=human
        )
        if plan is None and not runs and not face.is_silent:
            name_plan(opened, report.runs[-1].plan)
        pair = pair_of_report(opened, runs or (), baseline, plan)
        judges = judge_drift_of(opened, pair, score or (), skip_others=True)
    for names, text in (
        (report.unchecked, "run by an older version, so whether they are comparable is not known"),
        (report.other_prompts, "left out, because their tasks or prompts differ from the newest run"),
    ):
        if names:
            print_warning(f"{text}: {names_text(names).en}")
    face.show(drift_document(report, judges), face.report_language(report.runs))
