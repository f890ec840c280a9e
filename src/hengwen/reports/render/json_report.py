"""Render a report as one JSON object; ``report.schema.json`` is its published schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from hengwen.relevance_metrics.inference.sequence_metrics import MAIN_METRICS
from hengwen.results.comparisons import ALPHA
from hengwen.text.numbers import MAX_REASON
from hengwen.text.safety import one_line, sanitize

if TYPE_CHECKING:
    from hengwen.records import Run, Scale
    from hengwen.relevance_metrics.summaries.trajectory import Trajectory
    from hengwen.reports.view.models import ScoreView, View
    from hengwen.results.aggregate import Summary
    from hengwen.results.comparisons import Comparison

SCHEMA = 1


def to_json(view: View) -> dict[str, Any]:
    """Return the report as a dict of plain values, with numbers at full precision.

    Examples:
        >>> from hengwen.reports import ReportData, build_view
        >>> from hengwen.results.score_table import ScoreTable
        >>> to_json(build_view(ReportData(plan="p", runs=(), table=ScoreTable())))["runs"]
        []
    """
    return {
        "schema": SCHEMA,
        "plan": view.plan,
        "runs": [_run(run, i, view.scores) for i, run in enumerate(view.runs)],
        "summary": {
            "tests": view.tests,
            "alpha": ALPHA,
            "correction": "holm",
            "baseline": view.baseline or None,
            "comparisons": [
                _comparison(item, score, view.runs) for score in view.scores for item in score.comparisons
            ],
            "findings": [
                {"address": item.address, "weight": item.weight, "zh": item.zh, "en": item.en}
                for item in view.findings
            ],
        },
        "sequences": {score.address: _trajectory(score.trajectory) for score in view.scores},
        "usage": {
            role: {
                "calls": usage.calls,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            }
            for role, usage in view.usage.items()
        },
        "warnings": list(view.warnings),
        **({"pending_calls": view.pending_calls} if view.pending_calls else {}),
    }


def to_json_text(view: View) -> str:
    """Return the report as JSON text that is valid UTF-8 and ends with a line feed."""
    return json.dumps(sanitize(to_json(view)), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def json_schema() -> dict[str, Any]:
    """Return the published JSON schema of ``to_json``."""
    text = files("hengwen.reports.render").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _comparison(item: Comparison, score: ScoreView, runs: tuple[Run, ...]) -> dict[str, Any]:
    is_worse = item.significant and (item.test.difference < 0) == score.higher_is_better
    return {
        "address": score.address,
        "earlier": runs[item.earlier].id,
        "later": runs[item.later].id,
        "outcome": "worse" if is_worse else "better" if item.significant else "no difference seen",
        "difference": item.test.difference,
        "ci": None if item.interval is None else list(item.interval),
        "p": item.test.p,
        "p_adjusted": item.p_adjusted,
        "detectable": item.detectable,
        "prompts": item.test.prompts,
        "clusters": item.test.clusters,
    }


def _run(run: Run, index: int, scores: tuple[ScoreView, ...]) -> dict[str, Any]:
    cells = ((score, score.cells[index]) for score in scores)
    return {
        "id": run.id,
        "checkpoint": run.checkpoint,
        "step": run.step,
        "status": run.status,
        "scores": {score.address: _cell(cell, score) for score, cell in cells if cell is not None},
    }


def _cell(cell: Summary, score: ScoreView) -> dict[str, Any]:
    return {
        "n": cell.n,
        "mean": cell.mean,
        "ci": None if cell.interval is None else list(cell.interval),
        "coverage": cell.coverage,
        "failures": dict(cell.failures),
        "signature": " + ".join(cell.signatures),
        "comparability": dict(cell.comparability.parts),
        "prompts": cell.prompts,
        "prompts_expected": cell.prompts_expected,
        "prompt_coverage": cell.prompt_coverage,
        "first_messages": {
            status: one_line(message, MAX_REASON) for status, message in cell.first_messages.items()
        },
        "not_applicable": cell.not_applicable,
        "method": cell.method,
        "kind": score.kind,
        "scale": _scale(score.scale),
    }


def _scale(scale: Scale | None) -> dict[str, Any] | None:
    if scale is None:
        return None
    return {
        "low": scale.low,
        "high": scale.high,
        "levels": None if scale.levels is None else list(scale.levels),
        "higher_is_better": scale.higher_is_better,
    }


def _trajectory(trajectory: Trajectory) -> dict[str, Any]:
    return {
        "n": trajectory.n,
        "first": trajectory.first,
        "last": trajectory.last,
        **{metric.name: trajectory.value(metric) for metric in MAIN_METRICS},
        "pairs": trajectory.n * (trajectory.n - 1) // 2 if trajectory.is_compared else 0,
        "windows": trajectory.windows,
        "too_short": trajectory.too_short,
        "reason": trajectory.reason.en,
    }
