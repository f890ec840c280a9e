"""Notes about the battles of a peer review.

The notes report, for example, duplicates, too few questions, groups of models that no battle links, and
matches that were judged in only one order of the answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.battles.matches import match_starts
from hengwen.peer_review.estimates.evidence import unranked_models
from hengwen.peer_review.notes.note import Note
from hengwen.peer_review.notes.wording import names
from hengwen.text.numbers import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hengwen.peer_review.estimates.evidence import Evidence
    from hengwen.text.language import Language

FEW_QUESTIONS = 10
"""Below this number of questions, intervals from resampled questions are too narrow."""


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
    unranked = unranked_models(evidence)
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
    if evidence.options.method not in ("judge-bt", "bradley-terry", "davidson"):
        return
    wins = evidence.counts.total(evidence.matches.outcome)[0]
    losses = evidence.counts.total(1 - evidence.matches.outcome)[0]
    pairs, linked = evidence.counts.pairs, evidence.win_groups
    beats, loses = np.zeros(evidence.models, bool), np.zeros(evidence.models, bool)
    for side, other, points in ((pairs.first, pairs.second, losses), (pairs.second, pairs.first, wins)):
        across = (linked[side] != linked[other]) & (points > 0)
        loses[side[across]] = True
        beats[other[across]] = True
    always, never = beats & ~loses, loses & ~beats
    if beats.any():
        yield Note(
            code="infinite",
            zh=f"{_winners(evidence, always, 'zh')}对其余模型从未输过或平过，"
            f"{_winners(evidence, never, 'zh')}对其余模型从未赢过或平过：强度之差没有上限。"
            "弱先验使其保持有限；这些模型的先后是确定的，差距的大小不是",
            en=f"{_winners(evidence, always, 'en')} won every match against the other models, "
            f"{_winners(evidence, never, 'en')} lost every match against the others: the gap of strength has "
            "no upper bound. A weak prior keeps it finite; the order of these models is known, the size of "
            "the gap is not",
        )


def _winners(evidence: Evidence, chosen: NDArray[np.bool_], language: Language) -> str:
    return names(_members(evidence, chosen), language)


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
    starts = match_starts(verdicts)
    single = np.diff(starts, append=len(verdicts)) == 1
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
