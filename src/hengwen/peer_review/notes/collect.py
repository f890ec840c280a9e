"""Collect all notes of a peer review, the most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.peer_review.estimates.judge_bt import JudgeModel
from hengwen.peer_review.notes.data_notes import data_notes
from hengwen.peer_review.notes.judge_notes import judge_notes
from hengwen.peer_review.notes.note import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.peer_review.estimates.evidence import Evidence


def collect_notes(evidence: Evidence) -> tuple[Note, ...]:
    """Return the notes about judges, data and method."""
    return (*judge_notes(evidence), *data_notes(evidence), *_method_notes(evidence))


def _method_notes(evidence: Evidence) -> Iterator[Note]:
    tau = evidence.agreement(evidence.other_scores, evidence.other_ranked)
    if tau is not None and tau < 1:
        yield Note(
            code="conflict rule",
            zh=f"两种顺序判定冲突时算平局还是弃权会改变排名（Kendall tau-b {tau:.2f}）",
            en="the ranking depends on whether a conflict between the two orders counts as a tie or is left "
            f"out (tau-b {tau:.2f})",
        )
    if evidence.options.method == "elo":
        yield Note(
            code="order of battles",
            zh="Elo 得分取决于对战的先后顺序；区间同时打乱了题目的顺序",
            en="Elo ratings depend on the order of the battles; the intervals shuffle the questions too",
        )
    model = evidence.estimate
    if isinstance(model, JudgeModel) and model.one_step(evidence.options.n_boot):
        yield Note(
            code="one step",
            zh="数据量大，每次重抽样只从估计值出发做一步牛顿迭代；数据量大时结果相同",
            en="the data are large, so each resample is computed by one Newton step from the estimate; in "
            "large data the result is the same",
        )
