"""The document of a dry run, and the line at the end of a run: calls, tokens and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from hengwen.documents.blocks import Cell, Document, Table
from hengwen.documents.cells import left, right, thousands_cell
from hengwen.engine.metered_backend import Bill
from hengwen.runs.run_plan import CostEstimate
from hengwen.text.language import Bilingual, say
from hengwen.text.numbers import count, counted, number

_ROLES = {"judge": say("judge"), "subject": say("subject")}
_UNKNOWN_COST = say("unknown cost: neither the plan nor --price IN,OUT states a price")


def dry_run_document(estimates: Sequence[CostEstimate]) -> Document:
    """Return the document of the estimates of a run."""
    calls = sum(estimate.usage.calls for estimate in estimates)
    columns = (
        left("backend", "后端", "backend"),
        left("role", "角色", "role"),
        right("calls", "调用", "calls"),
        right("input_tokens", "约输入词元", "about tokens in"),
        right("output_tokens", "约输出词元", "about tokens out"),
        right("cost", "约费用", "about cost"),
    )
    table = Table(
        key="calls",
        columns=columns,
        rows=tuple(map(_cells, estimates)),
        notes=_notes(estimates),
    )
    title = say("no calls needed")
    if calls:
        title = say("{calls} needed", calls=counted(calls, "call"), calls2=count(calls))
    return Document(
        kind="dry-run",
        title=title,
        blocks=(table,) if estimates else (),
        record={"schema": 1, "expected": [asdict(estimate) for estimate in estimates]},
    )


def _cells(estimate: CostEstimate) -> tuple[Cell, ...]:
    usage = estimate.usage
    return (
        Cell(text=estimate.backend),
        Cell(text=_ROLES.get(estimate.role, estimate.role), values={"": estimate.role}),
        *(thousands_cell(value) for value in (usage.calls, usage.input_tokens, usage.output_tokens)),
        Cell(text=_cost_text(estimate), values={"": estimate.cost}),
    )


def _cost_text(estimate: CostEstimate) -> str:
    currency = estimate.price.currency if estimate.price else ""
    return f"{number(estimate.cost, 4)} {currency}".rstrip()


def _notes(estimates: Sequence[CostEstimate]) -> tuple[Bilingual, ...]:
    listed = sorted({estimate.price.source for estimate in estimates if estimate.price} - {"plan", "--price"})
    notes = [_UNKNOWN_COST] if any(estimate.cost is None for estimate in estimates) else []
    notes += [say("prices: as listed on {day}", day=day) for day in listed]
    return tuple(notes)


def bill_text(bill: Bill) -> Bilingual:
    """Return the calls, tokens, cost and time of a command in a line."""
    usage = bill.usage
    sent, received = count(usage.input_tokens), count(usage.output_tokens)
    costs = " + ".join(f"{number(cost, 4)} {name}".rstrip() for name, cost in sorted(bill.costs.items()))
    seconds = number(bill.seconds, 1)
    if not usage.calls:
        return say("no paid calls; {seconds} s", seconds=seconds)
    zh, en = f"约 {costs}", f"about {costs}"
    if bill.has_unpriced_calls:
        zh = f"{zh}，另有调用价格未知" if costs else "费用未知"
        en = f"{en}, and calls without a known price" if costs else "unknown cost"
    return Bilingual(
        f"{count(usage.calls)} 次调用，输入 {sent} 词元，输出 {received} 词元；{zh}；{seconds} 秒",
        f"{counted(usage.calls, 'call')}, {sent} tokens in, {received} tokens out; {en}; {seconds} s",
    )
