"""``hengwen drift --rejudge PLAN``: judge stored answers again, with the options of ``hengwen run``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from hengwen.cli.ui.messages import print_waiting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hengwen.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgeOptions:
    """Options of ``hengwen drift`` that are used together with ``--rejudge``."""

    plan: Path
    judge: str | None
    base_url: str | None
    concurrency: int
    budget: float | None
    time_limit: float | None
    dry_run: bool
    fresh: bool
    wait: bool
    trust: bool


def rejudge_answers(
    store: Store,
    options: RejudgeOptions,
    runs: Sequence[str],
    baseline: str | None,
    plan: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> tuple[int, str]:
    """Judge the answers of an earlier run again for a drift report; or print the cost."""
    from hengwen.cli.ui.dry_run_table import show_estimates
    from hengwen.cli.ui.exit import exit_code
    from hengwen.cli.ui.progress import resumable_progress
    from hengwen.cli.ui.trust import load_trusted
    from hengwen.errors import ConfigError
    from hengwen.monitoring.judge_drift.rejudging import estimate_rejudging, rejudge
    from hengwen.monitoring.judge_drift.run_pair import pair_of_report
    from hengwen.runs.options import RunOptions

    loaded = load_trusted(options.plan, trust=options.trust, judge=options.judge, base_url=options.base_url)
    if plan is not None and plan != loaded.name:
        raise ConfigError(
            f"--plan is {plan!r}, but the name of {options.plan} is {loaded.name!r}; leave out --plan, or "
            f"pass the file of plan {plan!r}"
        )
    pair = pair_of_report(store, runs, baseline, loaded.name)
    if pair.before is None:
        raise ConfigError(
            f"no checkpoint before {pair.after.checkpoint} whose answers could be judged again; name an "
            "earlier run with --baseline, or run another checkpoint first: hengwen run"
        )
    common: dict[str, Any] = {
        "before": pair.before.id,
        "after": pair.after.id,
        "judge": options.judge,
        "base_url": options.base_url,
        "trust": True,
    }
    run_options = RunOptions(
        concurrency=options.concurrency,
        fresh=options.fresh,
        budget=options.budget,
        time_limit=options.time_limit,
        wait=print_waiting if options.wait else False,
    )
    if options.dry_run:
        estimates = estimate_rejudging(loaded, store=store, options=run_options, **common)
        show_estimates(estimates, as_json=as_json)
        raise typer.Exit
    hint = f"the verdicts are in {store.name}, the same command resumes"
    with resumable_progress(lambda: hint, quiet=quiet or as_json) as progress:
        result = rejudge(loaded, store=store, options=replace(run_options, progress=progress), **common)
    return exit_code(result, strict=False), loaded.name
