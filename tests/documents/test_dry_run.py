"""What a dry run says."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.documents.dry_run import bill_text, dry_run_document
from hengwen.engine.metered_backend import Bill
from hengwen.records import Usage
from hengwen.runs.run_plan import CostEstimate
from hengwen.text.language import in_language

ONE = Usage(calls=1, input_tokens=1234, output_tokens=5)


@pytest.mark.parametrize(
    "estimates", [[], [CostEstimate(backend="b", role="judge", usage=Usage(), cost=0.0, price=None)]]
)
def test_a_run_without_calls_is_named(estimates: list[CostEstimate]) -> None:
    assert in_language(dry_run_document(estimates).title, "en") == "no calls needed"


@each_row(
    ("bill", "text"),
    [
        (Bill(seconds=1.25), "no paid calls; 1.2 s"),
        (
            Bill(usage=ONE, costs={"USD": 0.5}, seconds=2),
            "1 call, 1,234 tokens in, 5 tokens out; about 0.5000 USD; 2.0 s",
        ),
        (
            Bill(usage=ONE, has_unpriced_calls=True),
            "1 call, 1,234 tokens in, 5 tokens out; unknown cost; 0.0 s",
        ),
        (
            Bill(usage=ONE, costs={"": 1, "CNY": 2}, has_unpriced_calls=True),
            "1 call, 1,234 tokens in, 5 tokens out; about 1.0000 + 2.0000 CNY, and calls without a known "
            "price; 0.0 s",
        ),
    ],
    ids=["no call", "one price", "no price", "two currencies"],
)
def test_the_end_of_a_run_says_calls_tokens_cost_and_time(bill: Bill, text: str) -> None:
    assert bill_text(bill).en == text


def test_batch_files_are_a_column_only_of_batches() -> None:
    (table,) = dry_run_document(
        [CostEstimate(backend="b", role="judge", usage=Usage(calls=1), cost=0.5, price=None)]
    ).blocks
    assert [column.key for column in table.columns] == [
        "backend",
        "role",
        "calls",
        "input_tokens",
        "output_tokens",
        "cost",
    ]
