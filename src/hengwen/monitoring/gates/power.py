"""``gate_powers`` estimates how likely gates are to pass with the plan's number of prompts, before a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING, Literal

from hengwen.errors import ConfigError
from hengwen.monitoring.compare_runs import CollectedScores
from hengwen.monitoring.gates.baselines import Baselines
from hengwen.monitoring.gates.comparisons import difference_sample, value_range
from hengwen.monitoring.gates.evaluate_gates import run_under_test
from hengwen.monitoring.gates.missing_scores import select_scores
from hengwen.monitoring.gates.sample_size import MIN_CLUSTERS, PromptSample
from hengwen.monitoring.tested_scores import tested_scores
from hengwen.plans.gates import NoDriftTerm, NonInferiorTerm, ThresholdTerm
from hengwen.results.aggregate import prompt_values, range_of
from hengwen.results.comparisons import ALPHA, family_level, min_clusters
from hengwen.results.run_order import run_labels, training_order
from hengwen.score_id import split_address
from hengwen.stats.paired_variance import paired_variance
from hengwen.stats.power import MIN_UNITS, POWER, alpha_at_look, detectable_effect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.gates.results import TermKind
    from hengwen.monitoring.run_comparison import ScorePair
    from hengwen.plans.gates import Gate, NoDropTerm, Term
    from hengwen.plans.plan import Plan
    from hengwen.records import Run, Scale
    from hengwen.store import Store

Unknown = Literal[
    "",
    "no run",
    "no second run",
    "no values by prompt",
    "no spread",
    "too few prompts",
    "too few to estimate",
    "not a test",
    "checkpoints",
]
"""Why the power (probability that a condition passes) is unknown. ``no spread``: all values, or all
differences between two runs, are equal. ``too few prompts``: with the plan's prompts, the condition is always
inconclusive. ``too few to estimate``: a result is possible, but below 12 clusters its power cannot be
estimated. ``checkpoints``: the test counts checkpoints, not prompts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleFall:
    """Smallest true fall of a score that ``no_drop`` detects with a probability of 80 %."""

    address: str
    fall: float
    scale: Scale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TermPower:
    """Power of one condition (probability that it passes) with the plan's number of prompts."""

    text: str
    kind: TermKind
    unknown: Unknown = ""
    runs: tuple[Run, ...] = ()
    """Runs from which it is estimated how much the prompts' values, or their differences, vary."""
    prompts: int = 0
    """Number of prompts of the score's task in the plan; for a pattern, the smallest number of any task."""
    power: float | None = None
    """Probability that the condition passes a single test at a level of 5 %, if the true mean is that of the
    run (``score``) or both checkpoints are equal (``noninferior``)."""
    power_at_first_look: float | None = None
    """For ``noninferior``, the same of the first test against a baseline, at a level of 3 %."""
    mean: float | None = None
    """For ``score``, its mean in the run; None if the power is unknown."""
    provable: float | None = None
    """True mean (``score``) or margin (``noninferior``) with which 80 % of runs would pass; None if none on
    the scale is enough."""
    needed_prompts: int | None = None
    """Number of prompts with which 80 % of runs would pass, or with which a result is possible if there are
    too few for any; None if it is unknown or above a million."""
    falls: tuple[VisibleFall, ...] = ()
    """For ``no_drop``, the smallest falls that the first test against a baseline detects."""
    scale: Scale | None = None


@dataclass
class _Runs:
    """Read the run of the last checkpoint, and an earlier run to compare it with."""

    store: Store
    plan: Plan
    sizes: Mapping[str, int]
    newest: Run

    def pair(self, baseline: str) -> CollectedScores | None:
        """Return the scores of the last run and of a baseline or, without one, of the run before the last."""
        try:
            before = Baselines(store=self.store, plan=self.plan, run=self.newest).find(baseline)
        except ConfigError:
            before = None
        if before is None or before.id == self.newest.id:
            earlier = reversed(training_order(self.store.latest(self.plan.name)).runs)
            before = next((run for run in earlier if run.id != self.newest.id), None)
        if before is None:
            return None
        runs = (before, self.newest)
        return CollectedScores(self.store, runs, run_labels(runs), common=True, with_lengths=False)


def gate_powers(
    store: Store | None, plan: Plan, gates: Sequence[Gate], sizes: Mapping[str, int]
) -> list[list[TermPower]]:
    """Return for each condition of each gate how likely it is to pass."""
    runs = None
    if store is not None and store.latest(plan.name):
        try:
            runs = _Runs(store, plan, sizes, run_under_test(store, plan))
        except ConfigError:  # the order of the checkpoints is not known
            runs = _Runs(store, plan, sizes, store.latest(plan.name)[-1])
    return [[_term_power(term, runs) for term in gate.terms] for gate in gates]


def _term_power(term: Term, runs: _Runs | None) -> TermPower:
    if isinstance(term, ThresholdTerm):
        power = TermPower(text=term.text, kind=term.measure)
        if term.measure != "score":
            return replace(power, unknown="not a test")
        return replace(power, unknown="no run") if runs is None else _threshold_power(term, power, runs)
    if isinstance(term, NonInferiorTerm):
        power = TermPower(text=term.text, kind="noninferior")
        return replace(power, unknown="no run") if runs is None else _margin_power(term, power, runs)
    if isinstance(term, NoDriftTerm):
        return TermPower(text=term.text, kind="no_drift", unknown="checkpoints")
    power = TermPower(text=term.text, kind="no_drop")
    return replace(power, unknown="no run") if runs is None else _fall_power(term, power, runs)


