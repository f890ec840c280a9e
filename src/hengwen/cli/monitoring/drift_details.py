"""Format details of one score in a drift report: order of the means, variance, prompts, human ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.cli.monitoring import drift_words as words
from hengwen.relevance_metrics.inference.sequence_metrics import MAIN_METRICS
from hengwen.relevance_metrics.summaries.trajectory import MIN_WINDOWS
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, number, p_text, percent, plural, signed

if TYPE_CHECKING:
    from hengwen.monitoring.drift.score_drift import HumanAgreement, PromptChange, ScoreDrift
    from hengwen.relevance_metrics import MetricResult
    from hengwen.relevance_metrics.inference.sequence_metrics import SequenceMetric
    from hengwen.relevance_metrics.summaries.trajectory import Trajectory

MAX_HUMAN = 6
"""Maximum number of checkpoints whose agreement with humans is printed; the newest ones are chosen."""


def detail_lines(score: ScoreDrift) -> list[Bilingual]:
    """The lines that a drift report prints about one score, below the lines on difference and drift."""
    return [
        *(_course_lines(score.course) if score.course else []),
        *_variance_lines(score),
        *_prompt_lines(score),
        *_human_lines(score),
    ]


def _course_lines(course: Trajectory) -> list[Bilingual]:
    texts = [
        (
            f"{metric.title.en} ({metric.symbol}) ",
            f"{metric.title.zh}（{metric.symbol}）",
            _metric(metric, course),
        )
        for metric in MAIN_METRICS
        if metric.name in course.metrics
    ]
    zh = "；".join(title + text.replace(", ", "，") for _, title, text in texts)
    en = "; ".join(title + text for title, _, text in texts)
    lines = [
        Bilingual(
            f"均值的次序（方括号内为随机次序的期望，p 未校正）：{zh}",
            f"order of the means (in brackets: expected in random order; p not corrected): {en}",
        )
    ]
    if course.too_short:
        n = course.windows
        lines.append(
            Bilingual(
                f"PEN 只有 {n} 个模式，少于 {MIN_WINDOWS} 个时偏低，请忽略",
                f"ignore PEN: it has {plural(n, 'pattern')}, and below {MIN_WINDOWS} it is too low",
            )
        )
    if course.block:
        lines.append(
            Bilingual(
                f"p* 把相邻 {course.block} 个检查点作为一块打乱，容许相邻均值相关；两种 p 不同时以 p* 为准",
                f"p* keeps {course.block} neighbouring checkpoints together, as a mean may depend on the one "
                "before; where p and p* differ, use p*",
            )
        )
    return lines


def _metric(metric: SequenceMetric, course: Trajectory) -> str:
    result = course.metrics[metric.name]
    maximum = "" if metric.maximum is None else f"/{metric.maximum(course.n)}"
    null = _null(result, course.block_p.get(metric.name))
    return f"{number(result.value, metric.decimals)}{maximum}{null}"


def _null(result: MetricResult, block_p: float | None) -> str:
    if result.null_mean is None or result.p is None:
        return ""
    block = "" if block_p is None else f", p* {p_text(block_p)}"
    return f" [{number(result.null_mean, 1)}], p {p_text(result.p)}{block}"


def _variance_lines(score: ScoreDrift) -> list[Bilingual]:
    variance = score.variance
    if variance is None:
        return []
    judge = variance.judge
    repeat = None if variance.repeat is None else variance.repeat - (judge or 0.0)
    rest = {
        Bilingual("各题变化不同", "prompts that change differently"): variance.interaction,
        Bilingual("同题多次回答", "answers to one prompt"): repeat,
    }
    if repeat is None:  # without repeats, the interaction contains their variance
        rest = {
            Bilingual(
                "各题变化不同或同题多次回答不同（无法分开）",
                "prompts that change differently or have repeats that differ (not known apart)",
            ): variance.interaction - (judge or 0.0)
        }
    shares: dict[Bilingual, float | None] = {
        Bilingual("题目", "prompt"): variance.prompt,
        Bilingual("检查点", "checkpoint"): variance.checkpoint,
        **rest,
        **({Bilingual("同一回答多次评审", "verdicts on one answer"): judge} if score.kind == "judge" else {}),
    }
    total = sum(max(0.0, part) for part in shares.values() if part is not None)
    if total <= 0:
        prompts = plural(variance.prompts, "prompt")
        return [
            Bilingual(
                f"方差为零：{variance.prompts} 题的得分全部相同",
                f"no variance: all scores of {prompts} are equal",
            )
        ]
    texts = [
        (name, Bilingual("未知", "unknown") if part is None else _both(percent(max(0.0, part) / total)))
        for name, part in shares.items()
    ]
    zh = "，".join(f"{name.zh} {text.zh}" for name, text in texts)
    en = ", ".join(f"{name.en} {text.en}" for name, text in texts)
    if variance.judge_unreadable:
        unreadable = variance.judge_unreadable
        zh += f"（{unreadable} 个回答的评审等级不知对应何值）"
        en += f" ({plural(unreadable, 'answer')} with levels whose values are not known)"
    n = variance.prompts
    return [Bilingual(f"方差来源（{n} 题）：{zh}", f"variance by source ({plural(n, 'prompt')}): {en}")]


def _both(text: str) -> Bilingual:
    return Bilingual(text, text)


def _prompt_lines(score: ScoreDrift) -> list[Bilingual]:
    if not score.prompts_vary:
        return [words.SIMILAR_CHANGES if score.shrunken else words.EQUAL_CHANGES]
    if not score.changes:
        return []
    fine = max(2, decimals_for(score.scale, [item.mean for item in score.means]))
    rises = [change for change in score.changes if change.shrunken > 0]
    falls = [change for change in score.changes if change.shrunken < 0][::-1]
    kind = (
        Bilingual("已按多次回答的波动缩小", "noisy changes are reduced")
        if score.shrunken
        else Bilingual("没有多次回答，未缩小", "not reduced, there are no repeats")
    )
    lines = [
        Bilingual(
            f"逐题变化（仅供查看，未检验，{kind.zh}）：",
            f"changes of prompts (for a first look, not tested, {kind.en}):",
        )
    ]
    for name, changes in ((Bilingual("升", "up"), rises), (Bilingual("降", "down"), falls)):
        if changes:
            text = ", ".join(_change(change, fine) for change in changes)
            lines.append(Bilingual(f"　{name.zh}：{text.replace(', ', '，')}", f"  {name.en}: {text}"))
    return lines


def _change(change: PromptChange, decimals: int) -> str:
    return f"{change.prompt} {signed(change.shrunken, decimals)}"


def _human_lines(score: ScoreDrift) -> list[Bilingual]:
    over = [item for item in score.human if not item.checkpoint]
    by_checkpoint = [item for item in score.human if item.checkpoint]
    lines = []
    if over:
        lines.append(
            Bilingual(
                f"人对检查点的排序与此分数（p 未校正）：{_agreement(over[0], 'zh')}",
                f"human ranking of the checkpoints (p not corrected): {_agreement(over[0], 'en')}",
            )
        )
    rest = len(by_checkpoint) - MAX_HUMAN
    lines += [
        Bilingual(
            f"人的排序与 {item.checkpoint}（p 未校正）：{_agreement(item, 'zh')}",
            f"human ranking at {item.checkpoint} (p not corrected): {_agreement(item, 'en')}",
        )
        for item in by_checkpoint[-MAX_HUMAN:]
    ]
    if rest > 0:
        lines.append(
            Bilingual(f"之前 {rest} 个检查点见 --json", f"{plural(rest, 'earlier checkpoint')}: see --json")
        )
    return lines


def _agreement(item: HumanAgreement, language: str) -> str:
    ranking = item.ranking
    pairs = ranking.n * (ranking.n - 1) // 2
    cin, lis = f"CIN {ranking.cin}/{pairs}", f"LIS {ranking.lis}/{ranking.n}"
    if language == "zh":
        tau = "不可计算（全部并列）" if ranking.tau_b is None else signed(ranking.tau_b, 2)
        p = "" if ranking.tau_p is None else f"，p {p_text(ranking.tau_p)}"
        return f"tau-b {tau}{p}，{cin}，{lis}，{ranking.n} 项"
    tau = "undefined (all tied)" if ranking.tau_b is None else signed(ranking.tau_b, 2)
    p = "" if ranking.tau_p is None else f", p {p_text(ranking.tau_p)}"
    return f"tau-b {tau}{p}, {cin}, {lis}, {plural(ranking.n, 'item')}"
