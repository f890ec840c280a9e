"""The sentences of a judge drift report: why a score has its verdict."""

from __future__ import annotations

from collections.abc import Mapping

from hengwen.documents.missing import least_text
from hengwen.monitoring.judge_drift.effects import JudgeConsistency, LengthAdjustment
from hengwen.monitoring.judge_drift.verdicts import (
    ANCHORS_FOR_VERDICT,
    MIN_ANCHORS,
    SECOND_ALPHA,
    AnchorAgreement,
    JudgedScoreDrift,
    Reason,
)
from hengwen.results.comparisons import ALPHA
from hengwen.text.language import SPACE, Bilingual
from hengwen.text.numbers import decimals_for, interval, number, one_line, p_text, percent, plural, signed

MAX_SETTING = 300
"""Maximum number of characters of a changed setting that a verdict names."""
_REASONS: Mapping[Reason, Bilingual] = {
    "equal evidence": Bilingual(
        "模型或评审变了，但两个 p 相同，看不出是哪一个；增加题目可能看得出",
        "the model or the judge changed, but both p are equal, so nothing shows which; more prompts may show "
        "it",
    ),
    "too few": Bilingual(
        "互相独立的题目太少，任何结果都不可能显著",
        "too few independent prompts for a significant result",
    ),
    "not judged again": Bilingual(
        "早先的回答没有重新评审，也没有两次运行都评审过的锚点；请用 hengwen judge-drift PLAN",
        "the earlier answers were not judged again, and no anchors were judged in both runs; "
        "use hengwen judge-drift PLAN",
    ),
    "judged again once": Bilingual(
        "早先的回答只重新评审了一遍，不知评审自身有多不一致；同一命令会补上第二遍",
        "the earlier answers were judged again only once, so how far the judge repeats itself is not known; "
        "the same command judges them a second time",
    ),
    "judged once each": Bilingual(
        "每位评审对每个回答只评了一遍，不知评审自身有多不一致",
        "each judge scored an answer once, so how far a judge repeats itself is not known",
    ),
    "judge agreement": Bilingual(
        "均值几乎没变，但对同样回答的新旧评分一致得不够，不能说评审没变",
        "the means hardly changed, but old and new verdicts on the same answers agree too little to say that "
        "the judge has not changed",
    ),
    "length": Bilingual(
        "模型变了，或者评审对较长回答的尺度变了",
        "the model changed, or the judge on longer answers",
    ),
    "few anchors": Bilingual(
        f"锚点不足 {MIN_ANCHORS} 个（通常需要 {ANCHORS_FOR_VERDICT} 至 300 个）；"
        "也可用 hengwen judge-drift PLAN",
        f"fewer than {MIN_ANCHORS} anchors ({ANCHORS_FOR_VERDICT} to 300 are usually needed); "
        "hengwen judge-drift PLAN needs none",
    ),
    "anchor levels": Bilingual(
        "超过 5% 的回答所在等级没有锚点", "more than 5% of the answers have a level that no anchor has"
    ),
    "judge changed": Bilingual(
        "两次运行的评审不同，分数不可比；请用 hengwen judge-drift PLAN",
        "the two runs have different judges, so their scores are not comparable; "
        "use hengwen judge-drift PLAN",
    ),
    "judges differ": Bilingual(
        "重新评审时的评审与较晚一次运行的评审不同，两批回答不可比；请用同一评审运行和重新评审",
        "the earlier answers were judged again by another judge than the later answers, so the two are not "
        "comparable; run and re-judge with the same judge",
    ),
    "group score": Bilingual(
        "整组回答只有一个数值，没有逐题的值", "one value for a group of answers, none for each prompt"
    ),
    "not scored": Bilingual("其中一次运行没有这项分数", "one of the runs does not have this score"),
    "no common prompts": Bilingual("没有双方都有的题目", "the runs have no prompt in common"),
}
_EQUAL_VERDICTS = Bilingual(
    "所有评分都相同，看不出评审是否还在读回答",
    "all verdicts are equal, so whether the judge reads the answers is not known",
)
_CHANGE = Bilingual("评审的设置变了：{} {} → {}", "the judge's {} changed: {} → {}")
_CONFLICT = Bilingual("重新评审：{} {}；较晚的运行：{}", "{}: {} where judged again, {} in the later run")
_OLD_JUDGE = Bilingual(
    "原来的评审已不是当时的评审：{} {} → {}；它对新回答的评分没有使用",
    "the old judge is not what it was: {} {} → {}; its verdicts on the later answers are not used",
)


def score_name(score: JudgedScoreDrift) -> str:
    """Return the address of a score, or what tells a panel member from the others."""
    return one_line(score.label or score.address, MAX_SETTING)


def evidence(score: JudgedScoreDrift) -> list[Bilingual]:
    """Return why a score has its verdict, and what its judge's verdicts on the same answers say."""
    lines = [_reason(score)] if score.reason else []
    if score.verdict == "stable":
        lines.append(_stable_text(score))
    elif score.verdict in ("model drifted", "judge drifted"):
        lines += _second_change(score)
    changes = (
        (_CHANGE, score.changes),
        (_CONFLICT, score.conflicts),
        (_OLD_JUDGE, score.old_conflicts),
    )
    for text, differences in changes:
        for change in differences:
            this, that = (one_line(value, MAX_SETTING) for value in (change.this, change.that))
            lines.append(text.format(change.part, this, that))
    decimals = _decimals(score)
    if score.consistency is not None:
        lines += _consistency_texts(score.consistency, decimals)
    if score.length is not None and score.length.p > ALPHA and _is_model_seen(score):
        lines.append(_length_text(score.length, decimals))
    if score.agreement is not None:
        lines.append(_agreement_text(score.agreement, decimals))
    return lines


