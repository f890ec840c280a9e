"""Words of the pages of ``hengwen view``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.language import NO_TEXT, Bilingual
from hengwen.text.numbers import number, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.labels.desk import RaterAgreement

PAGES = {
    "/": Bilingual("首页", "Home"),
    "/grid": Bilingual("全表", "Grid"),
    "/compare": Bilingual("比较", "Compare"),
    "/answer": Bilingual("回答", "Answer"),
    "/judges": Bilingual("评审", "Judges"),
    "/label": Bilingual("标注", "Label"),
}
"""The addresses of pages with their titles, in the order of the table of contents."""
NO_COOKIE = Bilingual(
    "没有钥匙：请打开 hengwen view 打印的地址；地址只能用一次，用过后请再运行一次该命令。",
    "No key: open the address that hengwen view printed; if it was used before, run the command again.",
)
BAD_TOKEN = Bilingual(
    "地址里的钥匙不对，或者已经用过：请再运行一次 hengwen view，打开它打印的地址。",
    "The key in the address is wrong, or was used: run hengwen view again, and open the address it prints.",
)
CROSS_SITE = Bilingual("这个表单来自别的网站，已拒绝。", "This form comes from another site; it was refused.")
READ_ONLY = Bilingual(
    "只读：要标注，请用 hengwen view --label PLAN 打开。",
    "Read-only: to label, open it with hengwen view --label PLAN.",
)
TOO_LONG = Bilingual("表单太长。", "The form is too long.")
STORE_PROBLEM = Bilingual("读不了结果库。", "The store cannot be read.")
NOT_THERE = Bilingual("这里没有内容。", "There is nothing here.")

# the grid
SCORE = Bilingual("分数", "score")
CHECKPOINT = Bilingual("检查点", "checkpoint")
SHOW = Bilingual("显示", "show")
AGAINSTS = {
    "before": Bilingual("前一个", "the one before"),
    "best": Bilingual("所见最高的另一个", "best seen of the others"),
    "baseline": Bilingual("固定的基线", "the pinned baseline"),
}
SORTS = {
    "drop": Bilingual("下降最多", "largest drop"),
    "rise": Bilingual("上升最多", "largest rise"),
    "spread": Bilingual("各次回答相差最多", "spread of its answers"),
    "disagreement": Bilingual("评判与打分最不一致", "judge against scorer"),
    "plan": Bilingual("计划的顺序", "plan order"),
}
EARLIER, FURTHER = Bilingual("前面的题", "earlier prompts"), Bilingual("后面的题", "further prompts")
SETTINGS_DIFFER = Bilingual("不能相比：", "not comparable: ")


def grid_size(prompts: int, checkpoints: int) -> Bilingual:
    """Return the size of the grid."""
    return Bilingual(
        f"{prompts} 题 × {checkpoints} 个检查点", f"{prompts} prompts × {checkpoints} checkpoints"
    )


def shown_rows(start: int, end: int, count: int) -> Bilingual:
    """Return which rows of a list are shown."""
    return Bilingual(f"第 {start}–{end} 题，共 {count} 题", f"{start}–{end} of {count} prompts shown")


def grid_sentence(label: str, other: str | None, merits: Sequence[float]) -> Bilingual:
    """Return how many prompts are worse and better than at the other checkpoint."""
    worse, better = sum(merit < 0 for merit in merits), sum(merit > 0 for merit in merits)
    equal = len(merits) - worse - better
    return Bilingual(
        f"{label} 对比 {other}：{worse} 题变差，{better} 题变好，{equal} 题相同。",
        f"{label} against {other}: {worse} prompts worse, {better} better, {equal} equal.",
    )


# the comparison
CHANGES = {
    "worse": Bilingual("变差", "worse"),
    "equal": Bilingual("相同", "equal"),
    "better": Bilingual("变好", "better"),
}
SEARCH = Bilingual("搜索题目和回答", "search prompts and answers")
STATUS = Bilingual("状态", "status")
COMPUTING = Bilingual(
    "检验正在计算，本页会自己更新。", "The tests are being computed; this page updates itself."
)

# the first page
REPORT = Bilingual("整份报告", "whole report")


def progress_text(
    answers: int, expected: int | None, calls: int, cost: str, seconds_left: float | None
) -> Bilingual:
    """Return how far a run is, what it cost, and how long it still takes."""
    of_zh, of_en = (f"，共 {expected} 个", f" of {expected}") if expected else ("", "")
    if seconds_left is None:
        left = NO_TEXT
    else:
        minutes = max(1, round(seconds_left / 60))
        left = Bilingual(f"，约剩 {minutes} 分钟", f", about {minutes} min left")
    return Bilingual(
        f"{answers} 个回答{of_zh}，{calls} 次调用，费用 {cost or '未知'}{left.zh}",
        f"{answers}{of_en} answers, {calls} calls, cost {cost or 'unknown'}{left.en}",
    )


# the labels
BLIND = Bilingual("看不到检查点和评审", "blind to checkpoint and judge")
ORDER = Bilingual("次序随机，分布在各检查点和各题上", "in random order, spread over checkpoints and prompts")


def agreement_text(agreement: RaterAgreement) -> Bilingual:
    """Return how well the raters agree with each other."""
    raters, shared, alpha = agreement
    if not shared:
        return Bilingual(
            f"标注者 {raters} 名；还没有两个人标过同一个回答。",
            f"{plural(raters, 'rater')}; no answer has the labels of two people yet.",
        )
    value = number(alpha, 2)
    return Bilingual(
        f"标注者 {raters} 名，{shared} 个回答有两人以上标注：Krippendorff alpha {value}。",
        f"{plural(raters, 'rater')}, {plural(shared, 'answer')} labelled by two or more: "
        f"Krippendorff's alpha {value}.",
    )
