"""A drift report as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.monitoring.drift.score_drift import DriftReport, ScoreDrift


def drift_json(report: DriftReport, judge_drift: Mapping[str, Any] | None = None) -> str:
    """Return the whole drift report as one JSON object."""
    document: dict[str, Any] = {
        "schema": 1,
        "plan": report.newest.plan,
        "runs": [
            {"id": run.id, "checkpoint": run.checkpoint, "step": run.step, "label": label}
            for run, label in zip(report.runs, report.labels, strict=True)
        ],
        "baseline": report.baseline.id,
        "pinned": report.pinned,
        "newest": report.newest.id,
        "before_baseline": report.before_baseline,
        "other_prompts": report.other_prompts,
        "unchecked": report.unchecked,
        "order_problem": report.order_problem,
        "alpha": report.alpha,
        "looks": asdict(report.looks),
        "families": {
            "differ": {"correction": "holm", "tests": report.differ_tests},
            "drift": {"correction": "holm", "tests": report.drift_tests},
        },
        "scores": [_score_document(score) for score in report.scores],
        "other_scores": report.other_scores,
        "judge_drift": judge_drift,
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _score_document(score: ScoreDrift) -> dict[str, Any]:
    document = asdict(score)
    if score.difference is not None:
        document["difference"]["interval"]["bounds"] = score.difference.interval.bounds
    slope = score.steps.slope if score.steps else None
    if slope is not None:
        document["steps"]["slope"] |= {
            "total": slope.total,
            "total_interval": slope.total_interval,
            "signal_to_noise": slope.signal_to_noise,
        }
    return document
