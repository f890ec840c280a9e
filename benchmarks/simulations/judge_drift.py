"""How often drift of judge or model is named, and how often an unchanged or a worse one is called so."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.monitoring.judge_drift.simulations import (
    CASES,
    Case,
    by_length,
    share_of_wrong_names,
    verdict_shares,
)

from harness.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LENGTHS: Mapping[str, Mapping[str, float]] = {
    "nothing changed": {"longer": 0, "favours": 0},
    "judge favours length, longer answers": {},
    "model fallen by .08": {"longer": 0, "favours": 0, "model": 0.35},
    "judge favours length, fallen model, longer answers": {"model": 0.35},
}


def figures(samples: int) -> Iterator[Figure]:
    """Measure verdicts of re-judging, of anchors, and with the old judge on the later answers."""
    fewer, samples = samples, 5 * samples
    for name, (case, right) in CASES.items():
        for design, prompts, anchors in (
            ("60 x 3, judged again", 60, None),
            ("250 anchors, 150 x 3", 150, 250),
            ("300 anchors, 150 x 3", 150, 300),
        ):
            shares = verdict_shares(case, prompts, samples, anchors=anchors)
            yield _figure(f"{name}, {design}: named", shares.get(right, 0.0), low=0.95)
            wrong = share_of_wrong_names(shares, right)
            yield _figure(f"{name}, {design}: named wrong", wrong, high=0.02)
    for prompts in (15, 60, 150):
        stable = verdict_shares(Case(model=0.2), prompts, samples).get("stable", 0.0)
        yield _figure(f"model fallen by .046, {prompts} x 3: stable", stable, high=0.05)
    shares = verdict_shares(Case(), 60, samples)
    yield _figure("nothing changed, 60 x 3: judge named", _judge_named(shares), high=0.06)
    yield _figure("nothing changed, 60 x 3: model named", shares.get("model drifted", 0.0), high=0.06)
    raised = verdict_shares(Case(judge=-0.3), 60, fewer)
    yield _figure("judge up one level on 30 %, 60 x 3: judge named", _judge_named(raised), low=0.95)
    guessing = verdict_shares(Case(guessed=1.0), 60, fewer).get("stable", 0.0)
    yield _figure("a judge that reads nothing, 60 x 3: stable", guessing, high=0.05)
    stable = verdict_shares(Case(), 300, fewer).get("stable", 0.0)
    yield _figure("nothing changed, 300 x 3: stable", stable, low=0.87)
    for name, options in LENGTHS.items():
        for prompts in (30, 60, 150):
            draws = [by_length(prompts, seed, crossed=True, **options) for seed in range(fewer)]
            case = f"old judge on later answers, {name}, {prompts} x 3"
            counts = Counter(draw.verdict for draw in draws)
            for verdict in ("model drifted", "judge drifted", "both"):
                yield _figure(f"{case}: {verdict}", counts[verdict] / fewer)


def _judge_named(shares: Mapping[str, float]) -> float:
    return shares.get("judge drifted", 0.0) + shares.get("both", 0.0)


def _figure(case: str, value: float, low: float | None = None, high: float | None = None) -> Figure:
    return Figure(case=case, value=value, unit="", low=low, high=high)
