"""``evaluate_gates`` checks the gates of a plan (conditions on scores) on a stored run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError
from hengwen.monitoring.gates.baselines import Baselines
from hengwen.monitoring.gates.certificates import certificate_problem
from hengwen.monitoring.gates.comparisons import Comparer
from hengwen.monitoring.gates.drifts import DriftChecker
from hengwen.monitoring.gates.results import GateReport, GateResult, nothing_scored, worst
from hengwen.monitoring.gates.thresholds import Measured, threshold_result
from hengwen.monitoring.judge_trust import judge_trust
from hengwen.plans.gates import NoDriftTerm, NoDropTerm, ThresholdTerm, check_addresses, matching, parse_gate
from hengwen.plans.locations import locate
from hengwen.plans.plan import Plan, load_plan
from hengwen.results.aggregate import aggregate
from hengwen.results.decide import rewards_of
from hengwen.results.run_order import training_order
from hengwen.score_id import split_address
from hengwen.store.empty_answers import empty_answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.judges.calibration.artifact import Calibration
    from hengwen.monitoring.gates.results import NoCertificate, TermResult
    from hengwen.plans.gates import Gate, NonInferiorTerm, Term
    from hengwen.records import Run
    from hengwen.results.aggregate import Summary
    from hengwen.results.score_table import ScoreTable, SeriesKey
    from hengwen.store import Store


def evaluate_gates(
    store: Store,
    plan: Plan | str | Path,
    *,
    run: str | Run | None = None,
    baseline: str | Run | None = None,
    gates: Sequence[str] = (),
    calibrations: Sequence[Calibration] = (),
) -> GateReport:
    """Check gates (conditions on scores) on a stored run; a confidence bound or a test decides, not the mean.

    Args:
        store: The store with the runs. Unless the store is read-only, it also records which runs were tested
            against a baseline.
        plan: The plan with the gates, or its path.
        run: Id of the run, a prefix of the id, or the name of a checkpoint, which means its newest run;
            default: the newest run of the last checkpoint in training order.
        baseline: Baseline for gates that do not name one: a run, a checkpoint or ``git:REF``; default: the
            run that is pinned as baseline of the plan.
        gates: Gates to check instead of those of the plan.
        calibrations: Results of ``hengwen calibrate``. A gate on the scores of a judge that is not certified
            only warns.

    Returns:
        The result of each gate; ``exit_code`` summarizes them.

    Raises:
        ConfigError: There are no gates or no runs, the order of the checkpoints is not known, a gate is
            wrong, or a run that is named does not exist.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import evaluate_gates, open_store, run_plan
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(plan, store=store)
        ...     report = evaluate_gates(store, plan, gates=["lyrics/lyric.total >= 75"])
        >>> result = report.gates[0]
        >>> result.outcome, round(result.terms[0].value, 1), report.exit_code
        ('passed', 106.6, 0)
    """
    plan = plan if isinstance(plan, Plan) else load_plan(plan)
    parsed, locations = plan_gates(plan, gates)
    tested = run_under_test(store, plan, run)
    baselines = Baselines(store=store, plan=plan, run=tested, default=baseline)
    return evaluate_run(parsed, baselines, calibrations, locations=locations)


def plan_gates(plan: Plan, expressions: Sequence[str] = ()) -> tuple[list[Gate], list[str]]:
    """Return the gates to check, and for each gate its file and line, with which error messages begin."""
    if expressions:
        return [parse_gate(text) for text in expressions], [""] * len(expressions)
    if not plan.gates:
        raise ConfigError(f"plan {plan.name!r} has no gates; add gates: to the plan, or name one with --gate")
    locations = [locate(plan, "gates", index) for index in range(len(plan.gates))]
    return [spec.parsed for spec in plan.gates], locations


def run_under_test(store: Store, plan: Plan, name: str | Run | None = None) -> Run:
    """Return the run that gates check: the named run, or the newest run of the last checkpoint."""
    if name is not None:
        return store.find(name, plan.name)
    runs = store.latest(plan.name)
    if not runs:
        raise ConfigError(f"no runs of plan {plan.name!r} in {store.name}; see: hengwen run")
    _check_prompts(store, plan, runs)
    order = training_order(runs)
    if order.problem:
        raise ConfigError(f"{order.problem}; name the run to check: --run, or set step: in the plan")
    return order.runs[-1]


def _check_prompts(store: Store, plan: Plan, runs: Sequence[Run]) -> None:
    """Raise an error if a checkpoint later than those of ``runs`` was run, but only with other prompts."""
    names = [spec.name for spec in plan.checkpoints]
    newest = {run.checkpoint for run in runs}
    outdated = {run.checkpoint for run in store.left_out(plan.name)} - newest
    last = max((names.index(name) for name in newest if name in names), default=-1)
    later = [name for name in names[last + 1 :] if name in outdated]
    if later:
        raise ConfigError(
            f"{', '.join(later)} was run with other prompts than {runs[-1].checkpoint}; run it again: "
            "hengwen run, or name the run to check: --run"
        )


def evaluate_run(
    gates: Sequence[Gate],
    baselines: Baselines,
    calibrations: Sequence[Calibration] = (),
    *,
    locations: Sequence[str] = (),
) -> GateReport:
    """Check parsed gates (conditions on scores) on the tested run."""
    run = baselines.run
    evaluated = _RunUnderTest(
        run, baselines.store, baselines.store.table([run]), {item.address: item for item in calibrations}
    )
    comparer = Comparer(
        baselines=baselines, summary_of=evaluated.summary_of, is_certified=evaluated.is_certified
    )
    drift_checker = DriftChecker(
        baselines=baselines,
        table=evaluated.table,
        summary_of=evaluated.summary_of,
        is_certified=evaluated.is_certified,
    )
    results = []
    for gate, location in zip(gates, locations or [""] * len(gates), strict=True):
        try:
            check_addresses(gate, evaluated.addresses, f"{run.checkpoint} ({run.id})")
            results.append(_gate_result(gate, evaluated, comparer, drift_checker))
        except ConfigError as error:
            raise ConfigError(f"{location}{error}") from None
    used = {
        address
        for gate, result in zip(gates, results, strict=True)
        for terms in zip(gate.terms, result.terms, strict=True)
        for address in _used_addresses(*terms, evaluated)
    }
    unfinished = () if run.status == "finished" else (f"the run {run.id} is {run.status}, not finished",)
    warnings = (*unfinished, *dict.fromkeys(baselines.warnings))
    return GateReport(
        plan=run.plan,
        run=run,
        gates=tuple(results),
        warnings=warnings,
        judges=judge_trust(baselines.store, [run], calibrations, used=used),
        empty=tuple(empty_answers(baselines.store, [run], [run.checkpoint])),
        rewards=tuple(sorted(used & rewards_of([run]))),
    )


@dataclass
class _RunUnderTest:
    run: Run
    store: Store
    table: ScoreTable
    calibrations: Mapping[str, Calibration]
    summaries: Mapping[str, Summary] = field(init=False)
    keys: Mapping[str, SeriesKey] = field(init=False)

    def __post_init__(self) -> None:
        by_key = {key: item for key, item in aggregate(self.table).items() if key.score.is_of_run}
        self.summaries = {key.address: self._with_prompts(key, summary) for key, summary in by_key.items()}
        self.keys = {key.address: key for key in by_key}

    def _with_prompts(self, key: SeriesKey, summary: Summary) -> Summary:
        """Return a summary; for a score of a group of answers, add the number of answered prompts."""
        expected = self.table.series[key].sample_count
        if summary.mean is None or summary.prompts_expected is not None or expected is None:
            return summary
        return replace(summary, prompts=self.answered[key.task], prompts_expected=expected)

    @cached_property
    def answered(self) -> Counter[str]:
        """Number of prompts that have an answer, by task."""
        return Counter(task for task, _ in self.store.sample_hashes(self.run))

    @property
    def addresses(self) -> list[str]:
        """Addresses (``TASK/SCORE``) of the scores that the run's plan names or that the run contains."""
        return list(dict.fromkeys((*self.run.score_order, *self.keys)))

    def summary_of(self, address: str) -> Summary | None:
        return self.summaries.get(address)

    def certificate_problem(self, address: str) -> NoCertificate | None:
        key = self.keys.get(address)
        return None if key is None else certificate_problem(key, self.table.series, self.calibrations)

    def is_certified(self, address: str) -> bool:
        return self.certificate_problem(address) is None

    def measured(self, address: str) -> Measured | None:
        key = self.keys.get(address)
        if key is None:
            return None
        return Measured(
            column=self.table.series[key],
            summary=self.summaries[address],
            calibration=self.calibrations.get(address),
        )


