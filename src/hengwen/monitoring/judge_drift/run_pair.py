"""Choose the two runs of a judge drift report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hengwen.errors import ConfigError
from hengwen.results.run_order import training_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Run
    from hengwen.store import Store


class RunPair(NamedTuple):
    """An earlier run and a later run that are compared."""

    before: Run | None
    """Earlier run; None if the store has no other run to compare with."""
    after: Run


def choose_runs(store: Store, before: str | None, after: str | None, plan: str | None) -> RunPair:
    """Return the two runs to compare: those that are named, or the defaults."""
    latest = store.latest(plan)
    if not latest:
        raise ConfigError(f"no runs {f'of plan {plan!r} ' if plan else ''}in {store.name}; see: hengwen run")
    if training_order(latest).problem:
        latest = sorted(latest, key=lambda run: run.started)
    later = latest[-1] if after is None else store.find(after, plan)
    if before is not None:
        earlier = store.find(before, later.plan)
        if earlier.id == later.id:
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


def pair_of_report(store: Store, names: Sequence[str], baseline: str | None, plan: str | None) -> RunPair:
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


def rejudging_for(store: Store, pair: RunPair) -> Run | None:
    """Return the newest run in which the answers of the earlier run were judged again for the later run."""
    if pair.before is None:
        return None
    rejudgings = store.rejudgings(pair.before)
    return next((run for run in rejudgings if run.facts.get("for_run") == pair.after.id), None)
