"""The texts of a peer review that the terminal and all report formats share: title, tables, comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, count, interval, number, percent, signed

if TYPE_CHECKING:
    from hengwen.peer_review.human import HumanComparison
    from hengwen.peer_review.result import PeerReview, ReviewedJudge

_METHODS = {
    "judge-bt": Bilingual(
        "区分评审质量的 Bradley-Terry 模型", "Bradley-Terry model with judge quality (judge-bt)"
    ),
    "bradley-terry": Bilingual("Bradley-Terry 模型", "Bradley-Terry model"),
    "davidson": Bilingual(
        "带平局的 Bradley-Terry 模型（Davidson）", "Bradley-Terry model with ties (Davidson)"
    ),
    "uniform": Bilingual("等权投票", "uniform vote"),
    "majority": Bilingual("多数投票", "majority vote"),
    "rating": Bilingual("票数评分", "rating vote"),
    "consistency": Bilingual("PiCO 一致性优化", "consistency optimisation (PiCO)"),
    "elo": Bilingual("Elo", "Elo"),
}
MODEL_COLUMNS = (
    Bilingual("名次", "rank"),
    Bilingual("名次区间", "ranks"),
    Bilingual("模型", "model"),
    Bilingual("得分", "score"),
    Bilingual("胜/平/负", "won/tied/lost"),
)
JUDGE_COLUMNS = (
    Bilingual("评审", "judge"),
    Bilingual("判定数", "verdicts"),
    Bilingual("权重", "weight"),
    Bilingual("顺序一致", "consistent"),
    Bilingual("偏向首位", "for first"),
    Bilingual("自己/他人评自己", "own/by others"),
    Bilingual("去掉后 tau", "tau without"),
)
TEXT_COLUMNS = ("model", "judge")
"""Columns whose cells are names; all others are numbers."""


def title(review: PeerReview) -> Bilingual:
    """Return the title of a peer review."""
    method = _METHODS[review.method]
    models, judges = len(review.models), len(review.judges)
    questions, battles = count(review.questions), count(review.battles)
    level = percent(review.confidence)
    return Bilingual(
        f"{method.zh}：{models} 个模型，{judges} 位评审，{questions} 题，{battles} 条判定；区间 {level}",
        f"{method.en}: {models} models, {judges} {'judge' if judges == 1 else 'judges'}, {questions} "
        f"{'question' if review.questions == 1 else 'questions'}, {battles} verdicts; {level} intervals",
    )


def model_rows(review: PeerReview) -> list[list[str]]:
    """Return the cells of each model, in the order of ``MODEL_COLUMNS``."""
    decimals = 0 if review.method == "elo" else 3 if review.models[0].score <= 1 else 2
    rows = []
    for model in review.models:
        score = number(model.score, decimals)
        if model.interval is not None:
            score += f" {interval(model.interval, decimals)}"
        low, high = model.ranks
        ranks = str(low) if low == high else f"{low}–{high}"
        rows.append([str(model.rank), ranks, model.name, score, f"{model.wins}/{model.ties}/{model.losses}"])
    return rows


def judge_rows(review: PeerReview) -> list[list[str]]:
    """Return the cells of each judge, in the order of ``JUDGE_COLUMNS``."""
    return [_judge_row(judge) for judge in review.judges]


def _judge_row(judge: ReviewedJudge) -> list[str]:
    weight = number(judge.weight, 2)
    if judge.weight_interval is not None:
        weight += f" {interval(judge.weight_interval, 2)}"
    own = NOTHING
    if judge.own_share is not None:
        own = f"{percent(judge.own_share)}/{percent(judge.own_others)}"
    without = number(judge.tau_without, 2)
    if judge.moved:
        without += f" ({judge.moved} {signed(judge.moved_by, 0)})"
    return [
        judge.name,
        count(judge.verdicts),
        weight,
        percent(judge.consistent),
        percent(judge.first_share),
        own,
        without,
    ]


def human_text(human: HumanComparison) -> Bilingual:
    """Return the agreement of a ranking with people."""
    ranking = human.ranking
    top = ", ".join(f"top-{depth} {percent(share)}" for depth, share in ranking.top_overlap.items())
    values = (
        f"Spearman {number(ranking.spearman, 3)}, Kendall tau-b {number(ranking.tau_b, 3)}, "
        f"PEN {number(ranking.pen, 3)}, PEN ({ranking.triples} triples) {number(ranking.pen_triples, 3)}, "
        f"CIN {ranking.cin}, LIS {ranking.lis}/{ranking.n}, {top}"
    )
    missing = [*human.only_review, *human.only_human]
    return Bilingual(
        f"与人工排名比较（{ranking.n} 个模型）：{values}"
        + (f"；只在一方出现、未比较：{'、'.join(missing)}" if missing else ""),
        f"against people ({ranking.n} models): {values}"
        + (f"; only in one of the rankings, not compared: {', '.join(missing)}" if missing else ""),
    )
