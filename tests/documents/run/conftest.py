"""The fixed report, and small builders for hand-made tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fixed_report import make_data
from score_rows import row_of

from hengwen.documents.run.report import ReportData
from hengwen.records import Failure, Outcome, Run, Score
from hengwen.results.aggregate import Summary
from hengwen.results.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def data() -> ReportData:
    """The fixed report."""
    return make_data()


@pytest.fixture
def make() -> Callable[..., ReportData]:
    """The fixed report with other text in all places where text comes from outside."""
    return make_data


@pytest.fixture
def cell() -> Callable[..., Summary]:
    """A cell with a mean and half the width of its interval."""

    def build(mean: float | None, half: float | None = None, *signatures: str) -> Summary:
        interval = None if mean is None or half is None else (mean - half, mean + half)
        return Summary(
            mean=mean,
            interval=interval,
            confidence=0.95,
            n=4,
            prompts=4,
            clusters=4,
            method="t",
            coverage=1.0,
            signatures=signatures or ("s|v:1",),
        )

    return build


@pytest.fixture
def table_of() -> Callable[..., ReportData]:
    """A report of {checkpoint: [values]} for one score; None is a failure."""

    def build(values: dict[str, list[float | None]], name: str = "a.x", **score: Any) -> ReportData:
        runs = tuple(
            Run(id=f"r{i}", plan="p", plan_hash="", checkpoint=checkpoint, order=i)
            for i, checkpoint in enumerate(values)
        )
        outcome: Outcome
        table = ScoreTable()
        for run, run_values in zip(runs, values.values(), strict=True):
            for i, value in enumerate(run_values):
                if value is None:
                    outcome = Failure(name=name, status="timeout", message="late", signature="a|v:1")
                else:
                    outcome = Score(name=name, value=value, **{"signature": "a|v:1", **score})
                table.add(
                    row_of(
                        run_id=run.id,
                        task="t",
                        checkpoint=run.checkpoint,
                        sample_id=f"s{i}",
                        repeat=1,
                        cluster=f"s{i}",
                        outcome=outcome,
                    )
                )
        return ReportData(plan="p", runs=runs, table=table)

    return build
