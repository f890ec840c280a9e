"""``estimate_plan``: estimate the calls, tokens and cost of a run without any call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.plans.overrides import resolve_plan
from hengwen.plans.suite import LoadedPlan, load_suite
from hengwen.runs.checkpoint_run import CheckpointRun
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.runs.stopping import run_until_complete
from hengwen.store.store import opened_store

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.engine.budget import Price
    from hengwen.plans.plan import Plan
    from hengwen.records import Usage
    from hengwen.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Estimated calls, tokens and cost of one backend in one role (model under test, or judge)."""

    backend: str
    role: str
    usage: Usage
    cost: float | None
    """Cost at ``price``; None if the price is unknown."""
    price: Price | None


def estimate_plan(
    plan: Plan | str | Path,
    *,
    store: Store | str | Path = "hengwen.db",
    judge: str | None = None,
    base_url: str | None = None,
    repeat: int | None = None,
    options: RunOptions | None = None,
    trust: bool = False,
) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of ``run_plan`` with the same arguments, without any call."""
    suite = load_suite(resolve_plan(plan, judge=judge, base_url=base_url, repeat=repeat), trust=trust)
    with opened_store(store) as opened:
        return estimate_suite(suite, opened, options or RunOptions())


def estimate_suite(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
    """Estimate the calls, tokens and cost of the run of a loaded plan; see ``estimate_plan``."""
    return run_until_complete(lambda _: _estimate(suite, store, options))


async def _estimate(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
    resources = RunResources(suite, store, options, dry=True)
    await walk(resources)
    return estimates_of(resources)


async def walk(resources: RunResources) -> None:
    """Evaluate all checkpoints in a dry run."""
    try:
        for order in range(len(resources.suite.plan.checkpoints)):
            await CheckpointRun(resources, order).execute()
    finally:
        await resources.close()


def estimates_of(resources: RunResources) -> list[CostEstimate]:
    """Return the estimates of a dry run for each backend and role; models under test come first."""
    names = sorted(resources.dry_backends, key=lambda key: key[1] == "judge")
    estimates = []
    for name, role in names:
        usage, price = resources.dry_backends[name, role].expected, resources.price(name)
        unknown = None if usage.calls else 0.0
        cost = unknown if price is None else price.cost(usage)
        estimates.append(CostEstimate(backend=name, role=role, usage=usage, cost=cost, price=price))
    return estimates
