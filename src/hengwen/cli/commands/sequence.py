"""``hengwen sequence FILE|-``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.ui import options


def sequence(
    file: Annotated[
        Path,
        typer.Argument(
            help="Scores in order, one a line; '-' for standard input; or .jsonl or .csv with --column."
        ),
    ],
    column: Annotated[
        str | None, typer.Option("--column", help="Which field of a .jsonl or .csv row.")
    ] = None,
    m: Annotated[int, typer.Option("-m", min=2, max=10, help="Scores in an ordinal pattern.")] = 3,
    delay: Annotated[int, typer.Option("--delay", min=1, help="Steps between the scores of a pattern.")] = 1,
    top: Annotated[
        float | None, typer.Option("--top", help="Where the top box begins; default: the maximum.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, envvar="HENGWEN_SEED", help="Of the tests.")] = 0,
    language: Annotated[str, typer.Option("--lang", help="zh, en or both.")] = "both",
    as_json: options.Json = False,
) -> None:
    """Say what a sequence of scores shows: level, permutation entropy, inversions, increasing subsequence."""
    import json
    from dataclasses import asdict

    from hengwen.errors import DataError
    from hengwen.relevance_metrics import summarize

    if language not in ("zh", "en", "both"):
        raise typer.BadParameter(f"--lang is zh, en or both, got {language!r}")
    scores = _scores(file, column)
    try:
        found = summarize(scores, m=m, delay=delay, top=top, seed=seed)
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None
    if as_json:
        typer.echo(json.dumps({"schema": 1, **asdict(found)}, ensure_ascii=False))
        return
    told = [found.explain(name) for name in ("zh", "en") if language in (name, "both")]
    typer.echo("\n\n".join(told))


def _scores(file: Path, column: str | None) -> list[float]:
    from hengwen.io.row_reader import read_number, read_numbers, read_rows

    if file.suffix.lower() in (".jsonl", ".ndjson", ".csv"):
        if column is None:
            raise typer.BadParameter(f"{file} has several fields; name one with --column")
        return [read_number(line, column) for line in read_rows(file)]
    if column is not None:
        raise typer.BadParameter("--column is for .jsonl and .csv files")
    if str(file) == "-":
        return read_numbers(sys.stdin.buffer.read(), file)
    from hengwen.io.yaml_config import read_text

    return read_numbers(read_text(file).encode(), file)
