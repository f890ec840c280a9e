"""Words that the HTML and the Markdown report share: Chinese first, English beside."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.records import Run

T = TypeVar("T")

KIND_WORDS = {
    "published": ("任务得分", "task score"),
    "code": ("规则", "code"),
    "judge": ("评审", "judge"),
    "human": ("人工", "human"),
}
MARKS = {"note": "", "hint": "▽", "alarm": "▼"}
"""Before a finding, by weight."""
STATUS_WORDS = {
    "finished": ("完成", "finished"),
    "running": ("进行中", "running"),
    "interrupted": ("中断", "interrupted"),
    "failed": ("失败", "failed"),
}

GUIDE = (
    (
        "均值与区间",
        "每题先取各次回答的均值，各题权重相等；方括号内是按题的 95% 区间"
        "（不足 30 题用 t，否则用自助法）。同一题的几次回答不算几道题。",
        "Means and intervals",
        "A prompt counts once: its value is the mean of its repeats. Brackets hold the 95% interval by "
        "prompt (t below 30 clusters, bootstrap from 30 on); repeats of a prompt are not new prompts.",
    ),
    (
        "失败不是分数",
        "未能得分的回答只计数，不当作 0，也不进入均值；覆盖率 = 得分 /（得分 + 失败），“不适用”另计。",
        "Failures are not scores",
        "What could not be scored is counted, never taken for 0 and never part of a mean. Coverage = "
        "scored / (scored + failed); “not applicable” is counted apart.",
    ),
    (
        "先看水平，再看次第",
        "PEN（排列熵，m=3）、CIN（逆序对）、LIS（最长递增子列）只看均值的先后次序："
        "各检查点一齐下降同样的分数，三者都不变。所以先看首末水平。"
        "不足 30 个窗口（32 个检查点）时，PEN 多半是偏差，标为“太短”。",
        "Level first, order second",
        "PEN (permutation entropy, m=3), CIN (inversions) and LIS (longest increasing subsequence) see only "
        "the order of the means and are blind to a uniform drop: read the level first. Below 30 windows "
        "(32 checkpoints) PEN is mostly bias and is marked “too short”.",
    ),
    (
        "有差别，不等于检验",
        "▼ 有差别：两个区间不重叠。▽ 可能出于偶然：跌出先前的区间，但两区间重叠。"
        "本报告没有做检验，也没有校正多重比较。",
        "“Differs” is not a test",
        "▼ differs: two intervals do not overlap. ▽ may be chance: outside the earlier interval, but the two "
        "overlap. This report makes no test and corrects for no multiple comparisons.",
    ),
    (
        "签名相同才可比",
        "签名写明一切会改变数字的设定；签名不同的序列不相比较。",
        "Equal signatures only",
        "A signature names all that can move a number. Series with different signatures are not compared.",
    ),
)
"""(heading, text) in Chinese, then in English."""


def failure_text(failures: Mapping[str, int]) -> str:
    """Return failures by status, the most frequent first.

    Examples:
        >>> failure_text({"timeout": 1, "parse_error": 3})
        'parse_error 3, timeout 1'
    """
    return ", ".join(f"{status} {n}" for status, n in sorted(failures.items(), key=lambda item: -item[1]))


def versions_text(runs: Sequence[Run]) -> tuple[tuple[str, str], ...]:
    """Return (checkpoints, versions) for each set of versions; no checkpoints where all runs share one.

    Examples:
        >>> from hengwen.records import Run
        >>> rest = {"plan": "p", "plan_hash": "", "versions": {"hengwen": "0.1.0"}}
        >>> versions_text([Run(id=name, checkpoint=name, **rest) for name in "ab"])
        (('', 'hengwen 0.1.0'),)
    """
    where: dict[str, list[str]] = {}
    for run in runs:
        text = " · ".join(f"{name} {version}" for name, version in sorted(run.versions.items()))
        where.setdefault(text, []).append(run.checkpoint)
    if set(where) <= {""}:
        return ()
    return tuple((", ".join(names) if len(where) > 1 else "", text) for text, names in where.items())


def group_adjacent(items: Iterable[T], attribute: str) -> list[tuple[object, list[T]]]:
    """Return items grouped with the neighbours that share an attribute, in their order.

    Examples:
        >>> group_adjacent([1, 2, 3 + 1j], "imag")
        [(0, [1, 2]), (1.0, [(3+1j)])]
    """
    return [(key, list(group)) for key, group in groupby(items, key=attrgetter(attribute))]


def format_timestamp(time: str) -> str:
    """Return an ISO 8601 time in UTC to the second as people write it; other text as it is.

    Examples:
        >>> format_timestamp("2026-11-20T10:30:00.123456+00:00"), format_timestamp("yesterday")
        ('2026-11-20 10:30:00 UTC', 'yesterday')
    """
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", time)
    return f"{found[1]} {found[2]} UTC" if found else time
