"""``judge_drift`` tells whether scores changed because of the model or because of its judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from hengwen.errors import ConfigError
from hengwen.monitoring.judge_drift.stored_verdicts import StoredVerdicts
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift, Reason, decide
from hengwen.monitoring.judge_trust import JudgeTrust, judge_trust
from hengwen.records import Run
from hengwen.results.comparability import training_order
from hengwen.results.comparisons import ALPHA
from hengwen.results.decide import rewards_of
from hengwen.store import Store

Problem = Literal["", "one checkpoint", "no judged scores"]
PASSES = (1, 2)
"""Numbers of the passes in which stored answers are judged again."""
CROSSED = 3
"""Number of the pass in which the old judge judges the later answers."""


class RunPair(NamedTuple):
    """An earlier run and a later run that are compared."""

    before: Run | None
    """Earlier run; None if the store has no other run to compare with."""
    after: Run


def choose_runs(
    store: Store,
    before: str | Run | None,
    after: str | Run | None,
    plan: str | None,
    *,
    may_be_equal: bool = False,
) -> RunPair:
    """Return the two runs to compare: those that are named, or the defaults."""
    latest = store.latest(plan)
    if not latest:
        raise ConfigError(f"no runs {f'of plan {plan!r} ' if plan else ''}in {store.name}; see: hengwen run")
    if training_order(latest).problem:
        latest = sorted(latest, key=lambda run: run.started)
    later = latest[-1] if after is None else store.find(after, plan)
    if before is not None:
        earlier = store.find(before, later.plan)
        if earlier.id == later.id and not may_be_equal:
            raise ConfigError(
                f"{before!r} is both the earlier and the later run ({later.id}); name an earlier run to "
                "compare with"
            )
        return RunPair(earlier, later)
    baseline = store.baseline(later.plan)
    if baseline is not None and baseline.id != later.id:
        return RunPair(baseline, later)
    ids = [run.id for run in latest]
    index = ids.index(later.id) if later.id in ids else len(ids)
    if index:
        return RunPair(latest[index - 1], later)
    others = [run for run in store.left_out(later.plan) if run.checkpoint != later.checkpoint]
    return RunPair(others[0] if others else None, later)


def pair_of_report(
    store: Store, names: Sequence[str | Run], baseline: str | Run | None, plan: str | None
) -> RunPair:
    """The two runs to compare for a drift report: its last run in training order, and an earlier run."""
    runs = list({run.id: run for run in (store.find(name, plan) for name in names)}.values())
    if len(runs) < 2:
        pair = choose_runs(store, None, runs[0].id if runs else None, plan)
    else:
        ordered = training_order(runs).runs
        pinned = store.baseline(ordered[-1].plan)
        pair = RunPair(pinned if pinned in ordered[:-1] else ordered[-2], ordered[-1])
    if baseline is not None:
        pair = pair._replace(before=store.find(baseline, pair.after.plan))
    return pair if pair.before != pair.after else pair._replace(before=None)


def rejudging_for(store: Store, pair: RunPair, number: int = 1) -> Run | None:
    """Return the newest run of a pass that judged the answers of the earlier run again for the later run."""
    if pair.before is None:
        return None
    return next(
        (
            run
            for run in store.rejudgings(pair.before)
            if run.facts.get("for_run") == pair.after.id and run.facts.get("pass", 1) == number
        ),
        None,
    )


def crossed_pair(pair: RunPair) -> RunPair:
    """Return a pair whose later answers are judged for its earlier run."""
    assert pair.before is not None
    return RunPair(pair.after, pair.before)


def _passes(store: Store, pair: RunPair) -> tuple[Run | None, Run | None]:
    """Return the runs that judged the earlier answers again, of which the second repeats the first."""
    first, second = (rejudging_for(store, pair, number) for number in PASSES)
    if (
        first is None
        or second is None
        or second.plan_hash != first.plan_hash
        or second.started < first.started
    ):
        return first, None
    return first, second


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDriftReport:
    """Verdicts on the judged scores of two checkpoints: did the model change, or the judge?"""

    before: Run | None
    """Run of the earlier checkpoint; None if the store has no other checkpoint."""
    after: Run
    """Run of the later checkpoint."""
    again: Run | None = None
    """Run that judged the earlier answers again; None if there is no such run."""
    repeat: Run | None = None
    """Run that judged them once more, which shows how far the judge repeats itself; None if there is none."""
    crossed: Run | None = None
    """Run in which the old judge judged the later answers; None if there is none."""
    scores: tuple[JudgedScoreDrift, ...] = ()
    """Reported scores, each followed by the scores of the single members of its panel (several models that
    judge together). By default, the judged scores of a report's summary are reported, in the order of the
    plan."""
    problem: Problem = ""
    """Why the report has no scores; empty if it has some."""
    alpha: float = ALPHA
    left_out_prompts: int = 0
    """Number of prompts that are left out because their content differs between the runs."""
    unchecked: tuple[str, ...] = ()
    """Checkpoints whose runs were made by an older version, which did not record the endpoints of judges."""
    judges: tuple[JudgeTrust, ...] = ()
    """What is known of each judge of the later run."""
    compared: tuple[str, str] | None = None
    """The old and the new judge whose stored scores are compared; None if answers were judged again."""
    rewards: tuple[str, ...] = ()
    """Addresses of the reported scores that the models were trained on."""

    @property
    def is_known(self) -> bool:
        """Whether the data suffice for a statement about the judge.

        The data do not suffice if no answers were judged again, and every score has the verdict ``cannot
        tell`` for one of these reasons: ``not judged again``, ``few anchors`` or ``not scored``.
        """
        unknown = ("not judged again", "few anchors", "not scored")
        return self.again is not None or any(score.reason not in unknown for score in self.scores)


def judge_drift(
    store: Store,
    before: str | Run | None = None,
    after: str | Run | None = None,
    *,
    plan: str | None = None,
    scores: Sequence[str] = (),
    judges: tuple[str, str] | None = None,
) -> JudgeDriftReport:
    """Tell whether the model changed between two checkpoints, or the judge that scored them.

    If ``rejudge`` has judged the earlier answers again, the judge's change is the mean of their new verdicts
    minus the mean of their old verdicts. The model's change is then the mean of the later answers minus the
    mean of the earlier answers, all judged by the present judge. If ``rejudge`` also let the old judge judge
    the later answers, the old judge measures the model's change, and the judge's change is tested on the
    later answers too. Without new verdicts, the judge's change is
    measured on anchors (fixed answers with human values) that both runs judged. The model's change is then
    the difference between the scores of the two runs minus the judge's change.

    Args:
        store: The store with the runs.
        before: Id of the earlier run, the start of its id, or a checkpoint name (its newest run); default:
            the pinned baseline of the plan, or else the checkpoint before ``after``.
        after: The later run, named like ``before``; default: the run of the last checkpoint in training
            order.
        plan: Name of the plan of both runs; default: the plan of ``after`` if it is named, or else of the
            newest run.
        scores: Addresses (``TASK/SCORE``) of the scores to report; default: the judged scores of a report's
            summary.
        judges: An old and a new judge whose stored scores of the same answers are compared, such as imported
            ones; nothing has to be judged again. Each is the name of a judge, or of one of its scores. Both
            runs may then be the same: only the judges are compared.

    Returns:
        A report with a verdict for each judged score and for each member of its panel. If there is only one
        checkpoint, or no judged score, ``problem`` of the report says so.

    Raises:
        ConfigError: A run or a score does not exist, or ``before`` and ``after`` name the same run.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import judge_drift, open_store, rejudge, run_plan
        >>> plan = files("hengwen.demo") / "data" / "plan.yaml"
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(plan, store=store)
        ...     _ = rejudge(plan, store=store)
        ...     report = judge_drift(store)
        >>> for score in report.scores:  # a rules judge does not drift
        ...     print(score.address, score.verdict, score.arm, score.judge.difference)
        lyrics/lyric_craft.level cannot tell re-judged 0.0
        persona/persona_generic.level model drifted re-judged 0.0
    """
    if judges is not None:
        return stored_judge_drift(store, before, after, judges, plan)
    return judge_drift_of(store, choose_runs(store, before, after, plan), scores)


def stored_judge_drift(
    store: Store,
    before: str | Run | None,
    after: str | Run | None,
    judges: tuple[str, str],
    plan: str | None = None,
) -> JudgeDriftReport:
    """Return the judge drift report of two judges that scored the same answers."""
    earlier, later = choose_runs(store, before, after, plan, may_be_equal=True)
    earlier = earlier or later
    verdicts = StoredVerdicts(store, earlier, later, None, None, None, is_stored=True)
    pairs = verdicts.judged_twice(*judges)
    drifts = decide([verdicts.stored_drift(old, new) for old, new in pairs])
    used = {score.address for pair in pairs for score in pair}
    return JudgeDriftReport(
        before=earlier,
        after=later,
        compared=judges,
        scores=tuple(_without_remedy(drift, has_model=earlier.id != later.id) for drift in drifts),
        left_out_prompts=sum(map(len, verdicts.differing.values())),
        judges=judge_trust(store, [earlier, later], used=used),
        rewards=tuple(sorted(used & rewards_of([earlier, later]))),
    )


def _without_remedy(drift: JudgedScoreDrift, *, has_model: bool) -> JudgedScoreDrift:
    """Return a score without advice to judge again, and without a model's change if there is one run."""
    reason: Reason = "judged once each" if drift.reason == "judged again once" else drift.reason
    return replace(drift, reason=reason, model=drift.model if has_model else None)


def judge_drift_of(
    store: Store, pair: RunPair, scores: Sequence[str] = (), *, skip_others: bool = False
) -> JudgeDriftReport:
    """Return the judge drift report of two runs."""
    if pair.before is None:
        return JudgeDriftReport(before=None, after=pair.after, problem="one checkpoint")
    crossed = rejudging_for(store, crossed_pair(pair), CROSSED)
    verdicts = StoredVerdicts(store, pair.before, pair.after, *_passes(store, pair), crossed)
    names = verdicts.judged_scores(scores, skip_others=skip_others)
    used = {name.address for name in names}
    drifts = [drift for name in names for drift in verdicts.drifts(name)]
    return JudgeDriftReport(
        before=pair.before,
        after=pair.after,
        again=verdicts.again,
        repeat=verdicts.repeat,
        crossed=crossed,
        scores=decide(drifts),
        problem="" if names else "no judged scores",
        left_out_prompts=sum(map(len, verdicts.differing.values())),
        unchecked=tuple(run.checkpoint for run in (pair.before, pair.after) if not run.facts),
        judges=judge_trust(store, [pair.before, pair.after], used=used),
        rewards=tuple(sorted(used & rewards_of([pair.before, pair.after]))),
    )
