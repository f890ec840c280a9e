"""``hengwen compare [A] B``."""

from __future__ import annotations

from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import name_plan, open_existing_store, print_warning
from hengwen.cli.ui.output import Face

RUN_HELP = "A run id, a prefix of one, or a checkpoint name (its newest run)."


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="The earlier and the later run, or the later alone: then the pinned baseline is the "
            f"earlier. {RUN_HELP}",
        ),
    ],
    plan: Annotated[
        str | None, typer.Option("--plan", help="Name of the plan of both runs; default: any plan.")
    ] = None,
    score: options.Scores = None,
    common: Annotated[
        bool,
        typer.Option(
            "--common", help="Where the runs differ, compare the prompts and scores that are equal in both."
        ),
    ] = False,
    weights: Annotated[
        str,
        typer.Option(
            "--weights",
            help="precision: also print the mean weighted by precision (another estimand).",
        ),
    ] = "equal",
    store: options.Store = options.DEFAULT_STORE,
    *,
    face: Face,
) -> None:
    """Test whether two runs differ on their common prompts: difference, interval, p, effect sizes.

    Exits with 2 if the runs are not comparable.
    """
    from hengwen.documents.compare.document import changed_prompts, compare_document
    from hengwen.monitoring.compare_runs import compare_runs

    if len(runs) > 2:
        raise typer.BadParameter(f"name at most two runs, got {len(runs)}")
    if weights not in ("equal", "precision"):
        raise typer.BadParameter(f"--weights is equal or precision, got {weights!r}")
    face.check()
    with open_existing_store(store) as opened:
        comparison = compare_runs(
            opened,
            runs[0] if len(runs) == 2 else None,
            runs[-1],
            plan=plan,
            scores=score or (),
            common=common,
            weights="precision" if weights == "precision" else "equal",
        )
        if plan is None and runs[-1] == comparison.after.checkpoint:
            name_plan(opened, comparison.after.plan, runs[-1])
        changes = changed_prompts(opened, comparison) if face.output or face.verbose else ()
    for checkpoint in comparison.unchecked:
        print_warning(f"{checkpoint} is a run of an older version: whether it is comparable is not known")
    face.show(
        compare_document(comparison, changes), face.report_language((comparison.before, comparison.after))
    )
