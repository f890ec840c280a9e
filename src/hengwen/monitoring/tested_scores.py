"""Choose the scores of runs to test: the headline scores, or those that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hengwen.errors import ConfigError, did_you_mean
from hengwen.results.score_summaries import task_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Run
    from hengwen.results.score_summaries import ScoreSummaries
    from hengwen.results.score_table import ScoreTable

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
