"""Words of the pages of ``hengwen view``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGES = {
    "/": Bilingual("首页", "Home"),
    "/grid": Bilingual("全表", "Grid"),
    "/compare": Bilingual("比较", "Compare"),
    "/answer": Bilingual("回答", "Answer"),
    "/judges": Bilingual("评判器", "Judges"),
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
TRY_AGAIN = Bilingual("再试一次", "try again")
NO_RUNS = Bilingual("结果库里还没有运行。", "The store has no runs yet.")

# the grid
SCORE = Bilingual("分数", "score")
CHECKPOINT = Bilingual("检查点", "checkpoint")
AGAINST = Bilingual("对比", "against")
SORT = Bilingual("排序", "sort")
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
KEYS = Bilingual("检查点 · ↑ ↓ 题 · Enter 打开回答", "checkpoint · ↑ ↓ prompt · Enter answer")
REPEATS = Bilingual("标出几乎重复的回答", "mark answers that nearly repeat another")
PROMPT = Bilingual("题", "prompt")
MEAN = Bilingual("均值与 95% 区间", "mean, with its 95 % interval")
ANSWERS = Bilingual("各次回答", "answers")
LEGEND = Bilingual(
    "格：该题各次回答的均值，颜色分五级，从本页所见最低到最高。横条：该题之差，左为变差；单独一题不作检验。"
    "点：各次回答，文字相同的合为一个大点。",
    "Cell: mean of the prompt's answers; five steps of colour over the range seen on this page. Bar: its "
    "difference, left is worse; no test is made for a single prompt. Dots: its answers, equal texts as one "
    "larger dot.",
)
LOW, HIGH = Bilingual("低", "low"), Bilingual("高", "high")
NEARLY = Bilingual("几乎重复：", "nearly repeats ")
EARLIER, FURTHER = Bilingual("前面的题", "earlier prompts"), Bilingual("后面的题", "further prompts")
SETTINGS_DIFFER = Bilingual("不能相比：", "not comparable: ")
COMPARE_THEM = Bilingual("比较这两个，看两边的回答", "compare these two, with both answers")


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
FROM, TO = Bilingual("从", "from"), Bilingual("到", "to")
CHANGES = {
    "worse": Bilingual("变差", "worse"),
    "equal": Bilingual("相同", "equal"),
    "better": Bilingual("变好", "better"),
}
SEARCH = Bilingual("搜索题目和回答", "search prompts and answers")
ALSO_FELL = Bilingual("评判也变差", "fallen for the judge too")
STATUS, TAG, ALL = Bilingual("状态", "status"), Bilingual("标签", "tag"), Bilingual("全部", "all")
COMPUTING = Bilingual(
    "检验正在计算，本页会自己更新。", "The tests are being computed; this page updates itself."
)
BY_PROMPT = Bilingual("逐题", "By prompt")
NO_PROMPTS = Bilingual("没有符合条件的题。", "No prompt passes the filters.")

# the first page
STARTED, RUN = Bilingual("开始", "started"), Bilingual("运行", "run")
RUNNING = Bilingual("正在运行", "Running now")
REPORT = Bilingual("整份报告", "whole report")
WORST = Bilingual("变差最多的回答", "the answers that got worse")


def progress_text(
    answers: int, expected: int | None, calls: int, cost: str, seconds_left: float | None
) -> Bilingual:
    """Return how far a run is, what it cost, and how long it still takes."""
    of_zh, of_en = (f"，共 {expected} 个", f" of {expected}") if expected else ("", "")
    if seconds_left is None:
        left = Bilingual("", "")
    else:
        minutes = max(1, round(seconds_left / 60))
        left = Bilingual(f"，约剩 {minutes} 分钟", f", about {minutes} min left")
    return Bilingual(
        f"{answers} 个回答{of_zh}，{calls} 次调用，费用 {cost or '未知'}{left.zh}",
        f"{answers}{of_en} answers, {calls} calls, cost {cost or 'unknown'}{left.en}",
    )


def shown_runs(listed: int, count: int) -> Bilingual:
    """Return how many runs are listed."""
    return Bilingual(
        f"列出 {count} 个运行中的 {listed} 个；全部：", f"{listed} of {count} runs; all of them: "
    )
