"""Write the first lines of a summary: how checkpoints are compared, and what the terms mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.reports.text.bilingual import Bilingual

if TYPE_CHECKING:
    from hengwen.reports.view.models import View


def comparison_note(view: View) -> Bilingual:
    """Explain how the summary compares checkpoints; return empty texts if it has no paired test.

    Args:
        view: The view of a report.
    """
    counts = [len(score.comparisons) for score in view.scores if score.comparisons]
    if not counts:
        return Bilingual("", "")
    total, scores = sum(counts), len(counts)
    tests_zh = f"{scores} 个分数共 {total} 次检验，p 已按 {total} 次校正"
    tests_en = f"{total} tests of {_count(scores, 'score')}; each p is corrected for all {total}"
    if len(set(counts)) == 1 and scores > 1:
        tests_zh = f"每个分数 {counts[0]} 次比较 × {scores} 个分数 = {total} 次检验，p 已按 {total} 次校正"
        comparisons = _count(counts[0], "comparison")
        tests_en = f"{comparisons} × {scores} scores = {total} tests; each p is corrected for all {total}"
    if total == 1:
        tests_zh, tests_en = "共 1 次检验", "1 test"
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
    return Bilingual(
        f"每个检查点与前一个比较，最后一个再与第一个比较，只用双方都有得分的题目配对检验（{tests_zh}）。"
        f"“可看出的最小差别”：真实差别有这么大时，十次评测有八次能看出来。{order_zh}",
        "Each checkpoint is compared with the one before it, and the last with the first, on the prompts for "
        f"which both have a score ({tests_en}). Smallest visible difference: if the true difference is this "
        f"large, eight evaluations in ten show it.{order_en}",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
