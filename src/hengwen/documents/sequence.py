"""The document of a sequence of scores: its level, and the metrics of its order."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Column, Details, Document, Sentence, Table
from hengwen.relevance_metrics.inference.sequence_metrics import MAIN_METRICS, METRICS, SequenceMetric
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, number, p_number, signed

if TYPE_CHECKING:
    from hengwen.relevance_metrics import MetricResult, SequenceSummary

_COLUMNS = (
    Column(key="metric", head=Bilingual("指标", "metric")),
    Column(key="value", head=Bilingual("值", "value"), align="right"),
    Column(key="null_mean", head=Bilingual("随机次序", "random order"), align="right"),
    Column(key="null_sd", head="sd", align="right"),
    Column(key="z", head="z", align="right"),
    Column(key="p", head="p", align="right"),
)
_STATEMENTS = 1 + sum(metric.statement is not None for metric in MAIN_METRICS)
"""Number of lines of an explanation about the level and the metrics; the others say what limits them."""


def sequence_document(summary: SequenceSummary) -> Document:
    """Return the document of a summary: its explanation, and its numbers."""
    lines = zip(summary.explain("zh").splitlines(), summary.explain("en").splitlines(), strict=True)
    sentences = [
        Sentence(text=Bilingual(zh, en), is_note=i >= _STATEMENTS) for i, (zh, en) in enumerate(lines)
    ]
    table = Table(
        key="metrics",
        columns=_COLUMNS,
        rows=tuple(_row(METRICS[name], result) for name, result in summary.metrics.items()),
    )
    return Document(
        kind="sequence",
        title=Bilingual(f"{summary.n} 个分数的序列", f"a sequence of {summary.n} scores"),
        blocks=(*sentences, Details(title=Bilingual("数值", "numbers"), blocks=(table,), is_open=False)),
        record={"schema": 1, **asdict(summary)},
    )


def _row(metric: SequenceMetric, result: MetricResult) -> tuple[Cell, ...]:
    p = NOTHING if result.p is None else p_number(result.p)
    return (
        Cell(text=metric.full_title, values={"": metric.name}),
        Cell(text=number(result.value, metric.decimals), values={"": result.value}),
        Cell(text=number(result.null_mean), values={"": result.null_mean}),
        Cell(text=number(result.null_sd), values={"": result.null_sd}),
        Cell(text=signed(result.z, 2), values={"": result.z}),
        Cell(text=p, values={"": result.p}),
    )
