"""``hengwen sequence FILE|-``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.cli.score_file import COLUMN_HELP, FILE_HELP, read_scores
from hengwen.cli.ui import options
from hengwen.cli.ui.output import Face


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
    seed: options.Seed = 0,
    *,
    face: Face,
) -> None:
    """Describe a sequence of scores: level, permutation entropy, inversions, increasing subsequence."""
    from hengwen.documents.sequence import sequence_document
    from hengwen.errors import DataError
    from hengwen.relevance_metrics import summarize

    face.check([file])
    scores = [score for _, score in read_scores(file, column)]
    try:
        summary = summarize(scores, m=m, delay=delay, top=top, seed=seed)
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None
    face.show(sequence_document(summary), face.language())
