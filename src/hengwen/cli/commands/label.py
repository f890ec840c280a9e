"""``hengwen label PLAN``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options


def label(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    rater: Annotated[
        str | None,
        typer.Option(
            "--rater", envvar="HENGWEN_RATER", help="Your name in the labels; else it is asked for."
        ),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only answers of this task.")] = None,
    score: Annotated[
        str | None,
        typer.Option("--score", help="Such as muice_live.voice; default: the level of each first judge."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="Label only so many answers, drawn at random.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", envvar="HENGWEN_SEED", help="Of the order; default: the plan's.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Labels, .csv or .jsonl; default: labels: of the plan."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Name the checkpoint and repeat of each answer: no blind labels.")
    ] = False,
    language: Annotated[str, typer.Option("--lang", help="Of the levels: zh or en.")] = "zh",
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Label answers by reading them: one at a time, in random order, blind to judges and checkpoints.

    Every label is on the disk at once; quit whenever you like, the same command goes on where it stopped.
    """
    from hengwen.cli.ui.label_form import LabelSession, ask_rater
    from hengwen.cli.ui.messages import print_info, print_warning
    from hengwen.labels.file import LabelFile
    from hengwen.labels.queue import generated, questions
    from hengwen.plans.plan import load_plan
    from hengwen.plans.suite import load_suite

    rubric_language = options.parse_language(language)
    checked = load_plan(plan)
    target = output or checked.labels or plan.with_name("labels.csv")
    suite = load_suite(checked.model_copy(update={"labels": None}))
    answers, warnings = generated(suite, store)
    for warning in warnings:
        print_warning(warning)
    found = questions(
        suite, answers, task=task, score=score, seed=checked.seed if seed is None else seed, limit=limit
    )
    file = LabelFile(target)
    name = ask_rater(rater)
    form = LabelSession(found, file, name, language=rubric_language, show=show)
    if form.stale:
        print_warning(
            f"{form.stale} labels of {name} are for another text: take them out of {target} to label anew"
        )
    try:
        form.fill()
    finally:
        print_info(form.summary())
        if checked.labels is None or target.resolve() != checked.labels.resolve():
            there = os.path.relpath(target.resolve(), plan.resolve().parent)
            print_info(f"to use them, add to {plan}: labels: {there}")