def _threshold_power(term: ThresholdTerm, power: TermPower, runs: _Runs) -> TermPower:
    task, _ = split_address(term.address)
    table = runs.store.table([runs.newest])
    keys = (key for key in table.series if key.address == term.address and key.score.is_of_run)
    column = next((table.series[key] for key in keys), None)
    power = replace(power, runs=(runs.newest,), prompts=runs.sizes[task])
    if column is None or column.is_group_score:
        return replace(power, unknown="no values by prompt")
    values, clusters = prompt_values(column)
    scale = column.scale
    sample, size = PromptSample.of(values, clusters, range_of(column) or ()), runs.sizes[task]
    power = replace(power, scale=scale)
    estimate = sample.at(size)
    if estimate is None:
        return _unestimated(power, sample)
    sign = 1 if term.operator in (">=", ">") else -1

    def effect(mean: float) -> float:
        return sign * (mean - term.threshold)

    distance = detectable_effect(estimate.error, estimate.freedom, ALPHA / 2, POWER, sides=1)
    provable = sample.without_ends(term.threshold + sign * distance, size)
    return replace(
        power,
        mean=sum(values) / len(values),
        power=sample.power(size, effect, ALPHA / 2),
        provable=provable if scale is None or scale.low <= provable <= scale.high else None,
        needed_prompts=sample.needed_prompts(effect, ALPHA / 2),
    )


def _unestimated(power: TermPower, sample: PromptSample) -> TermPower:
    """Return a power that the spread of the prompts' values, or the plan's number of prompts, leaves open."""
    if len(sample.sums) < MIN_CLUSTERS or power.prompts >= sample.fewest_prompts:
        return replace(power, unknown="no spread")
    return replace(power, unknown="too few prompts", needed_prompts=sample.fewest_prompts)


def _margin_power(term: NonInferiorTerm, power: TermPower, runs: _Runs) -> TermPower:
    collected = runs.pair(term.baseline)
    if collected is None:
        return replace(power, unknown="no second run")
    task, _ = split_address(term.address)
    power = replace(power, runs=collected.runs, prompts=runs.sizes[task])
    views = [
        view for _, view in tested_scores(collected.runs, collected.table) if view.address == term.address
    ]
    pair = collected.pair(views[0], "headline") if views else None
    if pair is None or pair.values is None or not pair.values.prompts:
        return replace(power, unknown="no values by prompt")
    sample, size = difference_sample(pair.values, value_range(collected, views[0])), runs.sizes[task]
    power = replace(power, scale=pair.scale)
    estimate = sample.at(size)
    if estimate is None:
        return _unestimated(power, sample)

    def effect(_: float) -> float:
        return term.margin

    margin = detectable_effect(estimate.error, estimate.freedom, ALPHA, POWER, sides=1)
    span = inf if pair.scale is None else pair.scale.high - pair.scale.low
    return replace(
        power,
        power=sample.power(size, effect, ALPHA),
        power_at_first_look=sample.power(size, effect, alpha_at_look(1, ALPHA)),
        provable=margin if margin < span else None,
        needed_prompts=sample.needed_prompts(effect, ALPHA),
    )


def _fall_power(term: NoDropTerm, power: TermPower, runs: _Runs) -> TermPower:
    collected = runs.pair(term.baseline)
    if collected is None:
        return replace(power, unknown="no second run")
    pairs = [
        collected.pair(view, "headline")
        for view in select_scores(term.pattern, tested_scores(collected.runs, collected.table))
    ]
    pairs = [pair for pair in pairs if pair.values is not None and pair.values.prompts]
    tasks = [split_address(pair.address)[0] for pair in pairs]
    power = replace(power, runs=collected.runs, prompts=min((runs.sizes[task] for task in tasks), default=0))
    if not pairs:
        return replace(power, unknown="no values by prompt")
    samples = [
        PromptSample.of(pair.values.differences, pair.values.clusters)
        for pair in pairs
        if pair.values is not None
    ]
    sizes = [runs.sizes[task] for task in tasks]
    level = alpha_at_look(1, ALPHA)
    counts = [sample.clusters(size) for sample, size in zip(samples, sizes, strict=True)]
    fewest = min_clusters(len(set(tasks)), level)
    if min(counts) < fewest:
        needed = max(ceil(fewest * sample.prompts_per_cluster - 1e-9) for sample in samples)
        return replace(power, unknown="too few prompts", needed_prompts=needed)
    if max(counts) < MIN_UNITS:
        needed = min(ceil(MIN_UNITS * sample.prompts_per_cluster - 1e-9) for sample in samples)
        return replace(power, unknown="too few to estimate", needed_prompts=needed)
    of_each = family_level([series for pair in pairs if (series := pair.series)], level)
    falls = []
    for pair, size, clusters in zip(pairs, sizes, counts, strict=True):
        fall = _visible_fall(pair, size, of_each) if clusters >= MIN_UNITS else None
        if fall is not None:
            falls.append(VisibleFall(address=pair.address, fall=fall, scale=pair.scale))
    return replace(power, falls=tuple(falls), unknown="" if falls else "no spread")


def _visible_fall(pair: ScorePair, prompts: int, level: float) -> float | None:
    values, scale = pair.values, pair.scale
    if values is None or values.cluster_count < MIN_CLUSTERS:
        return None
    span = scale.high - scale.low if scale is not None else inf
    repeats = [len(taken) for taken, _ in values.repeats]
    variance = paired_variance(
        values.differences, values.clusters, repeats, None, span=span if scale and scale.discrete else 0.0
    )
    fall = variance.smallest_difference(prompts, variance.repeats, level)
    return fall if fall and fall <= span else None
