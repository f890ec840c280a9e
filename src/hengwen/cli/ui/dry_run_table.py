"""What ``--dry-run`` prints."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.runs.estimate_plan import CostEstimate


def show_expected(found: Sequence[CostEstimate], *, as_json: bool) -> None:
    """Print the calls, tokens and cost that a run would take."""
    if as_json:
        typer.echo(json.dumps({"schema": 1, "expected": [asdict(one) for one in found]}))
        return
    if not any(one.usage.calls for one in found):
        typer.echo("no calls: nobody is asked")
    for one in found:
        tokens = f"about {one.usage.input_tokens:,} tokens in and {one.usage.output_tokens:,} out"
        cost = "cost unknown: the plan has no price:" if one.cost is None else f"about {one.cost:.4f}"
        typer.echo(f"{one.backend} ({one.role}): {one.usage.calls:,} calls, {tokens}, {cost}")
