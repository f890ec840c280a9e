"""The calls of runs by role and model: who asked, how often it failed, what it cost, and how long it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.documents.blocks import Cell, Details, Table
from hengwen.documents.cells import left, number_cell, right, thousands_cell
from hengwen.engine.budget import Price
from hengwen.records import Usage
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.documents.run.report import Report
    from hengwen.monitoring.judge_trust import JudgeTrust
    from hengwen.store.queries import ModelCalls

COST_NOTE = Bilingual(
    "费用按运行时已知的价格（计划、--price 或价目表）和单次调用计算；批量调用更便宜。",
    "Cost at the prices that the run knew (plan, --price or list), as single calls; batches cost less.",
)


def call_details(report: Report) -> Iterator[Details]:
    """Yield the table of calls, if there were any."""
    if not report.data.calls:
        return
    rows = tuple(_cells(item, report) for item in report.data.calls)
    table = Table(
        key="usage",
        columns=(
            left("role", "角色", "role"),
            left("judges", "评审", "judges"),
            left("model", "模型", "model"),
            right("calls", "调用", "calls"),
            right("failed_attempts", "失败的尝试", "failed attempts"),
            right("input_tokens", "输入", "input tokens"),
            right("output_tokens", "输出", "output tokens"),
            right("cost", "费用", "cost"),
            right("seconds", "平均用时，秒", "mean latency, s"),
        ),
        rows=rows,
        notes=(COST_NOTE,) if any(row[-2].text != NOTHING for row in rows) else (),
    )
    yield Details(title=Bilingual("调用、费用与用时", "Calls, cost and latency"), blocks=(table,))


def _cells(item: ModelCalls, report: Report) -> tuple[Cell, ...]:
    judges = [judge for judge in report.judges if item.role == "judge" and item.model in judge.models]
    price = _price(item, judges, report.data.runs[-1].facts)
    usage = Usage(calls=item.calls, input_tokens=item.input_tokens, output_tokens=item.output_tokens)
    cost = None if price is None else price.cost(usage)
    unit = f" {price.currency}" if price and price.currency else ""
    return (
        Cell(text=item.role),
        Cell(text=", ".join(f"{judge.task}/{judge.judge}" for judge in judges) or NOTHING),
        Cell(text=item.model or NOTHING),
        *map(thousands_cell, (item.calls, item.failed, item.input_tokens, item.output_tokens)),
        Cell(
            text=NOTHING if cost is None else f"{number(cost, 2 if cost >= 1 else 4)}{unit}",
            values={"": cost, "currency": price.currency if price else None},
        ),
        number_cell(item.seconds, 2),
    )


def _price(item: ModelCalls, judges: Sequence[JudgeTrust], facts: Mapping[str, Any]) -> Price | None:
    """Return the price that the judges of these calls had; None if they had none, or several."""
    prices: set[Price | None] = set()
    for judge in judges:
        settings = facts.get("tasks", {}).get(judge.task, {}).get("judges", {}).get(judge.judge, {})
        of_judge = list(zip(settings.get("models", ()), settings.get("prices", ()), strict=False))
        # a server may return a longer name, with the date of the model; of a panel, only its own price counts
        own = [price for model, price in of_judge if len(of_judge) == 1 or item.model.startswith(model)]
        prices.update(Price(**price) if price else None for price in own or (None,))
    return prices.pop() if len(prices) == 1 else None
