"""What ``--dry-run`` prints."""

from __future__ import annotations

import pytest

from hengwen.cli.ui.dry_run_table import show_estimates
from hengwen.records import Usage
from hengwen.runs.estimate_plan import CostEstimate

PAID = Usage(calls=1200, input_tokens=345678, output_tokens=9012)


def test_each_backend_has_a_line_with_calls_tokens_and_cost(capsys: pytest.CaptureFixture[str]) -> None:
    estimates = [
        CostEstimate(backend="jury", role="judge", usage=PAID, cost=1.25),
        CostEstimate(backend="poet", role="subject", usage=Usage(calls=3), cost=None),
    ]
    show_estimates(estimates, as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "jury (judge): 1,200 calls, about 345,678 tokens in and 9,012 out, about 1.2500",
        "poet (subject): 3 calls, about 0 tokens in and 0 out, unknown cost (the plan has no price)",
    ]


@pytest.mark.parametrize(
    "estimates", [[], [CostEstimate(backend="b", role="judge", usage=Usage(), cost=0.0)]]
)
def test_a_run_without_calls_is_named(
    estimates: list[CostEstimate], capsys: pytest.CaptureFixture[str]
) -> None:
    show_estimates(estimates, as_json=False)
    assert capsys.readouterr().out.startswith("no calls needed\n")
