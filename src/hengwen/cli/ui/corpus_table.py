"""Print the values of ``hengwen score --refs REF HYP``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hengwen.objective.overlap.corpus import CorpusScore
    from hengwen.objective.overlap.paired_tests import SystemComparison
    from hengwen.runs.score_corpus import CorpusFileResult

TEST_NAMES = {"ar": "approximate randomization", "bs": "paired bootstrap"}


def print_corpus_scores(result: CorpusFileResult) -> None:
    """Print each metric with its interval and signature, and the difference to the baseline."""
    for score in result.scores:
        failures = f", {score.failures} failed" if score.failures else ""
        typer.echo(f"{score.name} {_value(score)} n={score.n}{failures}  {score.signature}")
    for baseline, comparison in zip(result.baseline, result.comparisons, strict=True):
        typer.echo(f"{baseline.name} of the baseline {_value(baseline)}, {_difference(comparison)}")


def print_corpus_json(result: CorpusFileResult) -> None:
    """Print all metrics and comparisons as one JSON object."""
    import json
    from dataclasses import asdict

    document: dict[str, object] = {"schema": 1, "scores": [asdict(score) for score in result.scores]}
    if result.comparisons:
        document["baseline"] = [asdict(score) for score in result.baseline]
        document["comparisons"] = [asdict(comparison) for comparison in result.comparisons]
    typer.echo(json.dumps(document, ensure_ascii=False))


def _value(score: CorpusScore) -> str:
    if score.interval is None:
        return f"{score.value:.2f}"
    return f"{score.value:.2f} [{score.interval[0]:.2f}, {score.interval[1]:.2f}]"


def _difference(comparison: SystemComparison) -> str:
    settings = f"{TEST_NAMES[comparison.test]}, {comparison.trials} trials, seed {comparison.seed}"
    return f"difference {comparison.difference:+.2f}, p {comparison.p:.4f} ({settings}, n={comparison.n})"
