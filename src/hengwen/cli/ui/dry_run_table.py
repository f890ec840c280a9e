"""Print the output of ``--dry-run``."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.runs.estimate_plan import CostEstimate


def show_estimates(estimates: Sequence[CostEstimate], *, as_json: bool) -> None:
    """Print the estimated calls, tokens and cost of a run."""
    if as_json:
        typer.echo(json.dumps({"schema": 1, "expected": [asdict(estimate) for estimate in estimates]}))
        return
    if not any(estimate.usage.calls for estimate in estimates):
        typer.echo("no calls needed")
    for estimate in estimates:
        tokens = f"about {estimate.usage.input_tokens:,} tokens in and {estimate.usage.output_tokens:,} out"
        cost = (
            "unknown cost (the plan has no price)" if estimate.cost is None else f"about {estimate.cost:.4f}"
        )
        calls = f"{estimate.usage.calls:,} calls{_in_files(estimate)}"
        typer.echo(f"{estimate.backend} ({estimate.role}): {calls}, {tokens}, {cost}")


def _in_files(estimate: CostEstimate) -> str:
    """Return the number of batch files in words; "" if the calls are not sent as a batch."""
    from hengwen.runs.estimate_plan import BatchEstimate

    if not isinstance(estimate, BatchEstimate):
        return ""
    return f" in {estimate.files:,} batch {'file' if estimate.files == 1 else 'files'}"
