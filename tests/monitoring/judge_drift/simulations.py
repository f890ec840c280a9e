"""How often each verdict is given, in simulations with fixed seeds: skewed levels, three answers a prompt.

Levels have the shares .05, .1, .2, .35, .3. Half of the variance between answers belongs to their prompts. A
judge gives one time in ten a level beside the right one. A drift lowers a share of the answers by one level.
The slow tests assert these figures, and ``benchmarks/bench_monitoring.py`` prints them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from hengwen.monitoring.judge_drift.effects import (
    AnchorChanges,
    RejudgedAnswer,
    adjusted_effect,
    anchor_effect,
    judge_consistency,
    length_adjustment,
    paired_effect,
)
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift, decide

Levels = NDArray[np.int64]
SHARES = np.array([0.05, 0.1, 0.2, 0.35, 0.3])
EDGES = ndtri(np.cumsum(SHARES)[:-1])
UNIT = (0.0, 1.0)
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """What changed between two checkpoints."""

    judge: float = 0.0
    """Share of the answers that the judge of now puts one level lower, or higher if it is negative."""
    model: float = 0.0
    """Share of the later answers that are one level lower."""
    low_only: bool = False
    """Whether the judge changed only for answers at the second and the third level."""
    flips: float = 0.1
    """Share of verdicts that are one level too high or too low."""
    guessed: float = 0.0
    """Share of the answers that the judge of now does not read: it gives them the levels of others."""


class Simulation:
    """Draws the answers of two checkpoints and their verdicts."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case = case
        self.rng = np.random.default_rng(seed)

    def answers(self, prompts: NDArray[np.float64]) -> Levels:
        noise = self.rng.standard_normal((len(prompts), REPEATS))
        return np.searchsorted(EDGES, np.sqrt(0.5) * (prompts[:, None] + noise))

    def two_checkpoints(self, prompts: int) -> tuple[Levels, Levels]:
        effects = self.rng.standard_normal(prompts)
        before, after = self.answers(effects), self.answers(effects)
        return before, np.maximum(after - (self.rng.random(after.shape) < self.case.model), 0)

    def verdicts(self, levels: Levels, *, now: bool) -> NDArray[np.float64]:
        case, rng = self.case, self.rng
        chance = np.full(levels.shape, abs(case.judge) if now else 0.0)
        if case.low_only:
            chance = np.where((levels == 1) | (levels == 2), chance / (SHARES[1] + SHARES[2]), 0.0)
        step = np.sign(case.judge).astype(int) * (rng.random(levels.shape) < chance)
        seen = np.clip(levels - step, 0, 4)
        step = np.where(rng.random(levels.shape) < 0.5, 1, -1) * (rng.random(levels.shape) < case.flips)
        judged = seen + step
        judged = np.where(judged < 0, 1, np.where(judged > 4, 3, judged))  # the only neighbour
        if now and case.guessed:
            others = rng.permutation(judged.ravel()).reshape(judged.shape)
            judged = np.where(rng.random(judged.shape) < case.guessed, others, judged)
        return judged / 4


def rejudged(case: Case, prompts: int, seed: int) -> JudgedScoreDrift:
    """Return the verdict where the earlier answers are judged again."""
    simulation = Simulation(case, seed)
    before, after = simulation.two_checkpoints(prompts)
    then, again = simulation.verdicts(before, now=False), simulation.verdicts(before, now=True)
    now, repeat = simulation.verdicts(after, now=True), simulation.verdicts(before, now=True)
    names = [str(index) for index in range(prompts)]
    return decided(
        judge=paired_effect(then.mean(axis=1), again.mean(axis=1), names, scale=UNIT),
        model=paired_effect(again.mean(axis=1), now.mean(axis=1), names, scale=UNIT),
        consistency=judge_consistency(
            then.ravel(), [again.ravel(), repeat.ravel()], np.repeat(names, REPEATS)
        ),
    )


