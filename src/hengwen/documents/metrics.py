"""The document of a sequence of scores."""

from __future__ import annotations

from dataclasses import asdict

from hengwen.documents.blocks import Cell, Details, Document, Sentence
from hengwen.documents.cells import (
    P,
    left,
    number_cell,
    plain_p_cell,
    right,
    signed_cell,
    table_of,
)
from hengwen.relevance_metrics import SequenceSummary
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS, METRICS
from hengwen.text.language import Bilingual, say
from hengwen.text.numbers import plural

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
