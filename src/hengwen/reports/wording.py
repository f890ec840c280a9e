"""Texts that the HTML and the Markdown report share, in Chinese and English."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.records import Run

Item = TypeVar("Item")

KIND_WORDS = {
    "published": ("任务得分", "task score"),
    "scorer": ("评分器", "scorer"),
    "judge": ("评审", "judge"),
    "human": ("人工", "human"),
}
MARKS = {"note": "", "alarm": "▼"}
"""For each weight of a finding (``note``, ``alarm``), the mark that is printed before the finding."""
STATUS_WORDS = {
    "finished": ("完成", "finished"),
    "running": ("进行中", "running"),
    "interrupted": ("中断", "interrupted"),
    "failed": ("失败", "failed"),
}

GUIDE = (
    (
        "均值与区间",
        "每道题先对多次回答取均值，各题等权；方括号内是以题为单位的 95% 区间"
        "（t 分布，按题或按组留一，量表两端各加一个虚拟观测值，因此全部满分时区间也不为零）。"
        "同一题的多次回答不增加题数。",
        "Means and intervals",
        "Each prompt counts once: its value is the mean of its repeats. Brackets show the 95% interval, "
        "clustered by prompt: t with a jackknife and one pseudo-observation at each end of the scale, so "
        "that equal values are never certainty. Repeats do not add prompts.",
    ),
    (
        "失败不是分数",
        "未得分的回答只计数，不按 0 分处理，也不计入均值。“20/40 题 (50%) · 60 答 (75%)”："
        "40 题中 20 题有得分，共 60 个回答得分，占应得分回答的 75%；全部得分时不写百分比。"
        "没有回答的题只算一次失败，所以要看题的覆盖率。“不适用”单独计数。",
        "Failures are not scores",
        "Failed answers are counted, never treated as 0 and never included in a mean. “20/40 prompts "
        "(50%) · 60 answers (75%)”: 20 of 40 prompts have a score, with 60 scored answers, 75% of the "
        "outcomes; no percentage is shown where all have one. A prompt without an answer is one "
        "failure whatever its repeats, so read the coverage of prompts. “Not applicable” is counted "
        "separately.",
    ),
    (
        "先看水平，再看次序",
        "PEN（排列熵，m=3）、CIN（逆序对数）、LIS（最长递增子序列）只取决于均值的大小次序："
        "所有检查点降低同样的分数，三者不变。因此先看首末水平。"
        "不足 30 个窗口（32 个检查点）时，PEN 主要是偏差，标为“太短”。",
        "Level first, order second",
        "PEN (permutation entropy, m=3), CIN (inversions) and LIS (longest increasing subsequence) depend "
        "only on the order of the means; a uniform drop does not change them. Read the level first. Below "
        "30 windows (32 checkpoints) PEN is mostly bias and is marked “too short”.",
    ),
    (
        "差别要经过检验",
        "概要中的“好”与“差”来自共同题目上的配对检验（翻转符号，双侧）：相邻检查点两两比较，"
        "末个与首个比较，p 值按全报告的检验次数用 Holm 法校正，0.05 以下才算显著。"
        "区间是否重叠不能代替检验。▼ 表示显著变差。",
        "A difference needs a test",
        "“Better” and “worse” in the summary come from paired tests on common prompts (sign flips, "
        "two-sided): each checkpoint against the one before, the last against the first, p corrected by "
        "Holm's method for all tests of the report, significant up to .05. Overlap of intervals is no test. "
        "▼ marks a significant change for the worse.",
    ),
    (
        "签名相同才可比",
        "签名包含所有会影响分数的设置；签名不同的序列不作比较。",
        "Equal signatures only",
        "A signature contains every setting that can change a score. Series with different signatures are "
        "not compared.",
    ),
)
"""How to read a report: heading and text in Chinese, then in English."""


def versions_text(runs: Sequence[Run]) -> tuple[tuple[str, str], ...]:
    """Return (checkpoints, package versions) for each group of runs with equal versions."""
    checkpoints: dict[str, list[str]] = {}
    for run in runs:
        text = " · ".join(f"{name} {version}" for name, version in sorted(run.versions.items()))
        checkpoints.setdefault(text, []).append(run.checkpoint)
    if set(checkpoints) <= {""}:
        return ()
    several = len(checkpoints) > 1
    return tuple((", ".join(names) if several else "", text) for text, names in checkpoints.items())


def group_adjacent(items: Iterable[Item], attribute: str) -> list[tuple[object, list[Item]]]:
    """Group consecutive items with the same value of an attribute, in their order."""
    return [(key, list(group)) for key, group in groupby(items, key=attrgetter(attribute))]