def _gate_result(
    gate: Gate, evaluated: _RunUnderTest, comparer: Comparer, drift_checker: DriftChecker
) -> GateResult:
    terms = [_term_result(term, evaluated, comparer, drift_checker) for term in gate.terms]
    outcomes = [term.enforced for term in terms if term.enforced is not None]
    uncertified = {
        evaluated.keys[address].score: problem
        for term, result in zip(gate.terms, terms, strict=True)
        for address in _used_addresses(term, result, evaluated)
        if (problem := evaluated.certificate_problem(address)) is not None
    }
    return GateResult(
        expression=gate.expression,
        tier=gate.tier,
        outcome=worst(term.outcome for term in terms),
        enforced=worst(outcomes) if outcomes and gate.tier == "fail" else None,
        terms=tuple(terms),
        uncertified=uncertified,
    )


def _term_result(
    term: Term, evaluated: _RunUnderTest, comparer: Comparer, drift_checker: DriftChecker
) -> TermResult:
    if isinstance(term, NoDropTerm):
        return _pattern_result(term, evaluated, comparer.result(term))
    if isinstance(term, NoDriftTerm):
        return _pattern_result(term, evaluated, drift_checker.result(term))
    return _score_result(term, evaluated, comparer)


def _pattern_result(
    term: NoDropTerm | NoDriftTerm, evaluated: _RunUnderTest, result: TermResult
) -> TermResult:
    """Return the result of ``no_drop`` or ``no_drift``, which may count for the exit code without a test."""
    if result.scores or result.drifts:
        return result
    has_certified = any(map(evaluated.is_certified, matching(term.pattern, evaluated.addresses)))
    return replace(result, enforced=result.outcome) if has_certified else result


def _score_result(
    term: ThresholdTerm | NonInferiorTerm, evaluated: _RunUnderTest, comparer: Comparer
) -> TermResult:
    if isinstance(term, ThresholdTerm):
        measured = evaluated.measured(term.address)
        if measured is None:
            return nothing_scored(term.text, term.measure, None)
        result = threshold_result(term, measured, evaluated.run.checkpoint)
        if term.measure != "score":
            return replace(result, enforced=result.outcome)
    else:
        result = comparer.result(term)
    return replace(
        result,
        task=split_address(term.address)[0],
        enforced=result.outcome if evaluated.is_certified(term.address) else result.enforced,
    )


def _used_addresses(term: Term, result: TermResult, evaluated: _RunUnderTest) -> list[str]:
    """Return the addresses of the scores whose values decide a condition."""
    if isinstance(term, (NoDropTerm, NoDriftTerm)):
        tested = [item.address for item in result.scores] + [item.address for item in result.drifts]
        return tested or matching(term.pattern, evaluated.addresses)
    if isinstance(term, ThresholdTerm) and term.measure != "score":
        return []
    return [term.address]
