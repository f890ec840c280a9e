"""The table of calls: who asked which model, and what it cost at the prices that the run knew."""

from __future__ import annotations

from typing import Any

import pytest
from rows import each_row
from score_rows import row_of

from hengwen.documents.blocks import Table
from hengwen.documents.run.report import ReportData, build_report
from hengwen.documents.run.sections import call_details
from hengwen.records import Run, Scale, Score
from hengwen.results.score_table import ScoreTable
from hengwen.store.queries import ModelCalls

YUAN = {"input": 2.0, "output": 8.0, "currency": "CNY", "source": "plan"}
DOLLARS = {"input": 1.0, "output": 4.0, "currency": "USD", "source": "plan"}


def calls_of(judges: dict[str, dict[str, Any]], *models: tuple[str, str]) -> dict[str, tuple[Any, ...]]:
    """Return the judges, the cost in words and its value by model; ``models`` are of judges."""
    parts = dict.fromkeys(("samples", "references", "repeats", "reducer", "anchors"), "")
    facts = {"tasks": {"t": {"judges": judges, **parts}}, "versions": {}}
    run = Run(id="r", plan="p", plan_hash="", checkpoint="c", facts=facts)
    rows = [
        row_of(
            run_id="r",
            task="t",
            checkpoint="c",
            sample_id="p",
            repeat=1,
            cluster="p",
            outcome=Score(
                name=f"{judge}.level",
                value=1.0,
                signature=f"{judge}|v:1",
                kind="judge",
                scale=Scale(low=0, high=1, levels=(0, 1)),
                details={"label": "A", "model": model},
            ),
        )
        for judge, model in models
    ]
    calls = [ModelCalls("judge", model, 10, 1, 1_000_000, 500_000, 1.5) for _, model in models]
    calls.append(ModelCalls("subject", "m", 1, 0, 10, 10, 0.5))
    data = ReportData(plan="p", runs=(run,), table=ScoreTable(rows), calls=tuple(dict.fromkeys(calls)))
    (section,) = call_details(build_report(data))
    (table,) = section.blocks
    assert isinstance(table, Table)
    keys = [column.key for column in table.columns]
    return {
        str(cells["model"].text): (cells["judges"].text, cells["cost"].text, cells["cost"].values[""])
        for row in table.rows
        for cells in [dict(zip(keys, row, strict=True))]
    }


def test_a_model_has_its_judge_and_the_cost_of_its_tokens() -> None:
    judges = {"a": {"models": ["large"], "prices": [YUAN]}, "b": {"models": ["small"], "prices": [DOLLARS]}}
    shown = calls_of(judges, ("a", "large-2026-01-01"), ("b", "small"))
    assert shown["large-2026-01-01"] == ("t/a", "6.00 CNY", 6.0)
    assert shown["small"] == ("t/b", "3.00 USD", 3.0)
    assert shown["m"] == ("–", "–", None)


def test_judges_that_share_a_model_share_its_line() -> None:
    judge = {"models": ["large"], "prices": [YUAN]}
    assert calls_of({"a": judge, "b": judge}, ("a", "large"), ("b", "large"))["large"] == (
        "t/a, t/b",
        "6.00 CNY",
        6.0,
    )


@each_row(
    "judge",
    [
        pytest.param({}, id="older-run"),
        pytest.param({"models": ["large"], "prices": [None]}, id="no-price"),
        pytest.param({"models": ["x", "y"], "prices": [YUAN, DOLLARS]}, id="member-of-a-panel-unknown"),
    ],
)
def test_a_cost_that_is_not_known_is_not_guessed(judge: dict[str, Any]) -> None:
    assert calls_of({"a": judge}, ("a", "large"))["large"] == ("t/a", "–", None)


def test_judges_with_different_prices_of_one_model_have_no_cost_together() -> None:
    judges = {"a": {"models": ["large"], "prices": [YUAN]}, "b": {"models": ["large"], "prices": [DOLLARS]}}
    assert calls_of(judges, ("a", "large"), ("b", "large"))["large"] == ("t/a, t/b", "–", None)
