"""Words of the pages of ``hengwen view``."""

from __future__ import annotations

from hengwen.text.language import Bilingual

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
