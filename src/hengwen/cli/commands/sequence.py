"""``hengwen sequence FILE|-``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.monitoring.score_file import COLUMN_HELP, FILE_HELP, read_scores
from hengwen.cli.ui import options


def sequence(
    file: Annotated[Path, typer.Argument(help=f"Scores in order, {FILE_HELP}")],
    column: Annotated[str | None, typer.Option("--column", help=COLUMN_HELP)] = None,
    m: Annotated[int, typer.Option("-m", min=2, max=10, help="Length of an ordinal pattern.")] = 3,
    delay: Annotated[
        int, typer.Option("--delay", min=1, help="Distance between the scores of a pattern.")
    ] = 1,
    top: Annotated[
        float | None, typer.Option("--top", help="Lowest score of the top box; default: the maximum.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, envvar="HENGWEN_SEED", help="Seed of the permutation tests.")
    ] = 0,
    language: Annotated[str, typer.Option("--lang", help="Language of the text: zh, en or both.")] = "both",
    as_json: options.Json = False,
) -> None:
    """Describe a sequence of scores: level, permutation entropy, inversions, increasing subsequence."""
    import json
    from dataclasses import asdict

    from hengwen.errors import DataError
    from hengwen.relevance_metrics import summarize

    if language not in ("zh", "en", "both"):
        raise typer.BadParameter(f"--lang is zh, en or both, got {language!r}")
    scores = [score for _, score in read_scores(file, column)]
    try:
        summary = summarize(scores, m=m, delay=delay, top=top, seed=seed)
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None
    if as_json:
        typer.echo(json.dumps({"schema": 1, **asdict(summary)}, ensure_ascii=False))
        return
    texts = [summary.explain(name) for name in ("zh", "en") if language in (name, "both")]
    typer.echo("\n\n".join(texts))
