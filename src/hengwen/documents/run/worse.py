"""What got worse from the best seen checkpoint to the newest, and on which answers scores disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents.answers.disagreements import disagreement_details
from hengwen.documents.answers.pairs import KEY_END, WorsePrompts
from hengwen.documents.blocks import Details
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hengwen.documents.blocks import Block
    from hengwen.documents.run.report import Report
    from hengwen.results.decision import ScoreDecision

CHANGES = Bilingual("逐题的变化", "Changes by prompt")
"""Title where no score is shown to have fallen."""


def worse_details(report: Report) -> Iterator[Details]:
    """Yield the part of a report on what got worse; nothing if no two checkpoints share a prompt."""
    data = report.data
    prompts = WorsePrompts(data.answers, data.table, report.answers.size, report.answers.command)
    fallen: list[Block] = []
    others: list[Block] = []
    for task in report.tasks:
        for score in task.tested:
            compared = _compared(report, report.decisions.get(score.address))
            if compared is None or score.kind == "human":
                continue
            has_fallen = compared[2]
            blocks = prompts.blocks(
                score,
                (data.runs[compared[0]].id, data.runs[compared[1]].id),
                (report.labels[compared[0]], report.labels[compared[1]]),
                task.scores,
                has_fallen=has_fallen,
            )
            (fallen if has_fallen else others).extend(blocks)
    others += disagreement_details(report.tasks, data.runs, report.labels, data.table)
    title = Bilingual("哪里变差了", "What got worse") if fallen else CHANGES
    if fallen or others:
        yield Details(title=title, blocks=(*fallen, *others), key="changes")


def change_links(changes: Sequence[Details]) -> Mapping[str, str]:
    """Return the key of the part on each score, by the address of the score."""
    keys = [block.key for part in changes for block in part.blocks if isinstance(block, Details)]
    return {key.removesuffix(KEY_END): key for key in keys if key.endswith(KEY_END)}


def _compared(report: Report, decision: ScoreDecision | None) -> tuple[int, int, bool] | None:
    """Return the best run seen, else the baseline or the first; the newest; and whether that is worse."""
    last = len(report.labels) - 1
    if last < 1:
        return None
    if decision is not None and decision.peak:
        return report.labels.index(decision.peak), last, decision.newest == "worse"
    ids = [run.id for run in report.data.runs]
    first = ids.index(report.data.baseline) if report.data.baseline in ids[:-1] else 0
    return first, last, False
