"""What a summary means, in words, in English and Chinese."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from hengwen.relevance_metrics.core.inputs import check_choice

if TYPE_CHECKING:
    from hengwen.relevance_metrics.summaries.summary import MetricResult, SequenceSummary

_ALPHA = 0.05
_TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "level": "Level: {n} scores, mean {mean}, median {median}, {share} at or above {top}.",
        "pen": "Permutation entropy (m={m}, delay={delay}): {value} nats, {part} of log {m}!.{null} "
        "{verdict}",
        "pen_none": "Permutation entropy: {n} scores are too few for m={m} and delay={delay}; {need} are "
        "needed.",
        "cin": "Inversions: {value} of {pairs} pairs fall.{null} {verdict}",
        "lis": "Longest increasing subsequence: {value}, or {weak} if equal scores may follow.{null} "
        "{verdict}",
        "null": " Random order of the same scores gives {mean} (sd {sd}){z}, p {p}.",
        "z": ", z {z}",
        "pen_low": "The short ups and downs are more regular than chance.",
        "pen_high": "The short ups and downs are more varied than chance.",
        "pen_same": "The short ups and downs are no different from random order.",
        "cin_low": "Later scores tend to be higher: a rise beyond chance.",
        "cin_high": "Later scores tend to be lower: a fall beyond chance.",
        "cin_same": "There is no rise or fall beyond chance; a small one may be missed.",
        "lis_high": "The longest rise is longer than chance gives.",
        "lis_low": "The longest rise is shorter than chance gives.",
        "lis_same": "That is what random order gives.",
        "untold": "It was not tested.",
        "blind": "These three see the order only. If every score were lower by the same amount they would "
        "not change: they do not say how good the scores are, nor whether two checkpoints differ in level. "
        "They depend on n: compare at equal n, or by z. The p-values suppose that scores do not depend on "
        "their neighbours, and are not corrected for reading several.",
        "short": "Warning: {windows} patterns are few for m={m}. The entropy is fair from {enough} on; "
        "below, it is too low.",
        "too_short": "Warning: the sequence is too short for m={m}.",
        "ties": "Warning: there are {levels} distinct scores, and {tied} of all pairs are tied. A tie is "
        "read as a rise, so random order does not reach log {m}!, and a strict subsequence is never longer "
        "than {levels}.",
        "constant": "Warning: all scores are equal; there is no order to read.",
        "untested": "Warning: the sequence is too long for random orders; only the inversions are tested.",
    },
    "zh": {
        "level": "水平：共 {n} 个分数，均值 {mean}，中位数 {median}，{share} 的分数不低于 {top}。",
        "pen": "排列熵（m={m}，间隔 {delay}）：{value} 奈特，为 log {m}! 的 {part}。{null}{verdict}",
        "pen_none": "排列熵：{n} 个分数不够 m={m}、间隔 {delay} 使用，至少要 {need} 个。",
        "cin": "逆序数：{pairs} 对分数中有 {value} 对后者低于前者。{null}{verdict}",
        "lis": "最长上升子序列：{value}；允许相等时为 {weak}。{null}{verdict}",
        "null": "同样的分数随机排列时为 {mean}（标准差 {sd}）{z}，p 值 {p}。",
        "z": "，z 值 {z}",
        "pen_low": "短程起伏比随机排列更有规律。",
        "pen_high": "短程起伏比随机排列更多样。",
        "pen_same": "短程起伏与随机排列无异。",
        "cin_low": "后面的分数往往更高：上升超出偶然。",
        "cin_high": "后面的分数往往更低：下降超出偶然。",
        "cin_same": "看不出超出偶然的升降；小的升降可能漏掉。",
        "lis_high": "最长的上升比随机排列更长。",
        "lis_low": "最长的上升比随机排列更短。",
        "lis_same": "与随机排列相当。",
        "untold": "未作检验。",
        "blind": "这三个指标只看次序：所有分数一同降低同样多，它们都不变。"
        "因此它们不说明分数好坏，也不能说明两个检查点的水平是否不同。"
        "它们随 n 变化：只在 n 相同时比较，或比较 z 值。"
        "p 值假定分数与前后无关，且未因同时读几个指标而校正。",
        "short": "注意：m={m} 时 {windows} 个模式太少；{enough} 个起熵值才可靠，不足则偏低。",
        "too_short": "注意：序列太短，不够 m={m} 使用。",
        "ties": "注意：只有 {levels} 个不同的分数，{tied} 的分数对相等。"
        "相等按上升读，所以随机排列也达不到 log {m}!，严格上升子序列也不会长于 {levels}。",
        "constant": "注意：所有分数相等，没有次序可读。",
        "untested": "注意：序列太长，未作随机排列，只检验了逆序数。",
    },
}


def explain(summary: SequenceSummary, language: Literal["en", "zh"] = "en") -> str:
    """Return the explanation of a summary, a line for each statement.

    Raises:
        ValueError: A language other than ``en`` and ``zh``.

    Examples:
        >>> from hengwen.relevance_metrics.summaries.summary import summarize
        >>> print(explain(summarize([1, 2, 3, 4])).splitlines()[0])
        Level: 4 scores, mean 2.5, median 2.5, 25 % at or above 4.
        >>> print(explain(summarize([1, 2, 3, 4]), "zh").splitlines()[0])
        水平：共 4 个分数，均值 2.5，中位数 2.5，25 % 的分数不低于 4。
    """
    check_choice("language", language, list(_TEXTS))
    text = _TEXTS[language]
    facts = _facts(summary)
    lines = [text["level"].format(**facts), _pen(summary, text, facts)]
    cin, lis = summary.cin, summary.lis
    lines.append(
        text["cin"].format(
            value=_number(cin.value),
            pairs=summary.pairs,
            null=_null(cin, text),
            verdict=_verdict("cin", cin, text),
        )
    )
    lines.append(
        text["lis"].format(
            value=_number(lis.value),
            weak=_number(summary.lnds.value),
            null=_null(lis, text),
            verdict=_verdict("lis", lis, text),
        )
    )
    lines.append(text["blind"])
    lines += [text[warning].format(**facts) for warning in summary.warnings]
    return "\n".join(lines)


def _facts(summary: SequenceSummary) -> dict[str, Any]:
    return {
        "n": summary.n,
        "mean": _number(summary.mean),
        "median": _number(summary.median),
        "share": _percent(summary.top_share),
        "top": _number(summary.top),
        "m": summary.m,
        "delay": summary.delay,
        "need": (summary.m - 1) * summary.delay + 1,
        "windows": summary.windows,
        "enough": 5 * math.factorial(summary.m),
        "levels": summary.levels,
        "tied": _percent(summary.tied_share),
    }


def _pen(summary: SequenceSummary, text: dict[str, str], facts: dict[str, Any]) -> str:
    pen, share = summary.pen, summary.pen_share
    if pen is None or share is None:
        return text["pen_none"].format(**facts)
    return text["pen"].format(
        **facts,
        value=_number(pen.value),
        part=_percent(share),
        null=_null(pen, text),
        verdict=_verdict("pen", pen, text),
    )


def _null(reading: MetricResult, text: dict[str, str]) -> str:
    if reading.null_mean is None or reading.null_sd is None or reading.p is None:
        return ""
    z = text["z"].format(z=f"{reading.z:+.2f}") if reading.z is not None else ""
    return text["null"].format(
        mean=_number(reading.null_mean), sd=_number(reading.null_sd), z=z, p=f"{reading.p:.2g}"
    )


def _verdict(metric: str, reading: MetricResult, text: dict[str, str]) -> str:
    if reading.p is None or reading.null_mean is None:
        return text["untold"]
    if reading.p >= _ALPHA:
        return text[f"{metric}_same"]
    return text[f"{metric}_{'high' if reading.value > reading.null_mean else 'low'}"]


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
