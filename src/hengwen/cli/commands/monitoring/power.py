"""``hengwen power PLAN``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, open_existing_store
from hengwen.cli.ui.output import Face

RUN_HELP = "a run id, a prefix of one, or a checkpoint name (its newest run)"


def power(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            help=f"The run to estimate variances from: {RUN_HELP}; default: the pinned run, else the newest.",
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(
            "--other",
            help="Run of another checkpoint to compare with (id, prefix or checkpoint); default: the newest.",
        ),
    ] = None,
    score: options.Scores = None,
    difference: Annotated[
        list[float] | None,
        typer.Option(
            "--difference",
            help="A true difference to detect, on the scale of the score; repeatable; default: the "
            "difference that the plan detects now, half of it, and a quarter of it.",
        ),
    ] = None,
    task_cost: Annotated[
        float | None,
        typer.Option(
            "--budget",
            help="Cost of one task in a run; the smallest difference that it can detect is printed.",
        ),
    ] = None,
    power: Annotated[float, typer.Option("--power", help="Probability of detecting the difference.")] = 0.8,
    correlation: Annotated[
        float,
        typer.Option(
            "--correlation",
            help="Assumed correlation of two checkpoints over prompts, if only one has a run; 0 is cautious.",
        ),
    ] = 0.0,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    store: options.Store = options.DEFAULT_STORE,
    trust: options.Trust = False,
    *,
    face: Face,
) -> None:
    """Show which differences between checkpoints a plan can detect.

    For each --difference, also show the cheapest numbers of prompts and repeats that detect it.
    """
    from hengwen.documents.gates.power import power_document
    from hengwen.monitoring.power.plan_power import plan_power
    from hengwen.plans.overrides import resolve_plan

    face.check([plan])
    loaded = load_trusted(plan, trust=trust, judge=judge, base_url=base_url)
    with open_existing_store(store) as opened:
        result = plan_power(
            opened,
            resolve_plan(loaded, judge=judge, base_url=base_url),
            baseline=baseline,
            other=other,
            scores=score or (),
            differences=difference or (),
            power=power,
            correlation=correlation,
            budget=task_cost,
            trust=True,
        )
    face.show(power_document(result), face.report_language((result.baseline,)))
