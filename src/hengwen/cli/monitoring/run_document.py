"""Describe a run in the JSON output of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hengwen.records import Run


def run_document(run: Run) -> dict[str, Any]:
    """Return id, plan, checkpoint and step of a run as JSON data."""
    return {"id": run.id, "plan": run.plan, "checkpoint": run.checkpoint, "step": run.step}
