"""The objects that the runs of one command share, such as store and backends."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from hengwen._internal.workers import MIN_ITEMS, ray_cpus, usable_cores
from hengwen.engine.evaluate import Evaluator, GroupEvaluator, JudgeEvaluator, ScorerEvaluator
from hengwen.engine.limits import Limiter
from hengwen.engine.metered_backend import (
    Budget,
    CallContext,
    DryBackend,
    DryLedger,
    LedgerBackend,
    Price,
    Role,
)
from hengwen.engine.scoring import ScoringPool
from hengwen.errors import ConfigError
from hengwen.plans.endpoints import listed_price
from hengwen.plans.overrides import OVERRIDE
from hengwen.plans.plan import PriceSpec
from hengwen.plans.suite import LoadedPlan, LoadedTask, build_backends
from hengwen.protocols import Backend, Judge, Ledger
from hengwen.runs.options import RunOptions
from hengwen.runs.task_scores import FactCollector
from hengwen.store.store import Store


class RunResources:
    """The objects that the runs of one command share: plan, store, options, backends, limits and budget."""

    def __init__(
        self,
        suite: LoadedPlan,
        store: Store,
        options: RunOptions,
        *,
        dry: bool = False,
        checkpoints: Collection[str] | None = None,
        within: RunResources | None = None,
    ) -> None:
        self.suite = suite
        self.store = store
        self.options = options
        self.dry = dry
        """Whether to only count the calls that a run would make; no call is made, and nothing is stored."""
        self.checkpoints = checkpoints
        """Names of the checkpoints to evaluate; None for all checkpoints of the plan."""
        self.started_at = datetime.now(UTC)
        self.run_ids: set[str] = set()
        """Ids of the runs that this command has begun or resumed."""
        self.stopping: asyncio.Event = asyncio.Event() if within is None else within.stopping
        self.budget: Budget = Budget(options.budget) if within is None else within.budget
        """Budget of the command; resources ``within`` those of another plan share its budget and its end."""
        self.specs = suite.plan.used_backends
        self.backends: dict[str, Backend] = build_backends(suite.plan, check_key=not dry)
        if options.budget is not None:
            _check_prices({name: self.price(name) for name in self.specs})
        self._pool: ScoringPool | None = None
        self.facts = FactCollector(suite, self.backends, options.limit, self.price)
        self.dry_backends: dict[tuple[str, Role], DryBackend] = {}
        self.limiters = {name: self._limiter(name) for name in self.specs}

    def _limiter(self, name: str) -> Limiter:
        if self.dry:  # a dry run makes no call, so it needs no rate limit
            return Limiter(self.options.concurrency, stopping=self.stopping)
        spec = self.specs[name]
        return Limiter(
            self.options.concurrency,
            rpm=spec.rpm,
            tpm=spec.tpm,
            give_up_seconds=spec.give_up_after,
            stopping=self.stopping,
        )

    def new_run_id(self) -> str:
        """Return the id of a new run: the time at which the command started, and random digits."""
        return f"{self.started_at:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"

    def ledger(self) -> Ledger:
        """Return the ledger that records the runs; that of a dry run writes nothing."""
        ledger = self.store.ledger()
        return DryLedger(ledger) if self.dry else ledger

    def wrap(self, context: CallContext, name: str, role: Role, cache_scope: str) -> Backend:
        """Wrap a backend so that its calls are limited, counted against the budget, and recorded."""
        spec, backend = self.specs[name], self.backends[name]
        if self.dry:
            dry_backend = DryBackend(backend, answers=role == "subject", params=spec.params)
            backend = self.dry_backends.setdefault((name, role), dry_backend)
        return LedgerBackend(
            context,
            backend,
            role,
            self.limiters[name],
            cache_scope=cache_scope,
            retries=spec.retries,
            price=self.price(name),
            params=spec.params,
        )

    def judges(self, context: CallContext, task: LoadedTask, cache_scope: str) -> list[Judge]:
        """Build the judges of a task; judges that use the same backend share one wrapper of it."""
        names = dict.fromkeys(name for configured in task.panel for name in configured.spec.backend_names)
        backends: dict[str, Backend] = {
            name: self.wrap(context, name, "judge", cache_scope) for name in names
        }
        return [
            configured.build(task.persona, [backends[name] for name in configured.spec.backend_names])
            for configured in task.panel
        ]

    @property
    def pool(self) -> ScoringPool | None:
        """Worker processes that score, which start when they are needed; None to score in this process."""
        if self._pool is None and not self.dry:
            workers, engine = self.options.workers, self.options.engine
            if engine == "ray":
                self._pool = ScoringPool(self._evaluators(), workers or ray_cpus(), engine)
                return self._pool
            if workers is None:
                workers = usable_cores() if self._count_answers() >= MIN_ITEMS else 1
            if workers > 1:
                self._pool = ScoringPool(self._evaluators(), workers)
        return self._pool

    def _count_answers(self) -> int:
        count = 0
        for checkpoint in self.suite.plan.checkpoints:
            if self.checkpoints is not None and checkpoint.name not in self.checkpoints:
                continue
            for task in self.suite.tasks:
                samples = len(task.samples.take(self.options.limit))
                count += samples * (task.spec.repeats if checkpoint.backend is not None else 1)
        return count

    def _evaluators(self) -> dict[str, list[Evaluator]]:
        """Return, by task, the evaluators that can run in worker processes."""
        return {
            task.spec.name: [
                *map(ScorerEvaluator, task.scorers),
                *(group for group in map(GroupEvaluator, task.set_scorers) if group.scope == "repeats"),
                *(
                    judge
                    for configured in task.panel
                    if not configured.spec.backend_names
                    for judge in [JudgeEvaluator(configured.build(task.persona, []))]
                    if judge.is_local
                ),
            ]
            for task in self.suite.tasks
        }

    def price(self, name: str) -> Price | None:
        """Return the price of a backend's tokens: of the plan, else of the options, else as listed."""
        spec, stated = self.specs[name], self.options.price
        if spec.price is not None:
            return price_in_plan(spec.price)
        if stated is not None:
            return Price(input=stated[0], output=stated[1], source="--price")
        return listed_price(self.backends[name].endpoint, spec.model)

    @property
    def unreachable(self) -> tuple[str, ...]:
        """Endpoints that were given up, because their calls failed for too long."""
        given_up = [name for name, item in self.limiters.items() if item.circuit.state == "given_up"]
        return tuple(dict.fromkeys(self.backends[name].endpoint for name in given_up))

    async def close(self) -> None:
        """Close the backends, and end the worker processes."""
        if self._pool is not None:
            self._pool.close()
        for backend in self.backends.values():
            await backend.close()


def price_in_plan(spec: PriceSpec) -> Price:
    """Return a price that a plan states."""
    return Price(input=spec.input, output=spec.output, currency=spec.currency or "")


def _check_prices(prices: Mapping[str, Price | None]) -> None:
    """Check that a budget can be kept: all backends have prices, in one currency."""
    for name, price in prices.items():
        if price is None:
            judge = "--judge" if name == OVERRIDE else f"backend {name!r}"
            raise ConfigError(
                f"a budget needs prices: {judge} has none; say --price IN,OUT, or in the plan "
                "price: {input: ..., output: ...} (per million tokens)"
            )
    currencies = sorted({price.currency for price in prices.values() if price} - {""})
    if len(currencies) > 1:
        raise ConfigError(
            f"a budget needs one currency, and the prices are in {' and '.join(currencies)}; "
            "state the prices of the plan in one: price: {input: ..., output: ..., currency: ...}"
        )
