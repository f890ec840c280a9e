"""Build the summary of a report: select scores, run their paired tests, and write a finding for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.reports.view.findings import ScoreContext, finding_of
from hengwen.results.comparability import UNKNOWN
from hengwen.results.comparisons import comparable_pairs, compare_checkpoints, score_series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.reports.view.findings import Finding
    from hengwen.reports.view.models import ReportData, TaskView
    from hengwen.results.comparisons import Comparison


def summarize(
    tasks: Sequence[TaskView], data: ReportData, labels: Sequence[str], ranking: Mapping[str, str]
) -> tuple[tuple[TaskView, ...], list[Finding]]:
    """Run the paired tests of all scores in the summary; p-values are corrected for the number of tests.

    Args:
        tasks: Tasks with their scores.
        data: Runs with their outcomes; nothing is tested if the order of the runs is not known.
        labels: Name of each run in the report.
        ranking: For each task, the name of the score by which the shown answers are ranked.

    Returns:
        The tasks, with the paired tests of the scores in the summary, and one finding for each of these
        scores.
    """
    scores = [score for task in tasks for score in task.scores if score.address in task.tested]
    run_ids = [run.id for run in data.runs]
    series = {
        score.address: score_series(
            data.table,
            run_ids,
            score.task,
            score.name,
            score.kind,
            [cell.comparability if cell else UNKNOWN for cell in score.cells],
        )
        for score in scores
    }
    paired = [] if data.order_problem else [item for item in series.values() if any(item.values)]
    comparisons = compare_checkpoints(paired, data.baseline_index)
    by_address: dict[str, list[Comparison]] = {address: [] for address in series}
    for comparison in comparisons:
        by_address[comparison.address].append(comparison)
    pairs = sum(len(comparable_pairs(item, data.baseline_index)) for item in paired)
    findings = [
        finding_of(
            ScoreContext(
                address=score.address,
                checkpoints=labels,
                cells=score.cells,
                series=series[score.address] if any(series[score.address].values) else None,
                comparisons=by_address[score.address],
                pairs=pairs,
                higher_is_better=score.higher_is_better,
                decimals=score.decimals,
                ranks_answers=score.name == ranking.get(score.task),
                order_problem=data.order_problem,
                baseline=data.baseline_index,
                is_pinned=bool(data.baseline),
            )
        )
        for score in scores
    ]
    return tuple(_with_comparisons(task, by_address) for task in tasks), findings


def _with_comparisons(task: TaskView, by_address: dict[str, list[Comparison]]) -> TaskView:
    scores = [replace(score, comparisons=tuple(by_address.get(score.address, ()))) for score in task.scores]
    return replace(task, scores=tuple(scores))
