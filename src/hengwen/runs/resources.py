"""Settings and shared resources of a run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.engine.budget import Budget, Price
from hengwen.engine.dry_run import DryBackend
from hengwen.engine.limiter import Limiter
from hengwen.plans.suite import build_backend

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.engine.metered_backend import CallContext, LedgerBackend, Role
    from hengwen.plans.plan import Plan
    from hengwen.protocols import Backend


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a plan is run; none of it moves a number."""

    concurrency: int = 16
    limit: int | None = None
    fresh: bool = False
    dry: bool = False
    """Ask nobody and keep nothing: count what would be asked."""
    time_limit: float | None = None
    """Seconds for all checkpoints together."""
    progress: Callable[[str, int, int], None] | None = None
    """Called with (checkpoint, samples done, samples in all)."""


class RunResources:
    """What the runs of one command share: an open backend for each name of the plan, its limiter, the budget.

    Args:
        plan: Whose backends are used.
        options: How it is run.
        budget: What calls must not pass.
    """

    def __init__(self, plan: Plan, options: RunOptions, budget: Budget) -> None:
        self._dry = options.dry
        self.stopping = asyncio.Event()
        self.budget = budget
        self.specs = plan.used_backends
        self.backends: dict[str, Backend] = {name: build_backend(spec) for name, spec in self.specs.items()}
        self.dry: dict[tuple[str, Role], DryBackend] = {}
        self.limiters = {
            name: Limiter(options.concurrency, rpm=spec.rpm, tpm=spec.tpm, stopping=self.stopping)
            for name, spec in self.specs.items()
        }

    def wrap(self, meter: CallContext, name: str, role: Role, scope: str) -> LedgerBackend:
        """Return a backend under the meter of a run."""
        spec = self.specs[name]
        backend = self.backends[name]
        if self._dry:
            counting = DryBackend(backend, answers=role == "subject", params=spec.params)
            backend = self.dry.setdefault((name, role), counting)
        limiter, price = self.limiters[name], self.price(name)
        return meter.wrap(
            backend, role, limiter, cache_scope=scope, retries=spec.retries, price=price, params=spec.params
        )

    def price(self, name: str) -> Price | None:
        """Of a backend's tokens, where the plan knows it."""
        spec = self.specs[name].price
        return Price(input=spec.input, output=spec.output) if spec else None

    async def close(self) -> None:
        """Close the backends."""
        for backend in self.backends.values():
            await backend.close()
