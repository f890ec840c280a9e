"""Options of the commands that make calls for a plan or a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen.cli.ui import options
from hengwen.cli.ui.messages import print_waiting

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.plans.plan import Plan
    from hengwen.runs.options import RunOptions


@dataclass(frozen=True, slots=True)
class Calls:
    """Options that say which calls a command makes, and how many."""

    store: options.Store = options.DEFAULT_STORE
    judge: options.Judge = None
    base_url: options.BaseUrl = None
    concurrency: options.Concurrency = options.DEFAULT_CONCURRENCY
    limit: options.Limit = None
    budget: options.Budget = None
    price: options.Price = None
    time_limit: options.TimeLimit = None
    dry_run: options.DryRun = False
    fresh: options.Fresh = False
    wait: options.Wait = False
    trust: options.Trust = False

    def load(self, plan: Path) -> Plan:
        """Load a plan that the user trusts."""
        from hengwen.cli.ui.trust import load_trusted

        return load_trusted(plan, trust=self.trust, judge=self.judge, base_url=self.base_url)

    def run_options(self, **others: Any) -> RunOptions:
        """Return the options as those of a run."""
        from hengwen.runs.options import RunOptions

        return RunOptions(
            concurrency=self.concurrency,
            limit=self.limit,
            budget=self.budget,
            price=options.parse_price(self.price),
            time_limit=self.time_limit,
            fresh=self.fresh,
            wait=print_waiting if self.wait else False,
            **others,
        )
