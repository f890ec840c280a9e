"""``hengwen label PLAN``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted
from hengwen.cli.ui.messages import print_info, print_warning


def label(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    rater: Annotated[
        str | None,
        typer.Option(
            "--rater", envvar="HENGWEN_RATER", help="Your name in the labels; default: prompt for it."
        ),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="Label only answers of this task.")] = None,
    rubric_score: Annotated[
        str | None,
        typer.Option(
            "--score",
            help="Score to label, such as muice_live.voice; default: the level of each task's first judge.",
        ),
    ] = None,
    number: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="Label only N answers, drawn at random.")
    ] = None,
    order_seed: Annotated[
        int | None,
        typer.Option("--seed", envvar="HENGWEN_SEED", help="Seed of the order; default: the plan's."),
    ] = None,
    label_file: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Label file, .csv or .jsonl; default: the plan's labels."),
    ] = None,
    pairs: options.Pairs = None,
    lang: options.Lang = None,
    trust: options.Trust = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Label answers one at a time, in random order, without seeing judges' scores or checkpoints.

    The order is spread over checkpoints and prompts, which narrows corrected means with fewer labels.

    Each label is saved immediately; to continue after an interruption, run the same command again.
    """
    from hengwen.cli.ui.label_form import LabelSession, ask_rater
    from hengwen.io.output_files import check_target
    from hengwen.labels.desk import open_desk
    from hengwen.labels.file import write_pairs
    from hengwen.plans.input_files import input_files
    from hengwen.store import store_files

    loaded = load_trusted(plan, trust=trust)
    form_language = options.choose_language(lang, loaded.language)
    desk = open_desk(
        loaded,
        plan,
        store,
        trust=trust,
        output=label_file,
        task=task,
        score=rubric_score,
        seed=order_seed,
        limit=number,
    )
    target, file = desk.file.path, desk.file
    for warning in desk.warnings:
        print_warning(warning)
    if pairs is not None:
        unlabelled = loaded.model_copy(update={"labels": None})
        check_target(pairs, [plan, *input_files(unlabelled), *store_files(store), target])
        count = write_pairs(pairs, desk.questions, file.labels())
        print_info(f"{pairs}: {count} preference pairs")
        print_warning("a model trained on these pairs has seen the questions: do not test it with them")
        return
    name = ask_rater(rater, form_language)
    session = LabelSession(desk.questions, file, name, language=form_language)
    if not file.stores_draws:
        print_warning(
            f"{target} has no column 'drawn', so how its labels were drawn stays unknown; add the column"
        )
    if session.stale:
        print_warning(
            f"{session.stale} labels of {name} are for another text; remove them from {target} to label again"
        )
    try:
        session.run()
    finally:
        print_info(session.summary())
        if not desk.is_in_plan:
            relative = os.path.relpath(target.resolve(), plan.resolve().parent)
            print_info(f"to use the labels, add to {plan}: labels: {relative}")
