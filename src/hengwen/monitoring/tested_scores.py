"""Choose the scores of runs to test: the headline scores, or those that the user names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hengwen.errors import ConfigError, did_you_mean
from hengwen.reports.view.build import task_views
from hengwen.reports.view.models import ReportData
from hengwen.reports.view.summary import summary_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Run
    from hengwen.reports.view.models import ScoreView
    from hengwen.results.score_table import ScoreTable

Family = Literal["headline", "breakdown"]
"""``headline``: a score of a report's summary, or one that the user named. ``breakdown``: any other score."""


def tested_scores(runs: Sequence[Run], table: ScoreTable) -> list[tuple[Family, ScoreView]]:
    """Return the scores of runs that can be tested, each with its family."""
    views: list[tuple[Family, ScoreView]] = []
    for task in task_views(ReportData(plan=runs[0].plan, runs=tuple(runs), table=table)):
        headline = {score.address for score in summary_scores(task)}
        views += [
            ("headline" if score.address in headline else "breakdown", score)
            for score in task.scores
            if score.section == "score" and score.group != "published"
        ]
    return views


def named_scores(
    views: Sequence[tuple[Family, ScoreView]], addresses: Sequence[str], verb: str
) -> list[tuple[Family, ScoreView]]:
    """Return the scores with these addresses, all marked as main scores (``headline``)."""
    by_address = {score.address: score for _, score in views}
    for address in addresses:
        if address not in by_address:
            raise ConfigError(f"no score {address!r} to {verb}{did_you_mean(address, by_address)}")
    return [("headline", by_address[address]) for address in dict.fromkeys(addresses)]
