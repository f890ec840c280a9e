"""``hengwen corpus FILE --refs FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.messages import print_warning
from hengwen.cli.ui.output import Face


def corpus(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Text file, one text per line.")],
    refs: Annotated[
        list[Path],
        typer.Option(
            "--refs",
            help="Reference file, one text per line, blank where missing; repeatable for several references.",
        ),
    ],
    metrics: Annotated[str, typer.Option("--metrics", help="Metrics, comma-separated.")] = "bleu,chrf,rougeL",
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Text file of another system; tests the difference."),
    ] = None,
    paired: Annotated[
        Literal["ar", "bs"],
        typer.Option("--paired", help="Test for --baseline: approximate randomization or bootstrap."),
    ] = "ar",
    trials: Annotated[
        int | None,
        typer.Option("--trials", min=1, help="Trials of the test; default: 10000 for ar, 1000 for bs."),
    ] = None,
    corpus_seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=1,
            help="Seed of intervals and test; default: 0 for intervals, 12345 for the test.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Option of the metrics, NAME=VALUE, or of one metric, METRIC.NAME=VALUE; repeatable.",
        ),
    ] = None,
    strict: options.Strict = False,
    *,
    face: Face,
) -> None:
    """Compute BLEU, chrF, TER and ROUGE of a text file against reference files."""
    from hengwen.documents.metrics import corpus_document
    from hengwen.runs.score_corpus import Baseline, score_corpus_files

    if baseline is None:
        options.refuse(context, dict.fromkeys(("paired", "trials"), "needs --baseline, the other system"))

    face.check([file, *refs, *([baseline] if baseline else [])])
    scores = score_corpus_files(
        file,
        refs,
        metrics=[name.strip() for name in metrics.split(",")],
        settings=options.parse_settings(option),
        baseline=Baseline(file=baseline, test=paired, trials=trials) if baseline else None,
        seed=corpus_seed,
    )
    for warning in scores.warnings:
        print_warning(warning)
    face.show(corpus_document(scores), face.language())
    raise typer.Exit(1 if strict and scores.failed else 0)
