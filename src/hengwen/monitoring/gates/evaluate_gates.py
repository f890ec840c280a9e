"""``evaluate_gates`` checks the gates of a plan (conditions on scores) on a stored run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hengwen.errors import ConfigError
from hengwen.judges.calibration.certify import Calibration
from hengwen.monitoring.gates.baselines import Baselines, TestedRun
from hengwen.monitoring.gates.comparisons import Comparer
from hengwen.monitoring.gates.results import GateReport, GateResult, TermResult, nothing_scored, worst
from hengwen.monitoring.gates.thresholds import threshold_result
from hengwen.monitoring.judge_trust import judge_trust
from hengwen.plans.gates import Gate, NoDropTerm, Term, ThresholdTerm, check_addresses, matching, parse_gate
from hengwen.plans.locations import locate
from hengwen.plans.plan import Plan, load_plan
from hengwen.records import Run
from hengwen.results.comparability import training_order
from hengwen.results.decide import rewards_of
from hengwen.score_id import split_address
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
    evaluated = TestedRun(run, baselines.store, {item.address: item for item in calibrations})
    comparer = Comparer(baselines, evaluated)
    results = []
    for gate, location in zip(gates, locations or [""] * len(gates), strict=True):
        try:
            check_addresses(gate, evaluated.addresses, f"{run.checkpoint} ({run.id})")
            results.append(_gate_result(gate, comparer))
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
        empty=baselines.store.empty_answers([run], [run.checkpoint]),
        rewards=tuple(sorted(used & rewards_of([run]))),
    )


def _gate_result(gate: Gate, comparer: Comparer) -> GateResult:
    evaluated = comparer.tested
    terms = [_term_result(term, comparer) for term in gate.terms]
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


def _term_result(term: Term, comparer: Comparer) -> TermResult:
    evaluated = comparer.tested
    if isinstance(term, NoDropTerm):
        return _pattern_result(term, evaluated, comparer.result(term))
    if isinstance(term, ThresholdTerm):
        if term.address not in evaluated.keys:
            return nothing_scored(term.text, term.measure, None)
        result = threshold_result(term, evaluated)
        if term.measure != "score":
            return replace(result, enforced=result.outcome)
    else:
        result = comparer.result(term)
    return replace(
        result,
        task=split_address(term.address)[0],
        enforced=result.outcome if evaluated.is_certified(term.address) else result.enforced,
    )


def _pattern_result(term: NoDropTerm, evaluated: TestedRun, result: TermResult) -> TermResult:
    """Return the result of ``no_drop``, which may count for the exit code without a test."""
    if result.scores:
        return result
    has_certified = any(map(evaluated.is_certified, matching(term.pattern, evaluated.addresses)))
    return replace(result, enforced=result.outcome) if has_certified else result


def _used_addresses(term: Term, result: TermResult, evaluated: TestedRun) -> list[str]:
    """Return the addresses of the scores whose values decide a condition."""
    if isinstance(term, NoDropTerm):
        tested = [item.address for item in result.scores]
        return tested or matching(term.pattern, evaluated.addresses)
    if isinstance(term, ThresholdTerm) and term.measure != "score":
        return []
    return [term.address]
