"""``hengwen view [STORE]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import (
    load_trusted,
    open_existing_store,
    open_or_create_store,
    print_info,
    print_warning,
)
from hengwen.cli.ui.output import Face
from hengwen.cli.ui.usage import Without


def view(
    location: options.StoreArgument = options.DEFAULT_STORE,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    host: Annotated[
        str,
        typer.Option("--host", help="Address to listen on; another than this machine's needs --token-file."),
    ] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help="File with the token of the address, at least 32 characters; it works for several browsers.",
        ),
    ] = None,
    label: Annotated[
        Path | None,
        typer.Option("--label", help="Label the answers of this plan; without it nothing is written."),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address.")] = False,
    trust: options.Trust = False,
    *,
    face: Annotated[Face, Without("output", "as_json", "quiet", "verbose")],
) -> None:
    """Show the runs of a store in a browser, also while they run, until Ctrl-C."""
    from hengwen.labels.desk import open_desk
    from hengwen.view.app import serve

    with open_existing_store(location) as opened:
        page_language = face.report_language(opened.latest())
    desk = None
    if label is not None:
        loaded = load_trusted(label, trust=trust)
        desk = open_desk(loaded, label, location, trust=trust)
    serve(
        location,
        host=host,
        port=port,
        token_file=token_file,
        desk=desk,
        language=page_language,
        announce=typer.echo,
        is_opened=not no_open,
    )


def label(
    plan: Annotated[Path, typer.Argument(help="The plan, a YAML file.")],
    task: Annotated[str | None, typer.Option("--task", help="Label only answers of this task.")] = None,
    rubric_score: Annotated[
        str | None,
        typer.Option("--score", help="Score to label; default: the level of each task's first judge."),
    ] = None,
    number: Annotated[
        int | None, typer.Option("-n", "--limit", min=1, help="Label only N answers, drawn at random.")
    ] = None,
    order_seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the order; default: the plan's.")
    ] = None,
    label_file: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Label file, .csv or .jsonl; default: the plan's labels."),
    ] = None,
    pairs: options.Pairs = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address.")] = False,
    lang: options.Lang = None,
    trust: options.Trust = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Label answers in a browser, in random order, without seeing judges' scores or checkpoints.

    The order is spread over checkpoints and prompts, which narrows corrected means with fewer labels.

    Each label is saved immediately; to continue later, run the same command again.
    """
    from hengwen.io.output_files import check_target
    from hengwen.labels.desk import open_desk
    from hengwen.labels.file import write_pairs
    from hengwen.plans.overrides import input_files
    from hengwen.store import store_files
    from hengwen.view.app import LOOPBACK, serve

    loaded = load_trusted(plan, trust=trust)
    language = options.choose_language(lang, loaded.language)
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
    for warning in desk.warnings:
        print_warning(warning)
    if pairs is not None:
        unlabelled = loaded.model_copy(update={"labels": None})
        check_target(pairs, [plan, *input_files(unlabelled), *store_files(store), desk.file.path])
        count = write_pairs(pairs, desk.questions, desk.file.labels())
        print_info(f"{pairs}: {count} preference pairs")
        print_warning("a model trained on these pairs has seen the questions: do not test it with them")
        return
    if not desk.is_in_plan:
        print_info(f"labels are written to {desk.file.path}; to use them, add to {plan}: labels: FILE")
    open_or_create_store(store).close()  # the pages read one
    serve(
        store,
        host=LOOPBACK[0],
        port=port,
        token_file=None,
        desk=desk,
        language=language,
        announce=typer.echo,
        is_opened=not no_open,
        path="label",
    )
