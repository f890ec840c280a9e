"""``compare_groups``: test scores of whole sets of answers of stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.objective.diversity.compare_sets import compare_sets

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hengwen.records import Run
    from hengwen.results.group_comparison import GroupComparison
    from hengwen.results.score_table import ScoreTable
    from hengwen.store import Store


def compare_groups(
    store: Store, runs: Sequence[Run], *, used: Collection[str] = ()
) -> tuple[GroupComparison, ...]:
    """Compare the scores of whole sets of answers between runs of a store, in training order.

    Args:
        store: Store with the runs and their answers.
        runs: The runs in training order.
        used: Addresses of the only scores to compare; default: all.
    """
    table = _read(store, runs)
    return () if table is None else compare_sets(store.responses, runs, table, used=used)


def _read(store: Store, runs: Sequence[Run]) -> ScoreTable | None:
    """Return the scores of whole sets, and for each task a score of answers, which has the clusters."""
    newest = [score for score in store.statuses(runs[-1:]) if score.role == "answer"]
    groups = [score for score in newest if score.part == "checkpoint"]
    if not groups:
        return None
    table = store.table(runs, groups)
    tasks = {score.task for score in groups}
    singles = {score.task: score for score in newest if score.task in tasks and score not in groups}
    table.series |= store.table(runs[-1:], list(singles.values())).series if singles else {}
    return table
