"""What a dry run says."""

from __future__ import annotations

import pytest

from hengwen.documents.dry_run import dry_run_document
from hengwen.records import Usage
from hengwen.runs.estimate_plan import CostEstimate
from hengwen.text.language import in_language


@pytest.mark.parametrize(
    "estimates", [[], [CostEstimate(backend="b", role="judge", usage=Usage(), cost=0.0)]]
)
def test_a_run_without_calls_is_named(estimates: list[CostEstimate]) -> None:
    assert in_language(dry_run_document(estimates).title, "en") == "no calls needed"


def test_batch_files_are_a_column_only_of_batches() -> None:
    (table,) = dry_run_document(
        [CostEstimate(backend="b", role="judge", usage=Usage(calls=1), cost=0.5)]
    ).blocks
    assert [column.key for column in table.columns] == [
        "backend",
        "role",
        "calls",
        "input_tokens",
        "output_tokens",
        "cost",
    ]
