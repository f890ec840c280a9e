"""Write the first lines of a summary: how checkpoints are compared, and what the terms mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.language import Bilingual
from hengwen.text.numbers import plural

if TYPE_CHECKING:
    from hengwen.reports.view.models import View


MIN_CHECKPOINTS = 4
"""Minimum number of checkpoints at which the note recommends ``hengwen drift``.

This command tests whether a difference is larger than the usual changes between checkpoints.
"""


def comparison_note(view: View) -> Bilingual:
    """Explain how the summary compares checkpoints; return empty texts if the summary has no paired test."""
    counts = [len(score.comparisons) for score in view.scores if score.comparisons]
    if not counts:
        return Bilingual("", "")
    total, scores = sum(counts), len(counts)
    tests_zh = f"{scores} 个有逐题得分的分数共 {total} 次检验，p 已按 {total} 次校正，0.05 以下为显著"
    of_scores = f"{plural(scores, 'score')} with a value for each prompt"
    tests_en = f"{total} tests of {of_scores}; each p is corrected for all"
    if len(set(counts)) == 1 and scores > 1:
        tests_zh = (
            f"{counts[0]} 次比较 × {scores} 个有逐题得分的分数 = {total} 次检验，p 已按 {total} 次校正，"
            "0.05 以下为显著"
        )
        comparisons = plural(counts[0], "comparison")
        tests_en = f"{comparisons} × {of_scores} = {total} tests; each p is corrected for all"
    if total == 1:
        tests_zh, tests_en = "共 1 次检验，0.05 以下为显著", "1 test"
    no_steps = all(run.step is None for run in view.runs)
    order_zh = (
        "检查点没有 step，按计划中的次序排列，请核对；若不对，请为每个检查点写明 step。" if no_steps else ""
    )
    order_en = (
        " The checkpoints have no step, so their order is that of the plan: check it, and if it is wrong, "
        "give each a step."
        if no_steps
        else ""
    )
    baseline = next(
        (name for run, name in zip(view.runs, view.labels, strict=True) if run.id == view.baseline), ""
    )
    last_zh, last_en = (
        (f"基线 {baseline} ", f"the baseline {baseline}") if baseline else ("第一个", "the first")
    )
    several = len(view.runs) >= MIN_CHECKPOINTS
    usual_zh = "差别是否超出检查点平常的波动，由 hengwen drift 检验。" if several else ""
    usual_en = (
        " Whether a difference is more than checkpoints usually move is tested by: hengwen drift."
        if several
        else ""
    )
    return Bilingual(
        f"每个检查点与前一个比较，最后一个再与{last_zh}比较，在双方都有得分的题目上作配对检验"
        f"（{tests_zh}）。方括号为 95% 区间，是否重叠不能代替检验。"
        "“可检出的最小差别”：真实差别有这么大时，十次评测有八次能看出来；检验越多，它越大。"
        f"{usual_zh}{order_zh}",
        f"Each checkpoint is compared with the one before it, and the last with {last_en}, in a paired test "
        f"on the prompts for which both have a score ({tests_en}, and up to .05 is significant). Brackets "
        "are 95% intervals; whether they overlap is no test. Smallest detectable difference: if the true "
        "difference is this large, eight evaluations in ten show it; it grows with the number of tests."
        f"{usual_en}{order_en}",
    )