def _reason(score: JudgedScoreDrift) -> Bilingual:
    if score.reason == "missing scores":
        prompts, answers, least = percent(score.coverage), percent(score.answer_coverage), least_text()
        return Bilingual(
            f"只有 {prompts} 的题、{answers} 的回答有要比较的得分；{least.zh}",
            f"{prompts} of the prompts and {answers} of the answers have the scores to compare; {least.en}",
        )
    if score.reason != "not enough evidence":
        return _REASONS[score.reason]
    margin = number(score.margin, 3) if score.margin else ""
    needed = []
    if score.prompts_needed is not None:
        needed.append(Bilingual(f"{score.prompts_needed} 题", plural(score.prompts_needed, "prompt")))
    if score.anchors_needed is not None:
        needed.append(Bilingual(f"{score.anchors_needed} 个锚点", plural(score.anchors_needed, "anchor")))
    if not margin or not needed:
        return Bilingual(
            "没有看出变化，但也不能说没有变化", "no change is seen, which does not mean that there is none"
        )
    return Bilingual(
        "没有看出变化，但不能排除大于 {} 的变化；若其实没有变化，约需 {}才能判定“稳定”",
        "no change is seen, but one above {} cannot be excluded; if there is none, about {} are needed to "
        'say "stable"',
    ).format(margin, Bilingual("和 ", " and ").join(needed))


def _stable_text(score: JudgedScoreDrift) -> Bilingual:
    decimals = _decimals(score)
    margin = number(score.margin, decimals)
    judge, model, later = (
        interval(effect.interval_90 if effect else None, decimals)
        for effect in (score.judge, score.model, score.interaction)
    )
    if score.interaction is not None:
        return Bilingual(
            f"三个变化的 90% 区间都在 ±{margin} 之内：评审 {judge}，评审（新减旧回答） {later}，模型 {model}",
            f"all three 90% intervals lie within ±{margin}: judge {judge}, judge on later minus earlier "
            f"answers {later}, model {model}",
        )
    return Bilingual(
        f"两个变化的 90% 区间都在 ±{margin} 之内：评审 {judge}，模型 {model}",
        f"both 90% intervals lie within ±{margin}: judge {judge}, model {model}",
    )


def _second_change(score: JudgedScoreDrift) -> list[Bilingual]:
    """Return a sentence if both judge and model may have changed, but the verdict names only one of them."""
    is_model = score.verdict == "model drifted"
    model_p = None if score.model is None else score.model.p_adjusted
    p = score.judge_p if is_model else model_p
    if p is None or p > ALPHA:
        return []
    text = Bilingual(
        f"{{}}可能也变了，但 p 未达到判定两者都变所需的 {SECOND_ALPHA}",
        f"{{}} may have changed too, but its p is above {SECOND_ALPHA}, the limit for naming both",
    )
    return [text.format(Bilingual("评审", "the judge") if is_model else Bilingual("模型", "the model"))]


def _is_model_seen(score: JudgedScoreDrift) -> bool:
    return score.model is not None and score.model.p_adjusted is not None and score.model.p_adjusted <= ALPHA


def _length_text(length: LengthAdjustment, decimals: int) -> Bilingual:
    first, second = (number(value, 0) for value in length.lengths)
    slope, left, p = signed(length.slope, decimals), signed(length.remaining, decimals), p_text(length.p)
    return Bilingual(
        f"回答平均 {first} → {second} 字，评审每百字变化 {slope}；扣除后模型的变化 {left}，{p}",
        f"answers of {first} → {second} characters, change of the judge {slope} per 100; without it, "
        f"change of the model {left}, {p}",
    )


def _consistency_texts(consistency: JudgeConsistency, decimals: int) -> list[Bilingual]:
    """Return how far old and new verdicts on the same answers agree, beside two new verdicts."""
    if consistency.kappa is None:
        return [_EQUAL_VERDICTS]
    kappa = interval(consistency.kappa_interval, 2) if consistency.kappa_interval else ""
    seen = f"κ {number(consistency.kappa, 2)} {kappa}".rstrip()
    if consistency.floor is None or consistency.excess is None or consistency.p is None:
        text = Bilingual(
            "同样的回答，新旧评分的一致性", "agreement of old and new verdicts on the same answers"
        )
        return [SPACE.join([text, seen])]
    p = consistency.p if consistency.p_adjusted is None else consistency.p_adjusted
    floor = f"κ {number(consistency.floor, 2)}"
    return [
        Bilingual(
            f"同样的 {consistency.answers} 个回答，新旧评分的一致性 {seen}；两遍新评分之间 {floor}",
            f"on the same {plural(consistency.answers, 'answer')}, agreement of old and new verdicts {seen}; "
            f"of two new verdicts {floor}",
        ),
        Bilingual(
            f"新旧之间的距离比两遍新评分之间大 {signed(consistency.excess, decimals)}，{p_text(p)}",
            f"old and new are {signed(consistency.excess, decimals)} farther apart than two new verdicts, "
            f"{p_text(p)}",
        ),
    ]


def _agreement_text(agreement: AnchorAgreement, decimals: int) -> Bilingual:
    then, now = number(agreement.error_then, decimals), number(agreement.error_now, decimals)
    p = p_text(agreement.p)
    return Bilingual(
        f"在 {agreement.anchors} 个锚点上，评审分与人工分的平均差 {then} → {now}，{p}，未校正",
        f"on {plural(agreement.anchors, 'anchor')}, the mean difference between judge and people "
        f"{then} → {now}, {p}, not corrected",
    )


def _decimals(score: JudgedScoreDrift) -> int:
    return max(3, decimals_for(score.scale, [score.then, score.again, score.now]))
