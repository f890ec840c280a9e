"""The prompts on which two compared runs differ most, with both answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.answers.pairs import WorsePrompts
from hengwen.documents.answers.sources import StoredAnswers
from hengwen.results.run_order import run_labels
from hengwen.results.score_summaries import task_scores

if TYPE_CHECKING:
    from hengwen.documents.blocks import Block
    from hengwen.monitoring.compare.run_comparison import RunComparison
    from hengwen.store import Store


def changed_prompts(store: Store, comparison: RunComparison) -> tuple[Block, ...]:
    """Return, for each headline score, the prompts on which it changed most.

    Nothing is returned if prompts of the two runs differ, because other prompts than the compared ones would
    count.
    """
    if comparison.left_out_prompts:
        return ()
    runs = (comparison.before, comparison.after)
    before, after = run_labels(runs)
    table = store.table(runs)
    prompts = WorsePrompts(StoredAnswers(store, runs, table), table, has_rows=False)
    compared = {score.address: score for score in comparison.headline}
    return tuple(
        block
        for task in task_scores(runs, table)
        for score in task.scores
        if score.address in compared and compared[score.address].test is not None
        for block in prompts.blocks(
            score,
            (runs[0].id, runs[1].id),
            (before, after),
            task.scores,
            has_fallen=compared[score.address].outcome == "worse",
        )
    )
