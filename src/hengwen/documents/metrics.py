"""The documents of metrics of a file of texts, with tests against a baseline, and of a sequence of scores."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Details, Document, Sentence, Table
from hengwen.documents.cells import (
    SCORE,
    P,
    fields,
    interval_cell,
    left,
    number_cell,
    plain_p_cell,
    right,
    signed_cell,
    table_of,
    thousands_cell,
)
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS, METRICS
from hengwen.text.language import Bilingual, say
from hengwen.text.numbers import NOTHING, count, p_number, plural

if TYPE_CHECKING:
    from hengwen.objective.overlap.corpus import CorpusScore
    from hengwen.objective.overlap.paired_tests import SystemComparison
    from hengwen.relevance_metrics import SequenceSummary
    from hengwen.runs.score_corpus import CorpusFileResult

TEST_NAMES = {
    "ar": say("approximate randomization"),
    "bs": say("paired bootstrap"),
}
_COLUMNS = (
    SCORE,
    right("value", "值", "value"),
    right("n", "文本数", "texts"),
    right("failures", "未得分", "failed"),
)
_BASELINE_COLUMNS = (right("baseline", "基线", "baseline"), right("difference", "差", "difference"), P)

_STATEMENTS = 1 + sum(metric.statement is not None for metric in MAIN_METRICS)
"""Number of lines of an explanation about the level and the metrics; the others say what limits them."""


def corpus_document(result: CorpusFileResult) -> Document:
    """Return the document of the metrics of a text file."""
    record: dict[str, object] = {"schema": 1, "scores": [asdict(score) for score in result.scores]}
    rows = [_score_cells(score) for score in result.scores]
    if result.comparisons:
        record["baseline"] = [asdict(score) for score in result.baseline]
        record["comparisons"] = [asdict(comparison) for comparison in result.comparisons]
        pairs = zip(result.baseline, result.comparisons, strict=True)
        rows = [row + _baseline_cells(*pair) for row, pair in zip(rows, pairs, strict=True)]
    table = Table(
        key="scores",
        columns=_COLUMNS + (_BASELINE_COLUMNS if result.comparisons else ()),
        rows=tuple(rows),
        notes=(
            *dict.fromkeys(_test_words(comparison) for comparison in result.comparisons),
            *(f"{score.name}: {score.signature}" for score in result.scores),
        ),
    )
    title = say("overlap with the references")
    return Document(kind="corpus", title=title, blocks=(table,), record=record)


def _score_cells(score: CorpusScore) -> tuple[Cell, ...]:
    return (
        Cell(text=score.name, values={"": score.name, **fields(score, "tokenizer", "signature")}),
        _value_cell(score),
        thousands_cell(score.n),
        Cell(
            text=count(score.failures) if score.failures else NOTHING,
            values={"": score.failures, "first": str(score.details.get("first_failure", "")) or None},
        ),
    )


def _value_cell(score: CorpusScore) -> Cell:
    cell = interval_cell(score.value, score.interval, 2)
    return replace(cell, values={**cell.values, "confidence": score.confidence})


def _baseline_cells(baseline: CorpusScore, comparison: SystemComparison) -> tuple[Cell, ...]:
    return (
        _value_cell(baseline),
        signed_cell(comparison.difference, 2),
        Cell(
            text=p_number(comparison.p),
            values={"": comparison.p, **fields(comparison, "n", "test", "trials", "seed")},
        ),
    )


def _test_words(comparison: SystemComparison) -> Bilingual:
    """Return the settings of a test."""
    trials, test = count(comparison.trials), TEST_NAMES[comparison.test]
    return say(
        "p: {test}, {trials} trials, seed {seed}, n={n}; not corrected for the number of metrics",
        test=test,
        trials=trials,
        seed=comparison.seed,
        n=comparison.n,
    )


def sequence_document(summary: SequenceSummary) -> Document:
    """Return the document of a summary: its explanation, and its numbers."""
    lines = zip(summary.explain("zh").splitlines(), summary.explain("en").splitlines(), strict=True)
    sentences = [
        Sentence(text=Bilingual(zh, en), is_note=i >= _STATEMENTS) for i, (zh, en) in enumerate(lines)
    ]
    table = table_of(
        [(METRICS[name], result) for name, result in summary.metrics.items()],
        (
            left("metric", "指标", "metric"),
            lambda row: Cell(text=row[0].full_title, values={"": row[0].name}),
        ),
        (right("value", "值", "value"), lambda row: number_cell(row[1].value, row[0].decimals)),
        (right("null_mean", "随机次序", "random order"), lambda row: number_cell(row[1].null_mean)),
        (right("null_sd", "sd", "sd"), lambda row: number_cell(row[1].null_sd)),
        (right("z", "z", "z"), lambda row: signed_cell(row[1].z, 2)),
        (P, lambda row: plain_p_cell(row[1].p)),
        key="metrics",
    )
    return Document(
        kind="sequence",
        title=say("a sequence of {scores}", scores=plural(summary.n, "score"), n=summary.n),
        blocks=(*sentences, Details(title=say("numbers"), blocks=(table,), is_open=False)),
        record={"schema": 1, **asdict(summary)},
    )
