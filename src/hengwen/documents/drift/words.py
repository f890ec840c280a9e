"""The words of a drift report: the answers to its two questions, and what limits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hengwen.documents import cells
from hengwen.documents.blocks import Text, Tone, Verdict
from hengwen.documents.cells import ScoreName
from hengwen.documents.missing import least_text, missing_text
from hengwen.monitoring.drift.answers import is_constant
from hengwen.monitoring.drift.score_drift import (
    BaselineDifference,
    DriftAnswer,
    DriftReport,
    LeftOut,
    ScoreDrift,
    StepTests,
)
from hengwen.results.comparisons import ALPHA, CHANGES
from hengwen.stats.checkpoints import MIN_CORRELATED, SlopeTest
from hengwen.stats.step_down import MIN_UNITS
from hengwen.text.language import COLON, COMMA, NO_TEXT, SEMICOLON, SENTENCE, SPACE, Bilingual, both
from hengwen.text.numbers import decimals_for, interval, number, p_text, signed

MAX_NAMES = 8
"""Maximum number of scores or checkpoints that a list names."""
MAX_PAIRS = 4
"""Maximum number of differing pairs of checkpoints that a verdict names."""
MAX_MEANS = 12
"""Maximum number of checkpoints whose means a verdict names; of more, it names the first and the last."""
DIFFERS: Mapping[str, tuple[Tone, Bilingual]] = {
    "differ": ("plain", Bilingual("有差别", "differ")),
    "no difference seen": ("none", Bilingual("未见差异", "no difference seen")),
    "too few prompts": ("open", cells.CANNOT_TELL),
    "missing scores": ("open", Bilingual("得分缺失过多，不下结论", "too many missing scores for a verdict")),
    "not comparable": ("plain", Bilingual("无法比较", "not comparable")),
    "one checkpoint": ("open", Bilingual("只有一个检查点", "only one checkpoint")),
}
DRIFTS: Mapping[str, tuple[Tone, Bilingual]] = {
    "drift": ("plain", Bilingual("发生漂移", "drift")),
    "no change beyond the usual movement seen": (
        "none",
        Bilingual("未见超出平常波动的变化", "no change beyond the usual movement seen"),
    ),
    "cannot be told from the usual movement": (
        "open",
        Bilingual("无法与平常波动区分", "cannot be told from the usual movement"),
    ),
    "order unknown": ("open", Bilingual("检查点先后未知", "order of checkpoints unknown")),
}
DIRECTIONS: Mapping[str, tuple[Tone, Bilingual]] = {
    "better": ("better", Bilingual("，变好", " for the better")),
    "worse": ("worse", Bilingual("，变差", " for the worse")),
    "": ("plain", NO_TEXT),
}
FIRST = Bilingual("在这类题目上，检查点之间有差别吗？", "Do these checkpoints differ on prompts like these?")
SECOND = Bilingual("差别是否超出检查点平常的波动？", "Is that more than checkpoints usually move?")
LEFT_OUT = Bilingual("略去", "Left out")
_WITHOUT = Bilingual("去掉 {} ，结论就是：{}", "without {} the answer would be: {}")
_WITHOUT_ANY = Bilingual("去掉 {} 中任一个，结论就是：{}", "without any one of {} the answer would be: {}")
GROUP_SCORE = Bilingual("无法回答，没有逐题的值", "cannot be answered without a value for each prompt")


def tone_of(score: ScoreDrift) -> Tone:
    """Return what the answers say of a score: worse or better only if it drifts."""
    if score.drifts == "drift":
        return direction_tone(score)
    if score.differs in ("differ", "not comparable") and score.drifts in DRIFTS:
        return DRIFTS[score.drifts][0]
    return DIFFERS[score.differs][0]


def answer_tone(answer: DriftAnswer) -> Tone:
    """Return what an answer to the second question says."""
    return (DRIFTS.get(answer) or DIFFERS[answer])[0]


def first_answers(report: DriftReport, names: Mapping[str, ScoreName]) -> list[Verdict]:
    """Return the answers to the first question, each with the scores that have it."""
    differing = {item.address for item in report.groups if item.verdict in CHANGES}
    answers: dict[tuple[Tone, Bilingual], list[Bilingual]] = {}
    for score in report.scores:
        answer = (DIFFERS[score.differs][0], first_answer(score))
        if score.address in differing:
            answer = DIFFERS["differ"]
        answers.setdefault(answer, []).append(names[score.address].words)
    return [
        Verdict(
            tone=tone,
            subject=word.capitalized,
            sentence=names_text(listed),
        )
        for (tone, word), listed in answers.items()
    ]


def left_out_verdicts(report: DriftReport, names: Mapping[str, ScoreName]) -> list[Verdict]:
    """Return, for each score that is tested without some checkpoints, which these are and why."""
    verdicts = []
    for score in report.scores:
        if not score.left_out or not score.means:
            continue
        name, decimals = names[score.address].words, mean_decimals(score)
        texts = SEMICOLON.join(left_out_text(item, decimals) for item in score.left_out)
        sentence = SENTENCE.format(COLON.join([name, texts]))
        verdicts.append(Verdict(tone="open", subject=LEFT_OUT, sentence=sentence))
    return verdicts


def direction_tone(score: ScoreDrift) -> Tone:
    """Return whether a drift is for the better or for the worse."""
    return DIRECTIONS[score.direction][0] if score.direction in DIRECTIONS else "plain"


def differs_text(report: DriftReport, score: ScoreDrift) -> Bilingual:
    """Return in words whether the checkpoints differ, and whether the newest differs from the baseline."""
    answer = first_answer(score)
    difference, level = score.difference, report.looks.differ_alpha
    if score.differs != "differ" or difference is None or level is None:
        return answer
    if difference.is_change(level):
        return answer
    baseline, is_mean = baseline_text(difference), len(difference.baseline) > 1
    return Bilingual(
        f"{answer.zh}，但{baseline.zh}与 {difference.newest} 之间未见差异",
        f"{answer.en}, but no difference is seen between {'the ' * is_mean}{baseline.en} and "
        f"{difference.newest}",
    )


def first_answer(score: ScoreDrift) -> Bilingual:
    """Return in words whether the checkpoints differ in one score."""
    if score.differs == "too few prompts":
        return cells.cannot_tell_text(max((item.clusters for item in score.comparisons), default=0))
    return GROUP_SCORE if score.problem == "group score" else DIFFERS[score.differs][1]


def drifts_text(score: ScoreDrift) -> Bilingual:
    """Return in words whether one score drifts, and whether it gets better or worse."""
    answer = (DRIFTS.get(score.drifts) or DIFFERS[score.drifts])[1]
    direction = _mixed_text(score) if score.direction == "mixed" else DIRECTIONS[score.direction][1]
    return NO_TEXT.join([answer, direction])


def _mixed_text(score: ScoreDrift) -> Bilingual:
    rises = score.steps is not None and score.steps.slope is not None and score.steps.slope.slope > 0
    if rises == (score.scale is None or score.scale.higher_is_better):
        return Bilingual(
            "，趋势变好，最新检查点变差", ", trend for the better, newest checkpoint for the worse"
        )
    return Bilingual("，趋势变差，最新检查点变好", ", trend for the worse, newest checkpoint for the better")


def baseline_text(difference: BaselineDifference) -> Bilingual:
    """Return the name of the baseline: one checkpoint, or the mean of several."""
    first, *others = difference.baseline
    if not others:
        return both(first)
    n, last = 1 + len(others), others[-1]
    return Bilingual(
        f"前 {n} 个检查点（{first} … {last}）的均值", f"mean of {n} checkpoints ({first} … {last})"
    )


def means_text(score: ScoreDrift) -> Bilingual:
    """Return the mean of each checkpoint; of many, the first and the last."""
    decimals = mean_decimals(score)
    texts = [f"{item.checkpoint} {number(item.mean, decimals)}" for item in score.means]
    if len(texts) > MAX_MEANS:
        texts = [*texts[:3], "…", *texts[-3:]]
    head = Bilingual("均值", "means")
    if len({item.prompts for item in score.means}) > 1:
        head = Bilingual("均值（已按缺失的题调整）", "means, adjusted for missing prompts")
    return COLON.join([head, COMMA.join(texts)])


def left_out_text(item: LeftOut, decimals: int) -> Bilingual:
    """Return why a checkpoint is left out of the tests of a score."""
    name = item.checkpoint
    if item.problem == "keys":
        return Bilingual(f"{name} 的评分设置不同（{item.detail}）", f"{name}, because {item.detail}")
    if item.problem == "coverage":
        shares = item.coverage or 0.0, item.answer_coverage or 0.0
        return COMMA.join([missing_text(name, *shares, item.bounds, decimals), least_text()])
    return Bilingual(f"{name} 没有这项分数", f"{name} does not have this score")


def first_reasons(report: DriftReport, score: ScoreDrift) -> list[Bilingual]:
    """Return what limits the answer to the first question."""
    reasons, difference = pair_texts(report, score), score.difference
    if score.problem == "group score":
        reasons.append(
            Bilingual(
                "整组回答只有一个数值，无法逐题比较",
                "one value for all answers, so prompts cannot be compared",
            )
        )
    if difference is not None and score.differs != "differ":
        fine = fine_decimals(score)
        reasons.append(
            cells.detectable_text(difference.detectable, fine, difference.clusters, difference.prompts)
        )
    if score.differs == "too few prompts":
        clusters = max((item.clusters for item in score.comparisons), default=0)
        reasons.append(
            cells.too_few_text(MIN_UNITS)
            if clusters < MIN_UNITS
            else Bilingual(
                "得分不同的题目太少：即使方向全部一致也看不出差别",
                "too few prompts differ: no difference could have been seen, even if all had changed in one "
                "direction",
            )
        )
    return reasons


def pair_texts(report: DriftReport, score: ScoreDrift) -> list[Bilingual]:
    """Return the pairs of checkpoints that differ, those of the newest checkpoint first."""
    pairs = [item for item in score.comparisons if item.verdict in CHANGES]
    last, fine = len(score.means) - 1, fine_decimals(score)
    pairs.sort(key=lambda item: (item.later != last, item.p_adjusted))
    texts = []
    for item in pairs[:MAX_PAIRS]:
        earlier, later = (score.means[index].checkpoint for index in (item.earlier, item.later))
        numbers = signed(item.test.difference, fine)
        if item.interval is not None:
            numbers += f" {interval(item.interval, fine)}"
        if report.order_problem:
            pair = Bilingual(f"{earlier} 与 {later} 有差别", f"{earlier} and {later} differ")
        elif item.verdict == "worse":
            pair = Bilingual(f"{later} 比 {earlier} 差", f"{later} is worse than {earlier}")
        else:
            pair = Bilingual(f"{later} 比 {earlier} 好", f"{later} is better than {earlier}")
        facts: list[Text] = [numbers, p_text(item.p_adjusted), cells.family_text(report.differ_tests)]
        texts.append(COLON.join([pair, COMMA.join(facts)]))
    if len(pairs) > MAX_PAIRS:
        more = len(pairs) - MAX_PAIRS
        differ = "pair differs" if more == 1 else "pairs differ"
        texts.append(Bilingual(f"另有 {more} 对有差别", f"{more} more {differ}"))
    return texts


def second_reasons(report: DriftReport, score: ScoreDrift) -> list[Bilingual]:
    """Return the tests behind the answer to the second question, and what limits it."""
    steps = score.steps
    if score.drifts == "order unknown":
        return []
    if steps is None:
        return [
            Bilingual(
                "至少需要 4 个检查点，才知道平常的波动有多大",
                "4 checkpoints are needed to know how far one usually moves",
            )
        ]
    reasons = trend_lines(steps, report.looks.drift_alpha or report.alpha)
    if steps.independent is None:
        reasons.append(_missing_slope_text(score))
    elif steps.slope is not None and score.drifts != "drift":
        reasons.append(_smallest_trend(score, steps))
    if steps.independent is not None and steps.newest is None:
        reasons.append(
            Bilingual(
                "之前的检查点均值全部相同，无从得知平常波动有多大",
                "all earlier checkpoints have the same mean, so the usual movement is not known",
            )
        )
    if steps.newest is not None and steps.mean_error is None:
        reasons.append(_unknown_error_text(score))
    return [*reasons, *omission_texts(score)]


def _smallest_trend(score: ScoreDrift, steps: StepTests) -> Bilingual:
    n, smallest, scale = len(score.means), steps.slope_detectable, score.scale
    if scale and smallest is not None and smallest > scale.high - scale.low:
        return Bilingual(
            f"{n} 个检查点太少：连贯穿整个分数范围的变化也可能检不出",
            f"{n} checkpoints are too few: even a change over the whole scale may go unseen",
        )
    text = Bilingual("从首到末可检出的最小变化约", "smallest detectable change from first to last about")
    return SPACE.join([text, number(smallest, fine_decimals(score))])


def trend_lines(steps: StepTests, level: float) -> list[Bilingual]:
    """Return whether the means rise or fall: for independent checkpoints, and for any neighbours."""
    if steps.independent is None:
        return []
    first = Bilingual(
        "若各检查点的波动互相独立：{}，未校正", "if checkpoints scatter independently: {}, not corrected"
    )
    second = Bilingual(
        f"无法判断，需要 {MIN_CORRELATED} 个检查点",
        f"cannot be told, {MIN_CORRELATED} checkpoints are needed",
    )
    if steps.slope is not None:
        p = steps.slope.p if steps.slope_p_adjusted is None else steps.slope_p_adjusted
        second = _course(steps.slope, p, level)
    return [
        first.format(_course(steps.independent, steps.independent.p, ALPHA)),
        COLON.join([Bilingual("即使相邻检查点一起起伏", "even if neighbours move together"), second]),
    ]


def _course(test: SlopeTest, p: float, level: float) -> Bilingual:
    verb = (
        Bilingual("未见升降", "no rise or fall seen")
        if p > level
        else Bilingual("上升", "rises")
        if test.slope > 0
        else Bilingual("下降", "falls")
    )
    return COMMA.join([verb, p_text(p)])


def omission_texts(score: ScoreDrift) -> list[Bilingual]:
    """Return the checkpoints without which the answer would be another, with that answer."""
    texts = []
    for drifts, direction in dict.fromkeys((item.drifts, item.direction) for item in score.omissions):
        names = [
            item.checkpoint
            for item in score.omissions
            if (item.drifts, item.direction) == (drifts, direction)
        ]
        answer = drifts_text(replace(score, drifts=drifts, direction=direction))
        text = _WITHOUT_ANY if len(names) > 1 else _WITHOUT
        texts.append(text.format(names_text(names), answer))
    return texts


def names_text(names: Sequence[str | Bilingual]) -> Bilingual:
    """Return the first names of a list, and how many there are."""
    rest = len(names) - MAX_NAMES
    more = Bilingual(f" 等 {len(names)} 项", f" and {rest} more") if rest > 0 else ""
    return NO_TEXT.join([COMMA.join(names[:MAX_NAMES]), more])


def _missing_slope_text(score: ScoreDrift) -> Bilingual:
    """Return why there is no test of the slope: all means are equal, or they lie on one line."""
    if is_constant([item.mean for item in score.means]):
        return Bilingual("各检查点的均值全部相同", "all checkpoints have the same mean")
    return Bilingual(
        "各检查点的均值恰好在一条直线上，无从得知平常波动有多大",
        "the means of all checkpoints lie on one line, so the usual movement is not known",
    )


def _unknown_error_text(score: ScoreDrift) -> Bilingual:
    reason = Bilingual("互相独立的题目太少", "too few independent prompts")
    if score.problem == "group score":
        reason = Bilingual("整组回答只有一个数值", "one value for all answers")
    return Bilingual(
        "这些题目上均值的误差未知（{}），最新检查点的检验只用之前各均值的波动",
        "the error of a mean on these prompts is not known ({}), so the test of the newest checkpoint uses "
        "only the scatter of the earlier means",
    ).format(reason)


def mean_decimals(score: ScoreDrift) -> int:
    """Return the decimals of means."""
    return decimals_for(score.scale, [item.mean for item in score.means])


def fine_decimals(score: ScoreDrift) -> int:
    """Return the decimals of differences, which are smaller than the means."""
    return max(cells.MIN_DECIMALS, mean_decimals(score))
