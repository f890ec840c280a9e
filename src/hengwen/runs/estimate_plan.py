"""``estimate_plan``: estimate the calls, tokens and cost of a run without any call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.engine.budget import total
from hengwen.plans.overrides import resolve_plan
from hengwen.plans.suite import LoadedPlan, load_suite
from hengwen.runs.checkpoint_run import CheckpointRun
from hengwen.runs.resources import RunOptions, RunResources
from hengwen.runs.stopping import run_until_complete
from hengwen.store.store import Store, open_store

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.plans.plan import Plan
    from hengwen.records import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Estimated calls, tokens and cost of one backend in one role (model under test, or judge)."""

    backend: str
    role: str
    usage: Usage
    cost: float | None
    """Cost at the prices of the plan; None if the price is unknown."""


def estimate_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    limit: int | None = None,
    repeat: int | None = None,
    fresh: bool = False,
    trust: bool = False,
) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of ``run_plan`` with the same arguments, without any call.

    Nothing is stored. Calls whose results the store already has are not counted.

    Args:
        plan: A plan, or the path of a plan.
        store: An open store, or the path or URL of a store.
        judge: ``PROVIDER/MODEL`` that replaces the model of every judge, or ``rules`` for the rules judge.
        base_url: URL of an OpenAI-compatible server for ``judge``.
        limit: Number of samples of each task; None for all.
        repeat: Number of answers to generate for each sample, instead of the plan's ``repeats``.
        fresh: Whether to count all calls, also those whose results the store has.
        trust: Whether the plan may name code, and variables of the environment other than ``*_API_KEY``.

    Returns:
        One estimate for each backend and role; models under test come first.
    """
    suite = load_suite(resolve_plan(plan, judge=judge, base_url=base_url, repeat=repeat), trust=trust)
    options = RunOptions(limit=limit, fresh=fresh, dry=True)
    if isinstance(store, Store):
        return estimate_suite(suite, store, options)
    with open_store(store) as opened:
        return estimate_suite(suite, opened, options)


def estimate_suite(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of the run of a loaded plan; see ``estimate_plan``.

    Args:
        suite: The plan with its files.
        store: Store; calls whose results it already has are not counted.
        options: Options of a dry run.
    """
    return run_until_complete(lambda _: _estimate(suite, store, options))


async def _estimate(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
    resources = RunResources(suite, store, options)
    try:
        for order in range(len(suite.plan.checkpoints)):
            await CheckpointRun(resources, order).execute()
    finally:
        await resources.close()
    return estimates_of(resources)


def estimates_of(resources: RunResources) -> list[CostEstimate]:
    """Return the calls that a dry run counted; models under test come first."""
    return [
        CostEstimate(
            backend=name,
            role=role,
            usage=backend.expected,
            cost=total([(resources.price(name), backend.expected)]),
        )
        for (name, role), backend in sorted(
            resources.dry_backends.items(), key=lambda item: item[0][1] == "judge"
        )
    ]
