"""Peer review of a plan: the judges of the plan compare the stored answers of its checkpoints in pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from hengwen.engine.dry_run import DryLedger
from hengwen.engine.metered_backend import CallContext
from hengwen.engine.pacing import Committer
from hengwen.errors import ConfigError, JudgeError
from hengwen.judges.pairwise import PairJudge
from hengwen.peer_review.battle_files import BattleFiles
from hengwen.peer_review.judging.match_run import MatchRun, Reviewer
from hengwen.peer_review.judging.rounds import judge_adaptively, judge_fixed
from hengwen.peer_review.judging.stored_answers import Contest, stored_contest
from hengwen.plans.overrides import resolve_plan
from hengwen.plans.suite import LoadedPlan, load_judges
from hengwen.records import Run
from hengwen.runs.estimate_plan import CostEstimate, estimates_of
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.runs.run_job import package_versions
from hengwen.runs.run_plan import run_session
from hengwen.runs.stopping import Interrupts, run_until_complete
from hengwen.store.store import opened_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.engine.budget import Bill
    from hengwen.plans.plan import Plan
    from hengwen.plans.suite import ConfiguredJudge, LoadedTask
    from hengwen.protocols import Backend, Ledger
    from hengwen.store.store import Store

CHECKPOINT = "peer-review"
"""Checkpoint name of the run under which the calls of a review are stored; reports do not list this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Which matches of a peer review are judged, and by whom; the argument ``pairing`` of ``judge_plan``.

    Examples:
        >>> Pairing(opponents=3).exclude_self
        True
    """

    opponents: int | None = None
    """Number of opponents of each model on each question; None for all."""
    matches: int | None = None
    """Maximum number of matches of an adaptive review, which chooses matches where the ranking is not sure;
    None for a review that is not adaptive."""
    exclude_self: bool = True
    """Whether a judge that is one of the models does not judge its own answers. A judge is a model if its
    backend generates the answers of the model, or has the name of the model."""


class ReviewJudge(NamedTuple):
    """A judge of one task that gave verdicts."""

    task: str
    judge: str
    models: tuple[str, ...]
    """Names of its model, as the server returned them."""
    signature: str
    """Signature of the judge that ``hengwen doctor`` tests with this model and rubric."""
    rubric_source: str
    """Rubric as the plan names it."""
    endpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBattles:
    """Battles that the judges of a plan gave."""

    files: BattleFiles
    """Battles with prompts and answers; ``failures`` counts verdicts that a judge failed to give."""
    judges: tuple[ReviewJudge, ...]
    failures: Mapping[str, int]
    """Number of failed verdicts by status."""
    skipped: int
    """Number of verdicts that were not asked for because of the budget."""
    first_message: str
    is_sure: bool | None
    """Whether an adaptive review ended because the order of every two models is sure (at 95 %); None for
    other reviews."""
    out_of_budget: bool
    """Whether calls were skipped because they might have exceeded the budget."""
    bill: Bill
    """What the calls have used and cost; replies that the store already had cost nothing."""


def judge_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    pairing: Pairing | None = None,
    judge: str | None = None,
    base_url: str | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> JudgedBattles:
    """Let the judges of a plan compare the stored answers of its checkpoints in pairs, in both orders.

    Every reply is stored; calling this function again pays only for calls without a usable reply.

    Args:
        plan: The plan, or its path. The models are its checkpoints. The answers to a task are compared by the
            judges of the task, each with its own rubric. If a judge has a panel (several backends), each
            backend is a judge of its own.
        store: An open store, or its path or URL, with stored answers of at least two checkpoints.
        pairing: Which matches are judged; default: every two models on each question.
        judge: ``PROVIDER/MODEL`` that replaces the model of every judge.
        base_url: URL of an OpenAI-compatible server for ``judge``.
        options: How the plan is run; ``concurrency`` is the number of matches that are judged at the same
            time, and ``progress`` is called with the text ``peer-review``.
        trust: Whether the plan may run code that it names, and use environment variables other than
            ``*_API_KEY``.

    Raises:
        ConfigError: The plan is wrong, a task has no judge with a model, two judges of a task have the same
            name, fewer than two checkpoints have stored answers, or every judge would judge its own answers.
        JudgeError: No judge gave a verdict. If the budget is the reason, the status of the error is
            ``budget``.
        StoreError: The store failed; committed replies are kept.
        TimeLimitError: The time limit is reached; the same call resumes.
        KeyboardInterrupt: The call was interrupted; the same call resumes.
    """
    resolved = resolve_plan(plan, judge=judge, base_url=base_url)
    with opened_store(store) as opened:
        review = _PlanReview(resolved, opened, pairing or Pairing(), options or RunOptions(), trust=trust)
        run = run_until_complete(review.execute)
    columns = run.columns
    if not columns.winner:
        raise _no_verdict(run)
    return JudgedBattles(
        files=BattleFiles(
            battles=columns.battles(),
            prompts=columns.texts,
            answers=columns.answers,
        ),
        judges=review.review_judges(run),
        failures=dict(run.failures),
        skipped=run.skipped,
        first_message=run.first_message,
        is_sure=review.is_sure,
        out_of_budget=review.resources.budget.stopped,
        bill=review.resources.budget.bill(),
    )


def estimate_judging(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    pairing: Pairing | None = None,
    judge: str | None = None,
    base_url: str | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of ``judge_plan`` with the same arguments, without any call.

    The estimate of an adaptive review is for ``pairing.matches`` matches, drawn at random. The review costs
    less if it ends earlier because the order of every two models is sure.
    """
    resolved = resolve_plan(plan, judge=judge, base_url=base_url)
    with opened_store(store) as opened:
        review = _PlanReview(
            resolved, opened, pairing or Pairing(), options or RunOptions(), trust=trust, dry=True
        )
        run_until_complete(review.execute)
    return estimates_of(review.resources)


