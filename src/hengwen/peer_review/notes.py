"""Notes in Chinese and English on what limits the results of a peer review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.estimates.evidence import MIN_JUDGES, Evidence
from hengwen.peer_review.estimates.judge_bt import JudgeModel
from hengwen.peer_review.estimates.votes import ConsistencyVotes
from hengwen.peer_review.tastes import Taste
from hengwen.peer_review.verdicts import match_starts
from hengwen.text.language import Language
from hengwen.text.numbers import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW_QUESTIONS = 10
"""Below this number of questions, intervals from resampled questions are too narrow."""
ALPHA = 0.01
MAX_NAMES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something about the result that a reader must know, in words."""

    code: str
    zh: str
    en: str


def collect_notes(evidence: Evidence) -> tuple[Note, ...]:
    """Return the notes about judges, data and method."""
    return (*judge_notes(evidence), *data_notes(evidence), *_method_notes(evidence))


def _method_notes(evidence: Evidence) -> Iterator[Note]:
    model = evidence.estimate
    if not isinstance(model, JudgeModel):
        return
    if model.has_few_verdicts:
        yield Note(
            code="few verdicts",
            zh="多数评审的判定很少，逐次拟合重抽样会受个别判定左右，因此每次只从估计值出发做一步牛顿迭代；"
            "得分之间的距离仍可能偏大",
            en="most judges gave few verdicts, so each resample is computed by one Newton step from the "
            "estimate: a fit would follow single verdicts. The scores may still lie too far apart",
        )
    elif model.one_step(evidence.options.n_boot):
        yield Note(
            code="one step",
            zh="数据量大，每次重抽样只从估计值出发做一步牛顿迭代；数据量大时结果相同",
            en="the data are large, so each resample is computed by one Newton step from the estimate; in "
            "large data the result is the same",
        )


def judge_notes(evidence: Evidence) -> Iterator[Note]:
    """Yield the notes about the judges."""
    if evidence.judges == 1:
        yield Note(
            code="one judge",
            zh="只有一位评审：它的偏好与模型之间的真实差别无法区分，也没有评审权重",
            en="there is only one judge: its preferences cannot be told from real differences between the "
            "models, and there are no weights",
        )
    elif evidence.judges < MIN_JUDGES:
        yield Note(
            code="two judges",
            zh="只有两位评审：意见不同时无法知道谁更可靠，因此两位同等计入",
            en="there are only two judges: where they differ, it is not known which one is better, so both "
            "count alike unless the method has weights",
        )
    yield from _quality(evidence)
    for taste in evidence.tastes:
        yield _taste(evidence, taste)
    yield from _searches(evidence)


def _quality(evidence: Evidence) -> Iterator[Note]:
    p = evidence.judges_differ_p
    model = evidence.judge_model
    if p is None or model is None:
        return
    if p >= ALPHA:
        yield Note(
            code="judges alike",
            zh=f"看不出评审质量有差别（p = {p:.2g}）：这些判定不支持给评审加权",
            en=f"the judges do not differ visibly in quality (p = {p:.2g}): these verdicts do not support "
            "weights",
        )
    elif not evidence.tastes:
        yield Note(
            code="judges differ",
            zh=f"评审质量不同（p = {p:.2g}），因此按区分度加权优于等权投票",
            en=f"the judges differ in quality (p = {p:.2g}), so weights by discrimination are better than "
            "the uniform vote",
        )
    errors = np.sqrt(np.diag(model.covariance)[model.design.discriminations])
    reversed_judges = [
        evidence.battles.judges[judge] for judge in np.flatnonzero(model.discriminations + 2 * errors < 0)
    ]
    if reversed_judges:
        yield Note(
            code="reversed judge",
            zh=f"{names(reversed_judges, 'zh')} 偏爱其他评审认为较差的模型；请检查判定的方向",
            en=f"{names(reversed_judges, 'en')} prefers the models that the other judges rate lower; check "
            "which answer its verdicts mean",
        )


