"""``plan_power``: which differences a plan can detect, and how many prompts a smaller one needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from hengwen.errors import ConfigError
from hengwen.monitoring.compare_runs import CollectedScores
from hengwen.monitoring.run_comparison import compare_scores
from hengwen.monitoring.tested_scores import named_scores, tested_scores
from hengwen.plans.plan import Plan, load_plan
from hengwen.records import Run, Scale
from hengwen.results.comparability import run_labels, same_prompts
from hengwen.results.comparisons import prompts_for
from hengwen.store.store import Store

SHARES = (1.0, 0.5, 0.25)
"""Shares of the detectable difference for which prompts are counted where no difference is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptsNeeded:
    """How many prompts detect a difference with a probability of 80 %."""

    difference: float
    prompts: int | None
    """None if even a million are not enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePower:
    """What a plan detects in one score.

    Examples:
        >>> ScorePower(address="t/s", problem="too few").needed
        ()
    """

    address: str
    """``TASK/SCORE``."""
    scale: Scale | None = None
    problem: str = ""
    """Why nothing can be computed; empty if it can."""
    prompts: int = 0
    """Common prompts of both runs, from whose differences the variance is estimated."""
    clusters: int = 0
    smallest_difference: float | None = None
    """Smallest true difference that these prompts detect with a probability of 80 %."""
    needed: tuple[PromptsNeeded, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPower:
    """The differences that a plan can detect in each score.

    Examples:
        >>> run = Run(id="r", plan="p", plan_hash="", checkpoint="a")
        >>> PlanPower(plan="p", baseline=run, other=run, scores=(), tests=0).tests
        0
    """

    plan: str
    baseline: Run
    other: Run
    scores: tuple[ScorePower, ...]
    tests: int
    """Number of scores whose tests are one family; the level is that of its maximum."""


def plan_power(
    store: Store,
    plan: Plan | str | Path,
    *,
    baseline: str | Run | None = None,
    other: str | None = None,
    scores: Sequence[str] = (),
    differences: Sequence[float] = (),
) -> PlanPower:
    """Return which differences two runs of a plan detect, and how many prompts a difference needs.

    The variance is that of the differences between two checkpoints on their common prompts; the power is that
    of a t test over clusters of prompts at the critical value of the family of all scores, as in ``hengwen
    compare``. More repeats lower the variance only as far as another pair of runs with them shows.

    Args:
        store: Holds the runs.
        plan: The plan, or its path.
        baseline: Id of a run, a prefix of the id, or the name of a checkpoint, which means its newest run;
            default: the pinned run, or the newest run of the plan.
        other: The run of another checkpoint, named in the same way; default: the newest run of another
            checkpoint on the same prompts.
        scores: Addresses (``TASK/SCORE``) of the only scores; default: the headline scores.
        differences: True differences to detect, on the scale of the scores; default: the smallest difference
            that the plan detects, half and a quarter of it.

    Raises:
        ConfigError: The plan has no two runs of different checkpoints, a name is unknown, or a difference is
            not above 0 or above the range of a scale.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import open_store, plan_power, run_plan
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(plan, store=store)
        ...     result = plan_power(store, plan, baseline="ckpt-2000", other="ckpt-4000")
        >>> result.scores[0].address, result.scores[0].prompts
        ('lyrics/lyric.total', 12)
    """
    for difference in differences:
        if not (isfinite(difference) and difference > 0):
            raise ConfigError(f"a difference to detect must be above 0, got {difference:g}")
    name = plan.name if isinstance(plan, Plan) else load_plan(plan).name
    runs = _runs(store, name, baseline, other)
    collected = CollectedScores(store, runs, run_labels(runs), common=False, with_lengths=False)
    views = tested_scores(runs, collected.table)
    chosen = named_scores(views, scores, "plan for") if scores else [v for v in views if v[0] == "headline"]
    pairs = [collected.pair(score, "headline") for _, score in chosen]
    results = []
    for pair, compared in zip(pairs, compare_scores(pairs), strict=True):
        span = None if pair.scale is None else pair.scale.high - pair.scale.low
        for difference in differences:
            if span is not None and difference > span:
                raise ConfigError(
                    f"a difference of {difference:g} is larger than the scale of {pair.address}, "
                    f"{span:g} wide; name the scores that it is meant for with --score"
                )
        test, smallest = compared.test, compared.detectable
        if test is None or compared.level is None or smallest is None or not test.error:
            problem = pair.problem or ("constant" if test and test.prompts and not test.error else "too few")
            results.append(ScorePower(address=pair.address, scale=pair.scale, problem=problem))
            continue
        targets = differences or [smallest * share for share in SHARES]
        results.append(
            ScorePower(
                address=pair.address,
                scale=pair.scale,
                prompts=test.prompts,
                clusters=test.clusters,
                smallest_difference=smallest,
                needed=tuple(
                    PromptsNeeded(difference=target, prompts=prompts_for(test, target, compared.level))
                    for target in targets
                ),
            )
        )
    tests = sum(not item.problem for item in results)
    return PlanPower(plan=name, baseline=runs[0], other=runs[1], scores=tuple(results), tests=tests)


def _runs(store: Store, plan: str, baseline: str | Run | None, other: str | None) -> tuple[Run, Run]:
    """Return the baseline, and the run of another checkpoint."""
    runs = store.runs(plan)
    if not runs:
        raise ConfigError(f"no runs of plan {plan!r} in {store.name}; see: hengwen run")
    finished = [run for run in runs if run.status == "finished"] or runs
    first = store.find(baseline, plan) if baseline is not None else store.baseline(plan) or finished[0]
    if other is not None:
        second: Run | None = store.find(other, plan)
    else:
        same, _ = same_prompts([first, *finished])
        second = next((run for run in same if run.checkpoint != first.checkpoint), None)
    if second is None or second.checkpoint == first.checkpoint:
        raise ConfigError(
            f"power needs runs of two checkpoints on the same prompts, and there is only {first.checkpoint!r}"
        )
    return first, second
