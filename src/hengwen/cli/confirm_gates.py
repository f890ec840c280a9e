"""``hengwen gate --confirm N``: give all prompts of a task N more answers, and check the gates again.

If only prompts with bad answers got more of them, every run would look better than it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.cli.ui.progress import progress_bar
from hengwen.errors import ConfigError
from hengwen.runs.options import RunOptions
from hengwen.runs.run_plan import run_resolved

if TYPE_CHECKING:
    from collections.abc import Collection

    from hengwen.monitoring.gates.baselines import Baselines
    from hengwen.monitoring.gates.results import GateReport, TermResult
    from hengwen.plans.plan import Plan
    from hengwen.records import Run
    from hengwen.store import Store

REPEATABLE = ("score", "noninferior")
"""Kinds of conditions whose result becomes more precise with more answers to each prompt."""


def tasks_to_confirm(report: GateReport) -> list[str]:
    """Return the tasks whose scores are too uncertain for a gate, in the order of the gates."""
    return list(dict.fromkeys(term.task for term in _uncertain(report)))


def _uncertain(report: GateReport) -> list[TermResult]:
    return [
        term
        for gate in report.gates
        for term in gate.terms
        if term.reason == "too uncertain" and term.kind in REPEATABLE
    ]


def confirm_run(report: GateReport, baselines: Baselines, repeats: int, *, quiet: bool) -> Baselines:
    """Generate further answers to all prompts of the tasks with inconclusive scores."""
    plan, run = baselines.plan, baselines.run
    tasks = tasks_to_confirm(report)
    compared = {term.baseline.id: term.baseline for term in _uncertain(report) if term.baseline is not None}
    checkpoints = dict.fromkeys([run.checkpoint, *(item.checkpoint for item in compared.values())])
    for checkpoint in checkpoints:
        _check_backend(plan, checkpoint)
    for baseline in compared.values():
        if baseline.checkpoint == run.checkpoint:
            raise ConfigError(
                f"--confirm: the baseline {baseline.id} is a run of {run.checkpoint!r} too, which cannot "
                "answer as at that time; name a baseline of another checkpoint"
            )
    for earlier in (run, *compared.values()):
        _check_not_fresh(baselines.store, earlier)
    more = plan.model_copy(
        update={
            "tasks": [
                task.model_copy(update={"repeats": _repeats(run, task.name, task.repeats) + repeats})
                if task.name in tasks
                else task
                for task in plan.tasks
            ]
        }
    )
    with progress_bar(quiet=quiet) as progress:
        options = RunOptions(progress=progress)
        result = run_resolved(more, baselines.store, options, trust=True, checkpoints=checkpoints)
    runs = {item.checkpoint: item for item in result.runs}
    for earlier in (run, *compared.values()):
        _check_answers(baselines.store, earlier, runs[earlier.checkpoint], tasks)
    return replace(
        baselines,
        run=runs[run.checkpoint],
        repeated={run_id: runs[item.checkpoint] for run_id, item in compared.items()},
    )


def _check_backend(plan: Plan, checkpoint: str) -> None:
    spec = next((item for item in plan.checkpoints if item.name == checkpoint), None)
    if spec is None:
        raise ConfigError(f"--confirm: the plan has no checkpoint {checkpoint!r} that could answer again")
    if spec.backend is None:
        raise ConfigError(
            f"--confirm: the answers of {checkpoint!r} are stored ones; no model can repeat them, so add "
            "repeats to its file, or prompts to the plan"
        )


def _check_not_fresh(store: Store, run: Run) -> None:
    """Raise an error if a run used ``--fresh``; a later run cannot reuse the answers of such a run."""
    if any(attempt.role == "subject" and attempt.cache_scope for attempt in store.attempts(run)):
        raise ConfigError(
            f"--confirm: run {run.id} was made with --fresh, so more answers cannot be added to it; set more "
            "repeats: in the plan, and run it again with --fresh"
        )


def _check_answers(store: Store, earlier: Run, later: Run, tasks: Collection[str]) -> None:
    """Raise an error unless a later run with more repeats contains all answers of an earlier run."""
    answers = _answers(store, earlier, tasks)
    if not answers.items() <= _answers(store, later, tasks).items():
        raise ConfigError(
            f"--confirm: the plan gives other answers than run {earlier.id} has, so more of them do not "
            "confirm it; run the plan, and compare the new runs"
        )


def _answers(store: Store, run: Run, tasks: Collection[str]) -> dict[tuple[str, str, int], str]:
    return {
        (response.task, response.sample_id, response.repeat): response.text
        for response in store.responses(run)
        if response.task in tasks
    }


def _repeats(run: Run, task: str, default: int) -> int:
    facts: dict[str, dict[str, dict[str, str]]] = dict(run.facts)  # type: ignore[arg-type]
    text = facts.get("tasks", {}).get(task, {}).get("repeats", "")
    return int(text) if text.isdigit() else default