def _taste(evidence: Evidence, taste: Taste) -> Note:
    judges = [evidence.battles.judges[judge] for judge in taste.judges]
    models = [evidence.battles.models[model] for model in taste.favoured]
    size = f"{taste.residual:.0%}"
    if taste.favours_itself:
        return Note(
            code=taste.code,
            zh=f"{names(judges, 'zh')} 互相偏袒（胜率最多高出 {size}）：不要相信评审权重，"
            "权重可能奖励这种偏袒；请去掉这些评审对彼此的判定，或与人工排名比较",
            en=f"{names(judges, 'en')} favour one another (by up to {size} of the wins): do not trust the "
            "weights of judges, which may reward this; leave out their verdicts on one another, or "
            "compare with a human ranking",
        )
    return Note(
        code=taste.code,
        zh=f"{names(judges, 'zh')} 有共同偏好，同一个排名无法解释（最多相差胜率的 {size}"
        + (f"，偏好 {names(models, 'zh')}" if models else "")
        + "）。共同的错误与正确的一致无法区分，按一致性加权可能比等权更差：请与人工排名比较",
        en=f"{names(judges, 'en')} share a taste that one ranking does not explain (up to {size} of the wins"
        + (f", in favour of {names(models, 'en')}" if models else "")
        + "). Common errors cannot be told from agreement on quality, so weights may be worse than none: "
        "compare with a human ranking",
    )


def _searches(evidence: Evidence) -> Iterator[Note]:
    if not isinstance(evidence.estimate, ConsistencyVotes):
        return
    searches = evidence.estimate.searches
    taus = [evidence.agreement(search.scores) for search in searches[1:]]
    lowest = min((tau for tau in taus if tau is not None), default=None)
    if lowest is not None:
        yield Note(
            code="restarts",
            zh=f"一致性优化取决于随机起点：从另外 {len(taus)} 个起点出发，"
            f"排名与本结果的 Kendall tau-b 最低为 {lowest:.2f}；区间固定了权重，不包含这部分不确定性",
            en=f"the consistency optimisation depends on its random start: from {len(taus)} other starts, "
            f"the lowest tau-b with this ranking is {lowest:.2f}; intervals hold the weights fixed and do "
            "not include this",
        )


def data_notes(evidence: Evidence) -> Iterator[Note]:
    """Yield the notes about the battles."""
    yield from _left_out(evidence)
    yield from _questions(evidence)
    if np.all(evidence.matches.outcome == 0.5):
        yield Note(
            code="all ties",
            zh="所有对战都是平局，分不出名次：各模型得分相同，并列第一",
            en="every match is a tie, so there is no order: all models have the same score and share rank 1",
        )
        return
    yield from _groups(evidence)
    yield from _infinite(evidence)
    yield from _positions(evidence)


def _left_out(evidence: Evidence) -> Iterator[Note]:
    verdicts = evidence.all_verdicts
    if verdicts.duplicates:
        n, other = verdicts.duplicates, verdicts.contradictions
        yield Note(
            code="duplicates",
            zh=f"去掉了 {n} 条重复的对战（题目、轮次、评审、模型和顺序都相同），"
            f"其中 {other} 条与保留的判定不同",
            en=f"{plural(n, 'duplicate battle')} left out (same question, turn, judge, models and order); "
            f"{other} of them contradict the verdict that was kept",
        )
    own = len(verdicts) - len(evidence.verdicts)
    if own:
        yield Note(
            code="own answers",
            zh=f"评审对自己回答的 {own} 条判定不计入",
            en=f"{plural(own, 'verdict')} of judges on their own answers left out",
        )


def _questions(evidence: Evidence) -> Iterator[Note]:
    if evidence.used_questions < 2:
        yield Note(
            code="one question",
            zh="只有一道题，无法估计不确定性：没有区间，任何名次都有可能",
            en="there is only one question, so the uncertainty is not known: no intervals, every rank is "
            "possible",
        )
    elif evidence.used_questions < FEW_QUESTIONS:
        n = evidence.used_questions
        yield Note(
            code="few questions",
            zh=f"只有 {n} 道题，区间会偏窄；至少需要 {FEW_QUESTIONS} 道",
            en=f"there are only {n} questions, so intervals are too narrow; use at least {FEW_QUESTIONS}",
        )


