"""The document of a sequence of scores: its level, and the metrics of its order."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Cell, Details, Document, Sentence
from hengwen.documents.cells import P, left, number_cell, plain_p_cell, right, table_of
from hengwen.relevance_metrics.inference.sequence_metrics import MAIN_METRICS, METRICS
from hengwen.text.language import Bilingual
from hengwen.text.numbers import signed

if TYPE_CHECKING:
    from hengwen.relevance_metrics import SequenceSummary

_STATEMENTS = 1 + sum(metric.statement is not None for metric in MAIN_METRICS)
"""Number of lines of an explanation about the level and the metrics; the others say what limits them."""


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
        (right("z", "z", "z"), lambda row: Cell(text=signed(row[1].z, 2), values={"": row[1].z})),
        (P, lambda row: plain_p_cell(row[1].p)),
        key="metrics",
    )
    return Document(
        kind="sequence",
        title=Bilingual(f"{summary.n} 个分数的序列", f"a sequence of {summary.n} scores"),
        blocks=(*sentences, Details(title=Bilingual("数值", "numbers"), blocks=(table,), is_open=False)),
        record={"schema": 1, **asdict(summary)},
    )
