"""The document of corpus scores: each metric with its interval, and the paired test with a baseline."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Document, Table
from hengwen.documents.cells import SCORE, P, fields, interval_cell, right, thousands_cell
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, count, p_number, signed

if TYPE_CHECKING:
    from hengwen.objective.overlap.corpus import CorpusScore
    from hengwen.objective.overlap.paired_tests import SystemComparison
    from hengwen.runs.score_corpus import CorpusFileResult

TEST_NAMES = {
    "ar": Bilingual("近似随机化检验", "approximate randomization"),
    "bs": Bilingual("配对自助法", "paired bootstrap"),
}
_COLUMNS = (
    SCORE,
    right("value", "值", "value"),
    right("n", "文本数", "texts"),
    right("failures", "未得分", "failed"),
)
_BASELINE_COLUMNS = (right("baseline", "基线", "baseline"), right("difference", "差", "difference"), P)


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
    title = Bilingual("与参考文本的重合", "overlap with the references")
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
        Cell(text=signed(comparison.difference, 2), values={"": comparison.difference}),
        Cell(
            text=p_number(comparison.p),
            values={"": comparison.p, **fields(comparison, "n", "test", "trials", "seed")},
        ),
    )


def _test_words(comparison: SystemComparison) -> Bilingual:
    """Return the settings of a test."""
    trials, test = count(comparison.trials), TEST_NAMES[comparison.test]
    return Bilingual(
        f"p：{test.zh}，{trials} 次，种子 {comparison.seed}，{comparison.n} 个文本；未按指标数校正",
        f"p: {test.en}, {trials} trials, seed {comparison.seed}, n={comparison.n}; not corrected for the "
        "number of metrics",
    )
