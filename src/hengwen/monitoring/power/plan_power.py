"""``plan_power``: which differences a plan can detect, and the cheapest size of a run to detect one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError
from hengwen.monitoring.power.answer_cost import answer_costs
from hengwen.monitoring.power.score_power import PowerSearch, ScorePower
from hengwen.monitoring.power.score_variance import VarianceCollector
from hengwen.plans.overrides import resolve_plan
from hengwen.plans.suite import load_suite
from hengwen.results.comparability import same_prompts
from hengwen.results.comparisons import ALPHA, family_level, independent_level
from hengwen.stats.power import POWER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.monitoring.power.answer_cost import AnswerCost
    from hengwen.plans.plan import Plan
    from hengwen.records import Run
    from hengwen.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPower:
    """The differences that a plan can detect in each score."""

    plan: str
    baseline: Run
    """The run from which variances are estimated."""
    other: Run | None
    """The run of another checkpoint whose differences from the baseline are used; None if there is none."""
    scores: tuple[ScorePower, ...]
    tests: int
    """Number of scores for which sizes of runs can be computed; their tests are one family."""
    is_joint: bool
    """Whether the level of a test is that of the family's maximum under joint flips of the differences of
    both runs; otherwise the tests count as independent, because only one run is used."""
    alpha: float
    power: float
    correlation: float
    """Assumed correlation between the prompts' true values at two checkpoints, used for scores of which only
    the baseline run has usable values."""
    budget: float | None


def plan_power(  # noqa: PLR0913 - keyword-only options
    store: Store,
    plan: Plan | str | Path,
    *,
    baseline: str | Run | None = None,
    other: str | None = None,
    scores: Sequence[str] = (),
    differences: Sequence[float] = (),
    power: float = POWER,
    correlation: float = 0.0,
    budget: float | None = None,
    trust: bool = False,
) -> PlanPower:
    """Return which differences a plan can detect, and the cheapest numbers of prompts and repeats to do so.

    A comparison of two checkpoints averages the differences of their prompts. The variance of a difference
    has a part between prompts and a part from the repeats of a prompt. Both parts are estimated from the
    baseline run and a run of another checkpoint on the same prompts. Without a second run, the variance
    between prompts is derived from an assumed correlation of the two checkpoints. The power is that of a t
    test over clusters of prompts, at the critical value of the family of all scores, as in ``hengwen
    compare``. With differences of two checkpoints for every score, this value has their correlations; else
    the scores count as independent.

    Args:
        store: Holds the runs.
        plan: The plan, or its path. The present size is the plan's numbers of samples and repeats.
        baseline: Id of the baseline run, a prefix of the id, or the name of a checkpoint, which means its
            newest run; default: the pinned run, or the newest run of the plan.
        other: The run of another checkpoint, named in the same way as ``baseline``; default: the newest run
            of another checkpoint on the same prompts.
        scores: Addresses (``TASK/SCORE``) of the only scores to plan for; default: the headline scores (main
            scores of the tasks).
        differences: True differences to detect, on the scale of the scores; default: the smallest difference
            that the present plan detects, and half and a quarter of this difference.
        power: Probability of detecting a difference, above .05 and below 1.
        correlation: Assumed correlation, in [0, 1), between the prompts' true values at two checkpoints. It
            is used for scores of which only the baseline run has usable values. The default 0 gives the
            largest numbers of prompts.
        budget: Maximum cost of each task in a run, at the prices of the plan; ``affordable`` is the size that
            detects the smallest difference within this cost.
        trust: See ``run_plan``.

    Raises:
        ConfigError: The plan has no run, a name is unknown, both runs are of one checkpoint, a number is out
            of range, or a budget is set and a backend has no price.

    Notes:
        Variances: ``stats.paired_variance``; power: ``stats.power``. All costs are those of one run of one
        checkpoint. If the number of prompts changes, the baseline has to be run again too.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import open_store, plan_power, run_plan
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(plan, store=store)
        ...     result = plan_power(store, plan, baseline="ckpt-1000", scores=["lyrics/lyric.total"])
        >>> (score,) = result.scores
        >>> score.present.prompts, round(score.present.smallest_difference, 1)
        (12, 13.7)
        >>> [requirement.cheapest.prompts for requirement in score.requirements]
        [22, 82, 320]
    """
    _check_numbers(differences, power, correlation, budget)
    suite = load_suite(resolve_plan(plan), trust=trust)
    first, second = _runs(store, suite.plan.name, baseline, other)
    collector = VarianceCollector(store, suite, first, second, correlation)
    items = [collector.collect(score) for score in collector.scores(scores)]
    planned = [item for item in items if not item.power.problem]
    series = [values for item in planned if (values := item.series)]
    is_joint = len(series) == len(planned)
    level = family_level(series) if is_joint else independent_level(len(planned))
    costs = answer_costs(suite, store, first)
    if budget is not None:
        _check_prices(costs)
    results = []
    for item in items:
        if item.power.problem or item.power.variance is None:
            results.append(item.power)
            continue
        search = PowerSearch(
            variance=item.power.variance,
            answer=costs[item.score.task],
            level=level,
            power=power,
            answers_per_prompt=collector.answers_per_prompt(item),
            span=inf if item.score.scale is None else item.score.scale.high - item.score.scale.low,
        )
        results.append(_planned(item.power, collector.present_size(item), search, differences, budget))
    return PlanPower(
        plan=suite.plan.name,
        baseline=first,
        other=second,
        scores=tuple(results),
        tests=len(planned),
        is_joint=is_joint,
        alpha=ALPHA,
        power=power,
        correlation=correlation,
        budget=budget,
    )


def _check_numbers(
    differences: Sequence[float], power: float, correlation: float, budget: float | None
) -> None:
    for difference in differences:
        if not (isfinite(difference) and difference > 0):
            raise ConfigError(f"a difference to detect must be above 0, got {difference:g}")
    if not ALPHA < power < 1:
        raise ConfigError(f"power must lie between {ALPHA:g} and 1, got {power:g}")
    if not 0 <= correlation < 1:
        raise ConfigError(f"correlation must lie in [0, 1), got {correlation:g}")
    if budget is not None and not budget > 0:
        raise ConfigError(f"budget must be above 0, got {budget:g}")


def _check_prices(costs: Mapping[str, AnswerCost]) -> None:
    unpriced = [backend for cost in costs.values() for backend in cost.unpriced]
    if unpriced:
        raise ConfigError(
            f"a budget needs prices: backend {unpriced[0]!r} has none; "
            "add price: {input: ..., output: ...} (per million tokens)"
        )
    if not any(cost.calls for cost in costs.values()):
        raise ConfigError("a budget needs calls: a run of this plan makes none, so its size costs nothing")


def _runs(
    store: Store, plan: str, baseline: str | Run | None, other: str | Run | None
) -> tuple[Run, Run | None]:
    """Return the baseline, and the run of another checkpoint."""
    runs = store.runs(plan)
    if not runs:
        raise ConfigError(f"no runs of plan {plan!r} in {store.name}; see: hengwen run")
    finished = [run for run in runs if run.status == "finished"] or runs
    first = store.find(baseline, plan) if baseline is not None else store.baseline(plan) or finished[0]
    if other is not None:
        second = store.find(other, plan)
        if second.checkpoint == first.checkpoint:
            raise ConfigError(
                f"{second.id} and the baseline are runs of {first.checkpoint!r}; name another checkpoint"
            )
        return first, second
    same, _ = same_prompts([first, *finished])
    return first, next((run for run in same if run.checkpoint != first.checkpoint), None)


def _planned(
    score: ScorePower,
    present: tuple[int, float],
    search: PowerSearch,
    differences: Sequence[float],
    budget: float | None,
) -> ScorePower:
    """Return which differences in one score the present run and other sizes of runs detect."""
    prompts, repeats = present
    if not differences:
        smallest = search.size(max(prompts, search.least), repeats).smallest_difference
        differences = [smallest * share for share in (1, 0.5, 0.25)] if smallest else []
    scale = score.scale
    for difference in differences:
        if scale is not None and difference > scale.high - scale.low:
            raise ConfigError(
                f"a difference of {difference:g} is larger than the scale of {score.address}, "
                f"{scale.low:g} to {scale.high:g}; name the scores that it is meant for with --score"
            )
    infinite_repeats = None
    if search.variance.repeat is not None and search.variance.between > 0 and prompts >= search.least:
        infinite_repeats = search.variance.smallest_difference(prompts, inf, search.level, search.power)
    return replace(
        score,
        level=search.level,
        present=search.size(prompts, repeats),
        infinite_repeats=infinite_repeats,
        requirements=tuple(search.requirement(difference, prompts, repeats) for difference in differences),
        affordable=None if budget is None else search.affordable(budget, repeats),
    )
