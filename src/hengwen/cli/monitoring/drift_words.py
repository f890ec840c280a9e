"""Translate the results of a drift report into Chinese and English words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.results.comparisons import MIN_PROMPT_COVERAGE
from hengwen.text.language import Bilingual
from hengwen.text.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.monitoring.drift.score_drift import LeftOut, ScoreDrift

DIFFERS: Mapping[str, Bilingual] = {
    "differ": Bilingual("有差别", "differ"),
    "no difference seen": Bilingual("未见差别", "no difference seen"),
    "too few prompts": Bilingual("题目太少", "too few prompts"),
    "missing scores": Bilingual("得分缺失过多，不下结论", "too many missing scores for a verdict"),
    "not comparable": Bilingual("无法比较", "not comparable"),
    "one checkpoint": Bilingual("只有一个检查点", "only one checkpoint"),
}
DRIFTS: Mapping[str, Bilingual] = {
    "drift": Bilingual("发生漂移", "drift"),
    "no change beyond the usual movement seen": Bilingual(
        "未见超出平常波动的变化", "no change beyond the usual movement seen"
    ),
    "cannot be told from the usual movement": Bilingual(
        "无法与平常波动区分", "cannot be told from the usual movement"
    ),
    "order unknown": Bilingual("检查点先后未知", "order of checkpoints unknown"),
}
DIRECTIONS: Mapping[str, Bilingual] = {
    "better": Bilingual("，变好", " for the better"),
    "worse": Bilingual("，变差", " for the worse"),
    "": Bilingual("", ""),
}
FIRST = Bilingual("在这类题目上，检查点之间有差别吗？", "Do these checkpoints differ on prompts like these?")
SECOND = Bilingual("差别是否超出检查点平常的波动？", "Is that more than checkpoints usually move?")
ONE_CHECKPOINT = Bilingual(
    "至少需要两个检查点；请先评测下一个检查点", "two checkpoints are needed; run the next one first"
)
GROUP_SCORE = Bilingual("无法回答，没有逐题的值", "cannot be answered without a value for each prompt")
GROUP_SCORE_REASON = Bilingual(
    "整组回答只有一个数值，无法逐题比较", "one value for all answers, so prompts cannot be compared"
)
NO_FRIEDMAN = Bilingual(
    "在每个检查点都有得分的互相独立的题目不到 2 个，无法检验所有检查点之间有无差别",
    "fewer than 2 independent prompts have a score at every checkpoint, so all checkpoints cannot be tested "
    "together",
)
FEW_CHECKPOINTS = Bilingual(
    "至少需要 4 个检查点，才知道平常的波动有多大",
    "4 checkpoints are needed to know how far one usually moves",
)
ON_A_LINE = Bilingual(
    "各检查点的均值恰好在一条直线上，无从得知平常波动有多大",
    "the means of all checkpoints lie on one line, so the usual movement is not known",
)
EARLIER_EQUAL = Bilingual(
    "之前的检查点均值全部相同，无从得知平常波动有多大",
    "all earlier checkpoints have the same mean, so the usual movement is not known",
)
ALL_EQUAL = Bilingual("各检查点的均值全部相同", "all checkpoints have the same mean")
EQUAL_CHANGES = Bilingual(
    "逐题变化（仅供查看）：各题的变化全部相同，不列题目",
    "changes of prompts (for a first look): all prompts changed by the same amount, so none is named",
)
SIMILAR_CHANGES = Bilingual(
    "逐题变化（仅供查看）：各题变化之间的差异不超过多次回答之间的波动，不列题目",
    "changes of prompts (for a first look): they differ from each other no more than repeated answers do, so "
    "none is named",
)
ORDER_HINT = Bilingual(
    "给每个检查点写上 step，或在同一个计划里按训练顺序列出",
    "give every checkpoint a step, or list them in training order in one plan",
)


def differs_text(score: ScoreDrift) -> Bilingual:
    """Return in words whether the checkpoints differ in one score."""
    return GROUP_SCORE if score.problem == "group score" else DIFFERS[score.differs]


def drifts_text(score: ScoreDrift) -> Bilingual:
    """Return in words whether one score drifts, and whether it gets better or worse."""
    answer = DRIFTS.get(score.drifts) or DIFFERS[score.drifts]
    direction = _mixed_text(score) if score.direction == "mixed" else DIRECTIONS[score.direction]
    return Bilingual(f"{answer.zh}{direction.zh}", f"{answer.en}{direction.en}")


def _mixed_text(score: ScoreDrift) -> Bilingual:
    rises = score.steps is not None and score.steps.slope is not None and score.steps.slope.slope > 0
    if rises == (score.scale is None or score.scale.higher_is_better):
        return Bilingual(
            "，趋势变好，最新检查点变差", ", trend for the better, newest checkpoint for the worse"
        )
    return Bilingual("，趋势变差，最新检查点变好", ", trend for the worse, newest checkpoint for the better")


def unknown_error_text(score: ScoreDrift) -> Bilingual:
    """Return why the error of a checkpoint's mean is unknown, and what the test of this mean uses instead."""
    reason = (
        Bilingual("整组回答只有一个数值", "one value for all answers")
        if score.problem == "group score"
        else Bilingual("互相独立的题目太少", "too few independent prompts")
    )
    return Bilingual(
        f"这些题目上均值的误差未知（{reason.zh}），此检验只用之前各均值的波动",
        f"the error of a mean on these prompts is not known ({reason.en}), so this test uses only the "
        "scatter of the earlier means",
    )


def headline_text(score: ScoreDrift) -> Bilingual:
    """Return in one line whether a score differs and whether it drifts."""
    first, second = differs_text(score), drifts_text(score)
    if first == second:
        return first
    return Bilingual(f"{first.zh}；{second.zh}", f"{first.en}; {second.en}")


def left_out_text(item: LeftOut) -> Bilingual:
    """Return why a checkpoint is left out of the tests of a score."""
    name = item.checkpoint
    if item.problem == "keys":
        return Bilingual(f"略去 {name}：评分设置不同（{item.detail}）", f"{name} left out: {item.detail}")
    if item.problem == "coverage":
        share, least = percent(item.coverage), percent(MIN_PROMPT_COVERAGE)
        return Bilingual(
            f"略去 {name}：有得分的题目只占 {share}，低于 {least}；缺失的可能正是答得差的题，或尚未评测",
            f"{name} left out: only {share} of the prompts have a score, below {least}; the others "
            "may be the ones with bad answers, or were not evaluated",
        )
    return Bilingual(f"略去 {name}：没有这项分数", f"{name} left out: it does not have this score")