def _groups(evidence: Evidence) -> Iterator[Note]:
    unranked = evidence.unranked
    if unranked:
        yield Note(
            code="unranked",
            zh=f"没有任何计入的对战，因此没有名次：{names(unranked, 'zh')}",
            en=f"no match that counts, so no rank: {names(unranked, 'en')}",
        )
    ranked = np.isin(np.arange(evidence.models), evidence.ranked)
    labels = dict.fromkeys(evidence.groups[evidence.ranked].tolist())
    members = [_members(evidence, ranked & (evidence.groups == label)) for label in labels]
    if len(members) > 1:
        yield Note(
            code="disconnected",
            zh="有些模型之间没有任何对战相连，无法比较；各组只在组内排名，名次区间包含其他组的所有模型："
            + "；".join(names(group, "zh") for group in members),
            en="some models are linked by no chain of battles and cannot be compared; scores compare models "
            "of the same group only, and intervals of ranks include all models of other groups: "
            + "; ".join(names(group, "en") for group in members),
        )


def _infinite(evidence: Evidence) -> Iterator[Note]:
    if evidence.options.method not in ("judge-bt", "bradley-terry"):
        return
    wins = evidence.counts.total(evidence.matches.outcome)[0]
    losses = evidence.counts.total(1 - evidence.matches.outcome)[0]
    pairs, linked = evidence.counts.pairs, evidence.win_groups
    beats, loses = np.zeros(evidence.models, bool), np.zeros(evidence.models, bool)
    for side, other, points in ((pairs.first, pairs.second, losses), (pairs.second, pairs.first, wins)):
        across = (linked[side] != linked[other]) & (points > 0)
        loses |= np.isin(linked, linked[side[across]])  # with the models that wins and ties link to the loser
        beats |= np.isin(linked, linked[other[across]])
    always, never = _members(evidence, beats & ~loses), _members(evidence, loses & ~beats)
    if beats.any():
        yield Note(
            code="infinite",
            zh=f"{names(always, 'zh')}对其余模型从未输过或平过，"
            f"{names(never, 'zh')}对其余模型从未赢过或平过：强度之差没有上限。"
            "弱先验使其保持有限；这些对战对先后没有分歧，但看不出差距有多大",
            en=f"{names(always, 'en')} won every match against the other models, "
            f"{names(never, 'en')} lost every match against the others: the gap of strength has "
            "no upper bound. A weak prior keeps it finite; the matches agree on the order of these models, "
            "and do not tell the size of the gap",
        )


def _positions(evidence: Evidence) -> Iterator[Note]:
    verdicts = evidence.all_verdicts
    if not verdicts.first.any():
        yield Note(
            code="position unknown",
            zh="对战没有记录哪个回答排在前面，因此无法检验评审是否偏向第一个回答",
            en="the battles do not say which answer was shown first, so a preference for the first answer "
            "cannot be seen",
        )
        return
    single = np.diff(match_starts(verdicts), append=len(verdicts)) == 1
    if single.any():
        n, matches = int(single.sum()), len(single)
        yield Note(
            code="one order",
            zh=f"{matches} 场对战中有 {n} 场只按一种顺序评判过，排在前面带来的好处没有抵消",
            en=f"{n} of {matches} matches were judged in one order only, so a preference for the first "
            "answer does not cancel out",
        )


def _members(evidence: Evidence, chosen: NDArray[np.bool_]) -> list[str]:
    return [evidence.battles.models[index] for index in np.flatnonzero(chosen)]


def names(members: Sequence[str], language: Language) -> str:
    """Return names as a list in words."""
    listed = ("、" if language == "zh" else ", ").join(members[:MAX_NAMES])
    more = len(members) - MAX_NAMES
    if more <= 0:
        return listed
    return f"{listed}等 {len(members)} 个" if language == "zh" else f"{listed} and {more} more"
