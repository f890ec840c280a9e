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

    Nothing is stored. Results that the store already has are not counted.

    Args:
        plan: See ``run_plan``.
        store: See ``run_plan``.
        judge: See ``run_plan``.
        base_url: See ``run_plan``.
        limit: See ``run_plan``.
        repeat: See ``run_plan``.
        fresh: See ``run_plan``.
        trust: See ``run_plan``.

    Returns:
        One estimate for each backend and role; models under test come first.
    """
    suite = load_suite(resolve_plan(plan, judge=judge, base_url=base_url, repeat=repeat), trust=trust)
    options = RunOptions(limit=limit, fresh=fresh, dry=True)
    if isinstance(store, Store):
        return run_until_complete(lambda _: _estimate(suite, store, options))
    with open_store(store) as opened:
        return run_until_complete(lambda _: _estimate(suite, opened, options))


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
