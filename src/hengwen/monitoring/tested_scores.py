"""Choose the scores of runs to test: headline scores, those that the user names, scores of whole sets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from hengwen.errors import ConfigError, did_you_mean
from hengwen.objective.diversity.compare_sets import compare_sets
from hengwen.records import Run
from hengwen.results.group_comparison import GroupComparison
from hengwen.results.score_summaries import ScoreSummaries, task_scores
from hengwen.results.score_table import ScoreTable
from hengwen.store import Store

Family = Literal["headline", "breakdown"]
"""``headline``: a main score of a task, or one that the user named. ``breakdown``: any other score."""


def tested_scores(runs: Sequence[Run], table: ScoreTable) -> list[tuple[Family, ScoreSummaries]]:
    """Return the scores of runs that can be tested, each with its family."""
    tasks = task_scores(runs, table)
    headline = {score.address for task in tasks for score in task.tested}
    return [
        ("headline" if score.address in headline else "breakdown", score)
        for task in tasks
        for score in task.scores
        if score.id.role == "answer"
    ]


def named_scores(
    scores: Sequence[tuple[Family, ScoreSummaries]], addresses: Sequence[str], verb: str
) -> list[tuple[Family, ScoreSummaries]]:
    """Return the scores with these addresses, all marked as main scores (``headline``)."""
    by_address = {score.address: score for _, score in scores}
    for address in addresses:
        if address not in by_address:
            raise ConfigError(f"no score {address!r} to {verb}{did_you_mean(address, by_address)}")
    return [("headline", by_address[address]) for address in dict.fromkeys(addresses)]


def compare_groups(
    store: Store, runs: Sequence[Run], *, used: Collection[str] = ()
) -> tuple[GroupComparison, ...]:
    """Compare the scores of whole sets of answers (all, or those ``used``) of runs in training order."""
    newest = [score for score in store.statuses(runs[-1:]) if score.role == "answer"]
    groups = [score for score in newest if score.part == "checkpoint"]
    if not groups:
        return ()
    table = store.table(runs, groups)
    tasks = {score.task for score in groups}
    singles = {score.task: score for score in newest if score.task in tasks and score not in groups}
    if singles:  # they have the clusters
        table.series |= store.table(runs[-1:], list(singles.values())).series
    return compare_sets(store.responses, runs, table, used=used)
