"""Judge drift reports of two made-up runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hengwen import JudgeDriftReport
from hengwen.monitoring.judge_drift.effects import Effect
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift
from hengwen.records import Run, Scale

BEFORE = Run(id="r1", plan="p", plan_hash="", checkpoint="a", started="2026-01-01T10:00:00+00:00")
AFTER = Run(id="r2", plan="p", plan_hash="", checkpoint="b", started="2026-01-02T10:00:00+00:00")
AGAIN = Run(
    id="r3",
    plan="p",
    plan_hash="",
    checkpoint="a",
    started="2026-01-02T11:30:00+00:00",
    rejudges="r1",
    status="finished",
)
CROSSED = replace(AGAIN, id="r5", checkpoint="b", started="2026-01-02T12:30:00+00:00", rejudges="r2")


def effect(difference: float = -0.05, p: float = 0.001, **fields: Any) -> Effect:
    values: dict[str, Any] = {
        "difference": difference,
        "p": p,
        "p_adjusted": p,
        "interval": (difference - 0.02, difference + 0.02),
        "interval_90": (difference - 0.015, difference + 0.015),
        "prompts": 60,
        "clusters": 60,
        "error": 0.01,
        "freedom": 59,
        "detectable": 0.029,
        "prompts_needed": 155,
    }
    return Effect(**{**values, **fields})


def score(**fields: Any) -> JudgedScoreDrift:
    values: dict[str, Any] = {
        "address": "t/j.level",
        "arm": "re-judged",
        "scale": Scale(low=0, high=1),
        "margin": 0.04,
        "judge": effect(),
        "model": effect(0.0, 0.4),
        "then": 0.7,
        "again": 0.65,
        "now": 0.65,
    }
    return JudgedScoreDrift(**{**values, **fields})


def report(*scores: JudgedScoreDrift, **fields: Any) -> JudgeDriftReport:
    values: dict[str, Any] = {"before": BEFORE, "after": AFTER, "again": AGAIN, "scores": scores}
    return JudgeDriftReport(**{**values, **fields})
