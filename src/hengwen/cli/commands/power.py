"""``hengwen power PLAN``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_existing_store
from hengwen.cli.ui.output import Face


def power(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="Run or checkpoint; default: the pinned one, else the newest."),
    ] = None,
    other: Annotated[
        str | None, typer.Option("--other", help="A run of another checkpoint; default: the newest.")
    ] = None,
    score: options.Scores = None,
    difference: Annotated[
        list[float] | None,
        typer.Option("--difference", help="A true difference to detect, in units of the score; repeatable."),
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    *,
    face: Face,
) -> None:
    """Show which differences between checkpoints a plan can detect, and how many prompts others need."""
    from hengwen.documents.power import power_document
    from hengwen.monitoring.power import plan_power

    face.check([plan])
    with open_existing_store(store) as opened:
        result = plan_power(
            opened, plan, baseline=baseline, other=other, scores=score or (), differences=difference or ()
        )
    face.show(power_document(result), face.report_language((result.baseline,)))