def by_length(
    prompts: int,
    seed: int,
    *,
    longer: float = 0.4,
    favours: float = 0.8,
    model: float = 0.0,
    crossed: bool = False,
) -> JudgedScoreDrift:
    """Return the verdict on a judge that raises long answers and a model that writes longer ones.

    With ``crossed``, the old judge judges the later answers too.
    """
    simulation = Simulation(Case(model=model), seed)
    rng = simulation.rng
    before, after = simulation.two_checkpoints(prompts)
    lengths = [np.exp(rng.normal(5 + more, 0.3, before.shape)) for more in (0, longer)]
    then = simulation.verdicts(before, now=False)

    def favoured(levels: Levels, long: NDArray[np.float64]) -> NDArray[np.float64]:
        chance = favours * np.clip((long - 100) / 200, 0, 1)
        return simulation.verdicts(np.minimum(levels + (rng.random(levels.shape) < chance), 4), now=True)

    again, now = favoured(before, lengths[0]), favoured(after, lengths[1])
    names = [str(index) for index in range(prompts)]
    if crossed:
        repeat, old = favoured(before, lengths[0]), simulation.verdicts(after, now=False)
        return decided(
            judge=paired_effect(then.mean(axis=1), again.mean(axis=1), names, scale=UNIT),
            model=paired_effect(then.mean(axis=1), old.mean(axis=1), names, scale=UNIT),
            interaction=paired_effect(
                (old - then).mean(axis=1), (now - again).mean(axis=1), names, scale=(-1.0, 1.0)
            ),
            consistency=judge_consistency(
                then.ravel(), [again.ravel(), repeat.ravel()], np.repeat(names, REPEATS)
            ),
        )
    earlier, later = (
        [
            RejudgedAnswer(prompt=name, cluster=name, length=round(long), new=value, old=old)
            for name, *answer in zip(names, lengths[index], values, then, strict=True)
            for long, value, old in zip(*answer, strict=True)
        ]
        for index, values in enumerate((again, now))
    )
    return decided(
        judge=paired_effect(then.mean(axis=1), again.mean(axis=1), names, scale=UNIT),
        model=paired_effect(again.mean(axis=1), now.mean(axis=1), names, scale=UNIT),
        length=length_adjustment(earlier, later),
    )


def by_anchors(case: Case, prompts: int, anchors: int, seed: int) -> JudgedScoreDrift:
    """Return the verdict where anchors of all levels alike show the change of the judge."""
    simulation = Simulation(case, seed)
    before, after = simulation.two_checkpoints(prompts)
    then, now = simulation.verdicts(before, now=False), simulation.verdicts(after, now=True)
    levels = np.arange(anchors) % 5
    changes = simulation.verdicts(levels, now=True) - simulation.verdicts(levels, now=False)
    names = [str(index) for index in range(max(prompts, anchors))]
    judge = anchor_effect(
        AnchorChanges(
            differences=changes.tolist(),
            clusters=names[:anchors],
            levels=levels.tolist(),
            answer_levels=np.rint(then * 4).astype(int).ravel().tolist(),
        ),
        scale=UNIT,
    )
    raw = paired_effect(then.mean(axis=1), now.mean(axis=1), names[:prompts], scale=UNIT)
    return decided(judge=judge, model=adjusted_effect(raw, judge, margin=0.04), arm="anchors")


def decided(**effects) -> JudgedScoreDrift:
    (score,) = decide([JudgedScoreDrift(address="t/s", margin=0.04, **effects)])
    return score


def verdict_shares(case: Case, prompts: int, samples: int, *, anchors: int | None = None) -> dict[str, float]:
    """Return the share of each verdict; without anchors, the earlier answers are judged again."""
    draws = (
        rejudged(case, prompts, seed) if anchors is None else by_anchors(case, prompts, anchors, seed)
        for seed in range(samples)
    )
    counts = Counter(score.verdict for score in draws)
    return {verdict: count / samples for verdict, count in counts.items()}


def share_of_wrong_names(shares: dict[str, float], right: str) -> float:
    """Return the share of reports that name anything else than the right drift."""
    return sum(share for verdict, share in shares.items() if verdict not in (right, "cannot tell"))


CASES = {
    "judge": (Case(judge=0.2), "judge drifted"),
    "judge at low levels": (Case(judge=0.2, low_only=True), "judge drifted"),
    "model": (Case(model=0.4), "model drifted"),
}
