"""``hengwen score --refs REF HYP``: corpus metrics of a text file against reference files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def show_corpus_scores(
    hypotheses: Path, references: Sequence[Path], metrics: Sequence[str], *, as_json: bool
) -> None:
    """Print each metric with its interval and signature."""
    import json
    from dataclasses import asdict

    from hengwen.errors import DataError
    from hengwen.objective import corpus_scores

    texts, reference_sets = _lines(hypotheses), [_lines(path) for path in references]
    for path, lines in zip(references, reference_sets, strict=True):
        if len(lines) != len(texts):
            raise DataError(f"{path}: {len(lines)} lines, but {hypotheses} has {len(texts)}")
    try:
        rows = [list(row) for row in zip(*reference_sets, strict=True)]
        scores = corpus_scores(texts, rows, metrics=metrics)
    except ValueError as error:
        raise DataError(f"{hypotheses}: {error}") from None
    if as_json:
        typer.echo(
            json.dumps({"schema": 1, "scores": [asdict(score) for score in scores]}, ensure_ascii=False)
        )
        return
    for score in scores:
        ends = "" if score.interval is None else f" [{score.interval[0]:.2f}, {score.interval[1]:.2f}]"
        failures = f", {score.failures} failed" if score.failures else ""
        typer.echo(f"{score.name} {score.value:.2f}{ends} n={score.n}{failures}  {score.signature}")


def _lines(path: Path) -> list[str]:
    from hengwen.errors import DataError
    from hengwen.io.yaml_config import read_text

    lines = read_text(path).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise DataError(f"{path}: no lines")
    return [line.removesuffix("\r") for line in lines]
