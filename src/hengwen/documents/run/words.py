"""Words of the document of runs."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS
from hengwen.results.comparisons import family_size
from hengwen.results.score_series import MAX_ALL_PAIRS
from hengwen.text.language import NOTED, Bilingual, both
from hengwen.text.numbers import count, counted, percent, plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from hengwen.documents.run.report import Report
    from hengwen.results.aggregate import Summary

KIND_WORDS = {
    "published": Bilingual("任务得分", "task score"),
    "scorer": Bilingual("评分器", "scorer"),
    "judge": Bilingual("评审", "judge"),
    "human": Bilingual("人工", "human"),
}
STATUS_WORDS = {
    "finished": Bilingual("完成", "finished"),
    "running": Bilingual("进行中", "running"),
    "interrupted": Bilingual("中断", "interrupted"),
    "failed": Bilingual("失败", "failed"),
}
GUIDE = (
    (
        Bilingual("均值与区间", "Means and intervals"),
        Bilingual(
            "每道题先对多次回答取均值，各题等权；方括号内是以题（或相关的一组题）为单位的 95% 区间："
            "t 分布，按题或按组留一，并在未见题目可能落到的两端各加一个平均大小的虚拟组，"
            "因此全部满分时区间也不为零。同一题的多次回答不增加题数。",
            "Each prompt counts once: its value is the mean of its repeats. Brackets show the 95% "
            "interval over prompts or clusters of related prompts: t with a jackknife, and a pseudo-cluster "
            "of mean size at each end of where unseen ones may lie, so that equal values are never "
            "certainty. Repeats do not add prompts.",
        ),
    ),
    (
        Bilingual("失败不是分数", "Failures are not scores"),
        Bilingual(
            "未得分的回答只计数，不按 0 分处理，也不计入均值。“20/40 题 (50%) · 60 答 (75%)”："
            "40 题中 20 题有得分，共 60 个回答得分，占应得分回答的 75%；全部得分时不写百分比。"
            "没有回答的题缺它的全部回答。题或回答不足 95% 有得分时不下结论。“不适用”单独计数。",
            "Failed answers are counted, never treated as 0 and never included in a mean. “20/40 prompts "
            "(50%) · 60 answers (75%)”: 20 of 40 prompts have a score, with 60 scored answers, 75% of those "
            "to score; no percentage is shown where all have one. A prompt without an answer misses all its "
            "repeats. Below 95% of the prompts or answers there is no verdict. “Not applicable” is counted "
            "separately.",
        ),
    ),
    (
        Bilingual("先看水平，再看次序", "Level first, order second"),
        Bilingual(
            f"{'、'.join(f'{metric.symbol}（{metric.title.zh}）' for metric in MAIN_METRICS)}"
            "只取决于均值的大小次序：所有检查点降低同样的分数，它们不变。因此先看首末水平。"
            "不足 30 个窗口（m=3，32 个检查点）时，PEN 主要是偏差，标为“太短”。",
            f"{', '.join(f'{metric.symbol} ({metric.title.en})' for metric in MAIN_METRICS)} "
            "depend only on the order of the means; a uniform drop does not change them. Read the level "
            "first. Below 30 windows (m=3, 32 checkpoints) PEN is mostly bias and is marked “too short”.",
        ),
    ),
    (
        Bilingual("差别要经过检验", "A difference needs a test"),
        Bilingual(
            "概要中的“更好”与“更差”来自共同题目上的配对检验（翻转符号，双侧）：所有检查点两两比较，"
            "各分数、各对合为一族，p 值按整族校正（同一题在各对、各分数中一起翻转，取最大统计量，逐步向下）。"
            "p 不超过 0.05 且差别的区间不含 0 才算；只有前者成立时，写“均值未定”。"
            "区间是否重叠不能代替检验。▼ 表示比先前某个检查点差。",
            "“Better” and “worse” in the summary come from paired tests on common prompts (sign flips, "
            "two-sided) of every pair of checkpoints. All pairs and scores are one family: the signs of a "
            "prompt flip together, and p is corrected by the step-down maximum. p must be up to .05, and the "
            "interval of the difference must exclude 0; with the first alone, the mean is undecided. Overlap "
            "of intervals is no test. ▼ marks a checkpoint that is worse than one before it.",
        ),
    ),
    (
        Bilingual("签名相同才可比", "Equal signatures only"),
        Bilingual(
            "签名包含所有会影响分数的设置；签名不同的序列不作比较。",
            "A signature contains every setting that can change a score. Series with different signatures "
            "are not compared.",
        ),
    ),
)
"""How to read the document: headings and texts."""
MIN_CHECKPOINTS = 4
"""Minimum number of checkpoints at which the note recommends ``hengwen drift``."""
_EVERY_PAIR = Bilingual("所有检查点两两比较", "Every pair of checkpoints is compared")
_SOME_PAIRS = Bilingual(
    f"检查点多于 {MAX_ALL_PAIRS} 个：每个与此前所见最高的比较，最新的再与每一个比较",
    f"With more than {MAX_ALL_PAIRS} checkpoints, each is compared with the best seen before it, and the "
    "newest with all,",
)
_COMPARED = Bilingual(
    "{}，在双方都有得分的题目上作配对检验（{}）；"
    "p 不超过 0.05，且这一对之差的 95% 区间不含 0，才称更好或更差。"
    "方括号为 95% 区间，是否重叠不能代替检验。"
    "“可检出的最小差别”：真实差别有这么大时，十次评测有八次能看出来；检验越多，它越大。",
    "{} in a paired test on the prompts for which both have a score ({}). Better or worse means: p up to "
    ".05, and the 95% interval of the pair's difference excludes 0. Brackets are 95% intervals; whether "
    "they overlap is no test. Smallest detectable difference: if the true difference is this large, eight "
    "evaluations in ten show it; it grows with the number of tests.",
)
_CHOSEN_PAIR = Bilingual(
    "看结果之前就选定的一对，可用 hengwen compare 单独检验，p 较小。",
    "A pair chosen before looking can be tested alone, with a smaller p: hengwen compare.",
)
_USUAL_MOVEMENT = Bilingual(
    "差别是否超出检查点平常的波动，由 hengwen drift 检验。",
    "Whether a difference is more than checkpoints usually move is tested by: hengwen drift.",
)
_NO_STEPS = Bilingual(
    "检查点没有 step，按计划中的次序排列，请核对；若不对，请为每个检查点写明 step。",
    "The checkpoints have no step, so their order is that of the plan: check it, and if it is wrong, give "
    "each a step.",
)


def comparison_note(report: Report) -> Bilingual:
    """Explain how the summary of a report with paired tests compares checkpoints."""
    comparisons = [items for items in report.comparisons.values() if items]
    total, runs = family_size(chain.from_iterable(comparisons)), report.data.runs
    scores = plural(len(comparisons), "score")
    tests = Bilingual(
        f"{len(comparisons)} 个有逐题得分的分数共 {total} 次检验，p 已按全部检验校正",
        f"{plural(total, 'test')} of {scores} with a value for each prompt; p corrected for all of them",
    )
    if total == 1:
        tests = Bilingual("共 1 次检验", "1 test")
    pairs = _EVERY_PAIR if len(runs) <= MAX_ALL_PAIRS else _SOME_PAIRS
    hints = (
        (_CHOSEN_PAIR, len(runs) > 2),
        (_USUAL_MOVEMENT, len(runs) >= MIN_CHECKPOINTS),
        (_NO_STEPS, all(run.step is None for run in runs)),
    )
    return Bilingual("", " ").join(
        [_COMPARED.format(pairs, tests), *(hint for hint, applies in hints if applies)]
    )


def score_counts(summary: Summary) -> Bilingual:
    """Return the numbers of scored prompts and answers, with their shares if some have no score."""
    if summary.has_no_prompts:
        return both(f"n {count(summary.n)}")
    is_partial = summary.prompt_coverage not in (None, 1.0)
    total = f"/{count(summary.prompts_expected or 0)}" if is_partial else ""
    prompt_share = f" ({percent(summary.prompt_coverage)})" if is_partial else ""
    answer_share = "" if summary.coverage in (None, 1.0) else f" ({percent(summary.coverage)})"
    prompts = f"{count(summary.prompts)}{total}"
    noun = "prompt" if summary.prompts == 1 and not total else "prompts"
    return Bilingual(
        f"{prompts} 题{prompt_share} · {count(summary.n)} 答{answer_share}",
        f"{prompts} {noun}{prompt_share} · {counted(summary.n, 'answer')}{answer_share}",
    )


def counts_in_words(summary: Summary) -> Bilingual:
    """Return the numbers of scored prompts and answers as a sentence."""
    if summary.has_no_prompts:
        return Bilingual("整组回答的一个数值", "one value for a group of answers")
    expected = summary.prompts if summary.prompts_expected is None else summary.prompts_expected
    share = "" if summary.coverage in (None, 1.0) else percent(summary.coverage)
    share_zh, share_en = (f"（占应得分的 {share}）", f" ({share} of those to score)") if share else ("", "")
    prompts, all_prompts, answers = count(summary.prompts), count(expected), count(summary.n)
    return Bilingual(
        f"{all_prompts} 题中 {prompts} 题有得分，{answers} 个回答有得分{share_zh}",
        f"{prompts} of {all_prompts} prompts, {answers} answers{share_en}",
    )


def sizes_in_words(summaries: Iterable[Summary | None]) -> Bilingual | None:
    """Return of how many prompts, and of how many answers to them, scores have means."""
    sizes = [(item.prompts, item.n) for item in summaries if item is not None and item.prompts]
    if not sizes:
        return None
    prompts, answers = (_range(numbers) for numbers in zip(*sizes, strict=True))
    noun = "prompt" if prompts == "1" else "prompts"
    means = Bilingual(f"{prompts} 题的均值", f"means of {prompts} {noun}")
    if all(n == n_prompts for n_prompts, n in sizes):
        return means
    return NOTED.format(means, Bilingual(f"{answers} 个回答", f"{answers} answers"))


def _range(numbers: Collection[int]) -> str:
    low, high = count(min(numbers)), count(max(numbers))
    return low if low == high else f"{low}–{high}"
