"""Wording that the HTML and the Markdown report share, in Chinese and English."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.records import Run

Item = TypeVar("Item")

KIND_WORDS = {
    "published": ("任务得分", "task score"),
    "code": ("规则", "code"),
    "judge": ("评审", "judge"),
    "human": ("人工", "human"),
}
MARKS = {"note": "", "hint": "▽", "alarm": "▼"}
"""Mark printed before a finding, by weight."""
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
        "（不足 30 题用 t 分布，否则用自助法）。同一题的多次回答不增加题数。",
        "Means and intervals",
        "Each prompt counts once: its value is the mean of its repeats. Brackets show the 95% interval, "
        "clustered by prompt (t below 30 clusters, bootstrap otherwise); repeats do not add prompts.",
    ),
    (
        "失败不是分数",
        "未得分的回答只计数，不按 0 分处理，也不计入均值；"
        "覆盖率 = 得分数 /（得分数 + 失败数），“不适用”单独计数。",
        "Failures are not scores",
        "Failed answers are counted, never treated as 0 and never included in a mean. Coverage = "
        "scored / (scored + failed); “not applicable” is counted separately.",
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
        "有差别，不等于检验",
        "▼ 有差别：两个区间不重叠。▽ 可能是偶然：均值落在先前的区间之外，但两个区间重叠。"
        "本报告不做显著性检验，也不校正多重比较。",
        "“Differs” is not a test",
        "▼ differs: two intervals do not overlap. ▽ may be chance: outside the earlier interval, but the two "
        "intervals overlap. The report runs no test and makes no correction for multiple comparisons.",
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


def failure_text(failures: Mapping[str, int]) -> str:
    """Format failures by status, the most frequent first.

    Examples:
        >>> failure_text({"timeout": 1, "parse_error": 3})
        'parse_error 3, timeout 1'
    """
    return ", ".join(f"{status} {n}" for status, n in sorted(failures.items(), key=lambda item: -item[1]))


def versions_text(runs: Sequence[Run]) -> tuple[tuple[str, str], ...]:
    """Return (checkpoints, versions) for each set of versions; checkpoints are empty if all runs share one.

    Examples:
        >>> from hengwen.records import Run
        >>> rest = {"plan": "p", "plan_hash": "", "versions": {"hengwen": "0.1.0"}}
        >>> versions_text([Run(id=name, checkpoint=name, **rest) for name in "ab"])
        (('', 'hengwen 0.1.0'),)
    """
    checkpoints: dict[str, list[str]] = {}
    for run in runs:
        text = " · ".join(f"{name} {version}" for name, version in sorted(run.versions.items()))
        checkpoints.setdefault(text, []).append(run.checkpoint)
    if set(checkpoints) <= {""}:
        return ()
    several = len(checkpoints) > 1
    return tuple((", ".join(names) if several else "", text) for text, names in checkpoints.items())


def group_adjacent(items: Iterable[Item], attribute: str) -> list[tuple[object, list[Item]]]:
    """Group consecutive items that share an attribute, in their order.

    Examples:
        >>> group_adjacent([1, 2, 3 + 1j], "imag")
        [(0, [1, 2]), (1.0, [(3+1j)])]
    """
    return [(key, list(group)) for key, group in groupby(items, key=attrgetter(attribute))]


def format_timestamp(time: str) -> str:
    """Format an ISO 8601 time in UTC to the second; return other text unchanged.

    Examples:
        >>> format_timestamp("2026-11-20T10:30:00.123456+00:00"), format_timestamp("yesterday")
        ('2026-11-20 10:30:00 UTC', 'yesterday')
    """
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", time)
    return f"{match[1]} {match[2]} UTC" if match else time