class _PlanReview:
    """One review of a plan: its resources, models and judges."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        pairing: Pairing,
        options: RunOptions,
        *,
        trust: bool,
        dry: bool = False,
    ) -> None:
        self._suite: LoadedPlan = load_judges(plan, trust=trust)
        self._models = _models_of_backends(plan)
        checkpoints = [checkpoint.name for checkpoint in plan.checkpoints]
        self._contest: Contest = stored_contest(self._suite, store, checkpoints, options.limit)
        self._store, self._pairing, self._options = store, pairing, options
        self.resources = RunResources(self._suite, store, options, dry=dry)
        self.is_sure: bool | None = None
        self._reviewers: Mapping[str, Sequence[Reviewer]] = {}

    async def execute(self, interrupts: Interrupts) -> MatchRun:
        """Judge the matches and return them."""
        async with run_session(self.resources, interrupts):
            return await self._judge()

    async def _judge(self) -> MatchRun:
        ledger: Ledger = self._store.ledger()
        if self.resources.dry:
            ledger = DryLedger(ledger)
        committer = Committer(ledger)
        run = self._stored_run()
        context = CallContext(ledger, committer, run.id, self.resources.budget, self.resources.stopping)
        progress = self._options.progress
        self._reviewers = self._judges_of_tasks(context, run.id if self._options.fresh else "")
        matches = MatchRun(
            self._contest,
            self._reviewers,
            exclude_self=self._pairing.exclude_self,
            concurrency=self._options.concurrency,
            progress=None if progress is None else partial(progress, CHECKPOINT),
        )
        ledger.begin(run)
        ledger.commit()
        status: Literal["finished", "interrupted"] = "interrupted"
        try:
            await self._rounds(matches)
            status = "finished"
        finally:
            ledger.begin(replace(run, status=status))
            committer.flush()
        return matches

    def review_judges(self, run: MatchRun) -> tuple[ReviewJudge, ...]:
        """Return the judges that were asked, in the order of the plan."""
        return tuple(
            ReviewJudge(
                task,
                reviewer.name,
                tuple(sorted(run.models[task, reviewer.name])),
                reviewer.admission_signature,
                reviewer.rubric,
                reviewer.judge.backend.endpoint,
            )
            for task, reviewers in self._reviewers.items()
            for reviewer in reviewers
            if (task, reviewer.name) in run.models
        )

    async def _rounds(self, matches: MatchRun) -> None:
        seed = self._suite.plan.seed
        if self._pairing.matches is None:
            await judge_fixed(matches, self._contest, self._pairing.opponents, seed)
        else:
            self.is_sure = await judge_adaptively(matches, self._contest, self._pairing.matches, seed)

    def _stored_run(self) -> Run:
        """Return the run under which the calls of this review are stored."""
        first = self._contest.runs[0]
        earlier = [run for run in self._store.rejudgings(first) if run.checkpoint == CHECKPOINT]
        if earlier and not self._options.fresh:
            return replace(earlier[0], status="running")
        return Run(
            id=self.resources.new_run_id(),
            plan=self._suite.plan.name,
            plan_hash="",
            checkpoint=CHECKPOINT,
            started=datetime.now(UTC).isoformat(timespec="microseconds"),
            versions=package_versions(),
            seed=self._suite.plan.seed,
            rejudges=first.id,
        )

    def _judges_of_tasks(self, context: CallContext, cache_scope: str) -> dict[str, list[Reviewer]]:
        """Return the judges of each task; judges with the same backend share the limits of the backend."""
        backends = {
            name: self.resources.wrap(context, name, "judge", cache_scope)
            for name in self._suite.plan.used_backends
        }
        reviewers: dict[str, list[Reviewer]] = {}
        for task in self._suite.tasks:
            by_name: dict[str, Reviewer] = {}
            for configured in task.panel:
                for name in configured.spec.backend_names:
                    models = self._models.get(name, frozenset())
                    reviewer = Reviewer(
                        name=min(models) if len(models) == 1 else name,
                        models=models,
                        judge=_pair_judge(task, configured, backends[name]),
                        rubric=str(configured.spec.rubric),
                    )
                    if reviewer.name in by_name:
                        raise ConfigError(
                            f"task {task.spec.name!r}: two judges are {reviewer.name!r}, but a peer review "
                            "uses one rubric and one backend for each judge; keep one of these judges in the "
                            "plan"
                        )
                    by_name[reviewer.name] = reviewer
            reviewers[task.spec.name] = list(by_name.values())
        judged = {question.task.spec.name for question in self._contest.questions}
        without = sorted(name for name in judged if not reviewers[name])
        if without:
            raise ConfigError(
                f"task {without[0]!r} has no judge with a model; give its judges a backend or a panel of them"
            )
        return reviewers


def _no_verdict(run: MatchRun) -> ConfigError | JudgeError:
    """Return the error of a review in which no judge gave a verdict."""
    failures = run.columns.failures
    if not failures and not run.skipped:
        return ConfigError(
            "no verdict: every judge would judge its own answers; add a judge that is none of the models, or "
            "count own verdicts (--own)"
        )
    if not failures:
        return JudgeError("no verdict: the budget covers no call; raise the budget", status="budget")
    return JudgeError(
        f"no verdict: all {failures} failed; the first: {run.first_message}; once the judges answer, the "
        "same command asks them again",
        status=max(run.failures, key=run.failures.__getitem__),
    )


def _models_of_backends(plan: Plan) -> dict[str, frozenset[str]]:
    """Return for each backend the checkpoints whose answers it generates, or whose name it has."""
    models = {checkpoint.name: frozenset({checkpoint.name}) for checkpoint in plan.checkpoints}
    for checkpoint in plan.checkpoints:
        if checkpoint.backend:
            models[checkpoint.backend] = models.get(checkpoint.backend, frozenset()) | {checkpoint.name}
    return models


def _pair_judge(task: LoadedTask, configured: ConfiguredJudge, backend: Backend) -> PairJudge:
    spec = configured.spec
    instruction = spec.task_instruction
    return PairJudge(
        rubric=configured.rubric,
        backend=backend,
        language=spec.language,
        persona=task.persona,
        name=configured.name,
        task_instruction="" if instruction is None else instruction.in_language(spec.language),
    )
