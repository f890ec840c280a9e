"""The record of a report, which its JSON shows; its schema is ``schemas/run.json``."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from hengwen.documents.cells import fields
from hengwen.documents.decision import decision_record
from hengwen.documents.groups import group_records
from hengwen.documents.judges.trust import trust_record
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS
from hengwen.results.comparisons import ALPHA, family_size
from hengwen.results.decide import rewards_of
from hengwen.text.numbers import MAX_REASON
from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from hengwen.documents.run.report import Report
    from hengwen.relevance_metrics.trajectory import Trajectory
    from hengwen.results.aggregate import Summary
    from hengwen.results.comparisons import Comparison
    from hengwen.results.score_summaries import ScoreSummaries


def run_record(report: Report) -> dict[str, Any]:
    """Return a report as plain values, with numbers at full precision."""
    data, scores = report.data, report.scores
    comparisons = [
        _comparison(item, score, report)
        for score in scores
        for item in report.comparisons.get(score.address, ())
    ]
    return {
        "schema": 1,
        "plan": data.plan,
        "runs": [
            {
                **fields(run, "id", "checkpoint", "step", "status"),
                "scores": {
                    score.address: _score(summary, score)
                    for score in scores
                    if (summary := score.summaries[index]) is not None
                },
            }
            for index, run in enumerate(data.runs)
        ],
        "decision": decision_record(report.decision),
        "summary": {
            "tests": family_size(chain.from_iterable(report.comparisons.values())),
            "alpha": ALPHA,
            "correction": "step-down",
            "baseline": data.baseline or None,
            "comparisons": comparisons,
            "findings": [
                {
                    "address": finding.address,
                    "weight": "alarm" if finding.is_alarm else "note",
                    "zh": finding.text.zh,
                    "en": finding.text.en,
                }
                for finding in report.findings
            ],
        },
        "sequences": {address: _trajectory(path) for address, path in report.trajectories.items()},
        "usage": {role: asdict(usage) for role, usage in data.usage.items()},
        "groups": group_records(data.groups, [run.id for run in data.runs]),
        "judges": trust_record(report.judges),
        "warnings": list(report.warnings),
        **({"rewards": sorted(rewards)} if (rewards := rewards_of(data.runs)) else {}),
    }


def _comparison(item: Comparison, score: ScoreSummaries, report: Report) -> dict[str, Any]:
    return {
        "address": score.address,
        "earlier": report.data.runs[item.earlier].id,
        "later": report.data.runs[item.later].id,
        "outcome": item.verdict,
        "difference": item.test.difference,
        "ci": item.interval,
        "family_ci": item.family_interval,
        "p": item.test.p,
        "p_adjusted": item.p_adjusted,
        "detectable": item.detectable,
        "prompts": item.test.prompts,
        "clusters": item.test.clusters,
    }


def _score(summary: Summary, score: ScoreSummaries) -> dict[str, Any]:
    return {
        **fields(summary, "n", "mean"),
        "ci": summary.interval,
        **fields(summary, "ends", "outside", "coverage", "bounds"),
        "failures": dict(summary.failures),
        "signature": " + ".join(summary.signatures),
        "comparability": dict(summary.comparability.parts),
        **fields(summary, "prompts", "prompts_expected", "prompt_coverage"),
        "first_messages": {
            status: one_line(message, MAX_REASON) for status, message in summary.first_messages.items()
        },
        **fields(summary, "not_applicable", "method"),
        "kind": score.kind,
        "scale": score.scale and fields(score.scale, "low", "high", "levels", "higher_is_better", "discrete"),
    }


def _trajectory(path: Trajectory) -> dict[str, Any]:
    return {
        **fields(path, "n", "first", "last"),
        **{metric.name: path.value(metric) for metric in MAIN_METRICS},
        "pairs": path.n * (path.n - 1) // 2 if path.is_compared else 0,
        **fields(path, "windows", "too_short"),
        "reason": path.reason.en,
    }
