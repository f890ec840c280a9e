"""``drift_report``: do the checkpoints of a plan differ, and is the difference larger than usual?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError
from hengwen.monitoring.drift.assemble import FurtherEvidence, answer_scores
from hengwen.monitoring.drift.collect import collect_scores, decision_of
from hengwen.monitoring.drift.human_agreement import read_human_values
from hengwen.monitoring.drift.score_drift import DriftReport
from hengwen.monitoring.drift.series import TestedSeries
from hengwen.monitoring.judge_trust import judge_trust
from hengwen.monitoring.tested_scores import compare_groups
from hengwen.results.run_order import run_labels, training_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.monitoring.drift.score_drift import ScoreDrift
    from hengwen.records import Run
    from hengwen.results.comparisons import ComparisonVerdict
    from hengwen.results.run_order import RunOrder
    from hengwen.store import Store


def drift_report(
    store: Store,
    runs: Sequence[str | Run] = (),
    *,
    plan: str | None = None,
    baseline: str | Run | None = None,
    scores: Sequence[str] = (),
    human: str | Path | None = None,
) -> DriftReport:
    """Answer two questions for each tested score: do checkpoints differ, and does the score drift?

    First: do these checkpoints differ on prompts like these? All pairs of checkpoints and all scores are
    tested as one family by joint sign flips; the newest checkpoint is also compared with the mean of several
    earlier ones, by exchanging values within prompts. Second: is a difference more
    than checkpoints usually move? Two tests decide: a test of the slope of the means over the checkpoints,
    which allows for neighbours that move together, and a test of the newest mean against the means before
    it; Holm's method corrects their p-values for all scores. For both questions, the significance
    level falls with every run that is tested against the same baseline, so that a false alarm in any of these
    tests has a probability of at most 5 %, if checkpoints scatter independently.

    Args:
        store: Holds the runs. Unless the store is read-only, it also records that the newest run was tested
            against the baseline.
        runs: Run ids, prefixes of ids, or names of checkpoints, each of which means its newest run; default:
            the newest run of each checkpoint of the plan.
        plan: Name of the plan of the runs; default: the plan of the newest run.
        baseline: The first run that is tested, named in the same way as ``runs``; default: the pinned run of
            the plan, otherwise the first checkpoint. Earlier checkpoints are left out.
        scores: Addresses (``TASK/SCORE``) of the only scores to test; default: the scores of a report's
            summary (headline scores).
        human: A file with values that people gave checkpoints, prompts or answers; default: the human labels
            in the store.

    Returns:
        The report, with one record for each score; ``differs`` and ``drifts`` of a record are the two
        answers.

    Raises:
        ConfigError: There is no run, or a run or a score does not exist.
        DataError: The file of human values is malformed.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import drift_report, open_store, run_plan
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
        ...     report = drift_report(store, scores=["persona/persona_generic.level"])
        >>> (score,) = report.scores
        >>> score.differs, score.drifts
        ('differ', 'cannot be told from the usual movement')
        >>> round(score.difference.difference, 3), round(score.steps.independent.p, 3)
        (-0.333, 0.429)
    """
    human_values = None if human is None else read_human_values(Path(human))
    chosen, base = _chosen_runs(store, runs, plan, baseline)
    order = training_order(chosen)
    names = {run.id: label for run, label in zip(order.runs, run_labels(order.runs), strict=True)}
    tested, before = _from_baseline(order, base)
    labels = tuple(names[run.id] for run in tested)
    collected, others = collect_scores(store, tested, labels, scores)
    first_run, newest = tested[0], tested[-1]

    def count_look(question: str) -> int:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return store.count_look(f"{question}:{first_run.id}", newest, now)

    series = [TestedSeries.of(score) for score in collected]
    answered, looks = answer_scores(series, order_known=not order.problem, count_look=count_look)
    used = {score.address for score in answered}
    groups = () if order.problem else compare_groups(store, tested, used=used)
    evidence = FurtherEvidence(store, tested, human_values)
    decision = decision_of(collected, tested, order.problem, groups)
    newest_verdicts = {score.address: score.newest for score in decision.scores}
    return DriftReport(
        runs=tested,
        labels=labels,
        pinned=base is not None,
        before_baseline=tuple(names[run.id] for run in before),
        order_problem=order.problem,
        looks=looks,
        decision=decision,
        scores=tuple(
            _as_in_report(evidence.add(score, item), newest_verdicts.get(score.address))
            for score, item in zip(answered, series, strict=True)
        ),
        other_scores=others,
        other_prompts=() if runs else run_labels(store.left_out(plan)),
        unchecked=tuple(label for label, run in zip(labels, tested, strict=True) if not run.facts),
        groups=groups,
        judges=judge_trust(store, tested, used=used),
        empty=store.empty_answers(tested, labels),
    )


def _as_in_report(score: ScoreDrift, newest: ComparisonVerdict | None) -> ScoreDrift:
    """Return a score without a difference with the report's verdict: could one have been seen?"""
    if score.differs not in ("no difference seen", "too few prompts"):
        return score
    if newest not in ("no difference seen", "too few"):
        return score
    return replace(score, differs="too few prompts" if newest == "too few" else "no difference seen")


def _from_baseline(order: RunOrder, base: Run | None) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Return the runs from the baseline on, and those before it (none if the training order is unknown)."""
    if base is None:
        return order.runs, ()
    start = [run.id for run in order.runs].index(base.id)
    if not order.problem:
        return order.runs[start:], order.runs[:start]
    return (base, *order.runs[:start], *order.runs[start + 1 :]), ()


def _chosen_runs(
    store: Store, names: Sequence[str | Run], plan: str | None, baseline: str | Run | None
) -> tuple[list[Run], Run | None]:
    """Return the runs of the report, and the baseline if it is named or pinned."""
    if names:
        runs = list({run.id: run for run in (store.find(name, plan) for name in names)}.values())
    else:
        runs = store.latest(plan)
    if not runs:
        of_plan = "" if plan is None else f" of plan {plan!r}"
        raise ConfigError(f"no runs{of_plan} in {store.name}; see: hengwen run")
    plans = sorted({run.plan for run in runs})
    if len(plans) > 1:
        raise ConfigError(f"the runs belong to several plans: {', '.join(plans)}; name runs of one plan")
    if baseline is not None:
        base = store.find(baseline, runs[0].plan)
    else:
        pinned = store.baseline(runs[0].plan)
        if pinned is None or (names and pinned.id not in {run.id for run in runs}):
            return runs, None
        base = pinned
    if base.id in {run.id for run in runs}:
        return runs, base
    others = runs if names else [run for run in runs if run.checkpoint != base.checkpoint]
    return [*others, base], base
