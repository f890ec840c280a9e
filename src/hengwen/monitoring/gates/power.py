"""``gate_powers`` estimates how likely gates are to pass with the plan's number of prompts, before a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.errors import ConfigError
from hengwen.monitoring.compare.compare_runs import CollectedScores
from hengwen.monitoring.gates.baselines import Baselines
from hengwen.monitoring.gates.comparisons import select_scores
from hengwen.monitoring.gates.evaluate_gates import run_under_test
from hengwen.monitoring.gates.sample_size import needed_prompts
from hengwen.monitoring.tested_scores import tested_scores
from hengwen.plans.gates import NoDriftTerm, NonInferiorTerm, ThresholdTerm
from hengwen.reports.view.build import run_labels
from hengwen.results.aggregate import prompt_values
from hengwen.results.comparisons import ALPHA
from hengwen.results.run_order import training_order
from hengwen.results.score_table import SeriesKey
from hengwen.stats.alpha_spending import alpha_at_look
from hengwen.stats.mean_interval import cluster_sums, jackknife
from hengwen.stats.power import POWER, detectable_effect, power_of_t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.compare.run_comparison import ScorePair
    from hengwen.monitoring.gates.results import TermKind
    from hengwen.plans.gates import Gate, NoDropTerm, Term
    from hengwen.plans.plan import Plan
    from hengwen.records import Run, Scale
    from hengwen.store import Store

Unknown = Literal[
    "", "no run", "no second run", "no values by prompt", "no spread", "not a test", "checkpoints"
]
"""Why the power (probability that a condition passes) is unknown. ``no spread``: all values, or all
differences between two runs, are equal. ``checkpoints``: the test counts checkpoints, not prompts."""


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
    """Number of prompts in the plan."""
    power: float | None = None
    """Probability that the condition passes a single test at a level of 5 %: for ``score`` if the true mean
    is that of the run, for ``noninferior`` if both checkpoints are equal."""
    power_at_first_look: float | None = None
    """For ``noninferior``, the probability of passing at the lower level (.03) of the first look at a
    baseline."""
    mean: float | None = None
    """For ``score``, the mean of the run."""
    provable: float | None = None
    """For ``score`` the true mean, for ``noninferior`` the margin, with which 80 % of runs would pass."""
    needed_prompts: int | None = None
    """Number of prompts with which 80 % of runs would pass; None if it is unknown or above a million."""
    falls: tuple[VisibleFall, ...] = ()
    """For ``no_drop``, the smallest fall of each score that the test usually detects."""
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class _Spread:
    """Mean of prompts' values or differences, and its standard error with the plan's number of prompts."""

    mean: float
    error: float
    clusters: float
    prompts_per_cluster: float

    @property
    def freedom(self) -> float:
        return max(1.0, self.clusters - 1)


@dataclass
class _Runs:
    """Read the run of the last checkpoint, and an earlier run to compare it with."""

    store: Store
    plan: Plan
    sizes: Mapping[str, int]
    newest: Run

    def pair(self, baseline: str) -> CollectedScores | None:
        """Return the scores of the last run and of a baseline; without a baseline, of the run before."""
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

    def spread(
        self, values: Sequence[float], clusters: Sequence[str] | None, task: str, ends: Sequence[float]
    ) -> _Spread | None:
        """Return mean and standard error of the values of prompts and of artificial prompts (``ends``)."""
        sums, sizes = cluster_sums(np.asarray(values, np.float64), clusters)
        count = len(sums)
        if count < 2:
            return None
        sums, sizes = np.append(sums, ends), np.append(sizes, np.ones(len(ends)))
        mean, error, _ = jackknife(sums, sizes)
        if error <= 1e-12 * abs(mean):
            return None
        ratio = self.sizes[task] / len(values)
        return _Spread(mean, error / sqrt(ratio), count * ratio, len(values) / count)


def gate_powers(
    store: Store | None, plan: Plan, gates: Sequence[Gate], sizes: Mapping[str, int]
) -> list[list[TermPower]]:
    """Return for each condition of each gate how likely it is to pass.

    Args:
        store: The store with earlier runs of the plan; None if there is no store.
        plan: The plan.
        gates: Its gates.
        sizes: Number of samples of each task.
    """
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
    task, _, name = term.address.partition("/")
    table = runs.store.table([runs.newest])
    keys = [SeriesKey(runs.newest.id, task, name, kind) for kind in ("scorer", "judge")]
    column = next((table.series[key] for key in keys if key in table.series), None)
    power = replace(power, runs=(runs.newest,), prompts=runs.sizes[task])
    if column is None or all(sample is None for sample in column.sample_ids):
        return replace(power, unknown="no values by prompt")
    values, clusters = prompt_values(column)
    scale = column.scale
    spread = runs.spread(values, clusters, task, () if scale is None else (scale.low, scale.high))
    power = replace(power, scale=scale)
    if spread is None:
        return replace(power, unknown="no spread")
    sign = 1 if term.operator in (">=", ">") else -1
    effect = sign * (spread.mean - term.threshold)
    distance = detectable_effect(spread.error, spread.freedom, ALPHA / 2, POWER, sides=1)
    clusters_needed = needed_prompts(effect, spread.error, max(2, round(spread.clusters)), ALPHA / 2)
    return replace(
        power,
        mean=sum(values) / len(values),
        power=power_of_t(effect, spread.error, spread.freedom, ALPHA / 2, sides=1),
        provable=term.threshold + sign * distance,
        needed_prompts=None
        if clusters_needed is None
        else round(clusters_needed * spread.prompts_per_cluster),
    )


def _margin_power(term: NonInferiorTerm, power: TermPower, runs: _Runs) -> TermPower:
    collected = runs.pair(term.baseline)
    if collected is None:
        return replace(power, unknown="no second run")
    task = term.address.partition("/")[0]
    power = replace(power, runs=collected.runs, prompts=runs.sizes[task])
    views = [
        view for _, view in tested_scores(collected.runs, collected.table) if view.address == term.address
    ]
    pair = collected.pair(views[0], "headline") if views else None
    if pair is None or pair.values is None or not pair.values.prompts:
        return replace(power, unknown="no values by prompt")
    spread = _difference_spread(pair, task, runs)
    power = replace(power, scale=pair.scale)
    if spread is None:
        return replace(power, unknown="no spread")
    clusters_needed = needed_prompts(term.margin, spread.error, max(2, round(spread.clusters)), ALPHA)
    return replace(
        power,
        power=power_of_t(term.margin, spread.error, spread.freedom, ALPHA, sides=1),
        power_at_first_look=power_of_t(
            term.margin, spread.error, spread.freedom, alpha_at_look(1, ALPHA), sides=1
        ),
        provable=detectable_effect(spread.error, spread.freedom, ALPHA, POWER, sides=1),
        needed_prompts=None
        if clusters_needed is None
        else round(clusters_needed * spread.prompts_per_cluster),
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
    tasks = [pair.address.partition("/")[0] for pair in pairs]
    power = replace(power, runs=collected.runs, prompts=min((runs.sizes[task] for task in tasks), default=0))
    if not pairs:
        return replace(power, unknown="no values by prompt")
    falls = []
    for pair, task in zip(pairs, tasks, strict=True):
        spread = _difference_spread(pair, task, runs)
        if spread is not None:
            fall = detectable_effect(spread.error, spread.freedom, ALPHA / len(pairs), POWER)
            falls.append(VisibleFall(address=pair.address, fall=fall, scale=pair.scale))
    return replace(power, falls=tuple(falls), unknown="" if falls else "no spread")


def _difference_spread(pair: ScorePair, task: str, runs: _Runs) -> _Spread | None:
    values = pair.values
    assert values is not None  # checked by the callers
    return runs.spread(values.differences, values.clusters, task, ())
