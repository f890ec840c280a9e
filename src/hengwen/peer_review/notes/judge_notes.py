"""Notes about the judges of a peer review.

The notes report whether there are too few judges, whether the judges differ in quality, and which judges
share a preference. A note also names judges that prefer the models that the other judges rate lower. The
method ``consistency`` optimizes the weights of the judges from a random start, and a note reports how much
the ranking depends on this start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.estimates.consistency import ConsistencyVotes
from hengwen.peer_review.estimates.evidence import MIN_JUDGES
from hengwen.peer_review.notes.note import Note
from hengwen.peer_review.notes.wording import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.peer_review.estimates.evidence import Evidence
    from hengwen.peer_review.judges.tastes import Taste

ALPHA = 0.01


def judge_notes(evidence: Evidence) -> Iterator[Note]:
    """Yield the notes about the judges."""
    if evidence.judges < MIN_JUDGES:
        yield _few_judges(evidence)
    yield from _quality(evidence)
    for taste in evidence.tastes:
        yield _taste(evidence, taste)
    yield from _searches(evidence)


def _few_judges(evidence: Evidence) -> Note:
    if evidence.judges == 1:
        return Note(
            code="one judge",
            zh="只有一位评审：它的偏好与模型之间的真实差别无法区分，也没有评审权重",
            en="there is only one judge: its preferences cannot be told from real differences between the "
            "models, and there are no weights",
        )
    return Note(
        code="two judges",
        zh="只有两位评审：意见不同时无法知道谁更可靠，因此两位同等计入",
        en="there are only two judges: where they differ, it is not known which one is better, so both count "
        "alike unless the method has weights",
    )


def _quality(evidence: Evidence) -> Iterator[Note]:
    p = evidence.judges_differ_p
    model = evidence.judge_model
    if p is None or model is None:
        return
    tau = evidence.agreement(evidence.uniform_scores)
    agreement_zh = "" if tau is None else f"（与等权投票排名的 Kendall tau-b 为 {tau:.2f}）"
    agreement = "" if tau is None else f" (tau-b with the ranking by the uniform vote: {tau:.2f})"
    if p >= ALPHA:
        yield Note(
            code="judges alike",
            zh=f"看不出评审质量有差别（p = {p:.2g}）：给评审加权没有依据，等权投票同样好{agreement_zh}",
            en=f"the judges do not differ visibly in quality (p = {p:.2g}): nothing supports weights, and "
            f"the uniform vote is as good{agreement}",
        )
    elif not evidence.tastes:
        yield Note(
            code="judges differ",
            zh=f"评审质量不同（p = {p:.2g}），因此按区分度加权优于等权投票{agreement_zh}",
            en=f"the judges differ in quality (p = {p:.2g}), so weights by discrimination are better than "
            f"the uniform vote{agreement}",
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
            code="clique",
            zh=f"{names(judges, 'zh')} 互相偏袒（胜率最多高出 {size}）：不要相信评审权重，"
            "权重可能奖励这种偏袒；请去掉这些评审对彼此的判定，或与人工排名比较",
            en=f"{names(judges, 'en')} favour one another (by up to {size} of the wins): do not trust the "
            "weights of judges, which may reward this; leave out their verdicts on one another, or "
            "compare with a human ranking",
        )
    return Note(
        code="common taste",
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
