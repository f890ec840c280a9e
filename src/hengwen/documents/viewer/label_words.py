"""Words of the page on which answers are labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.text.language import Bilingual
from hengwen.text.numbers import number, plural

if TYPE_CHECKING:
    from hengwen.labels.desk import RaterAgreement

BLIND = Bilingual("看不到检查点和评审", "blind to checkpoint and judge")
ORDER = Bilingual("次序随机，分布在各检查点和各题上", "in random order, spread over checkpoints and prompts")
WHO = Bilingual("你的名字，会写进标注", "Your name, which the labels carry")
BAD_NAME = Bilingual("名字以字母、汉字或数字开头。", "A name starts with a letter or digit.")
BEGIN = Bilingual("开始", "begin")
RATER = Bilingual("标注者", "rater")
PERSONA = Bilingual("人设", "Persona")
REFERENCE = Bilingual("参考", "Reference")
RUBRIC = Bilingual("评分标准", "Rubric")
ONLY = Bilingual("只看", "Only")
EMPTY = Bilingual("（空）", "(empty)")
LEVELS = Bilingual("等级", "Levels")
UNDO = Bilingual("撤销", "undo")
SKIP = Bilingual("跳过", "skip")
LABELLED = Bilingual("已保存上一个：", "Saved the one before: ")
UNSTORED = Bilingual(
    "标注只写进了文件，没有写进结果库；下一次 hengwen run 会写入。原因：",
    "The labels are in the file, but not in the store; the next hengwen run writes them there. Reason: ",
)
SKIPPED = Bilingual("跳过了上一个", "Skipped the one before")
NO_DRAWS = Bilingual(
    "标注文件没有 drawn 列，不知道回答是怎样抽的；请加上这一列。",
    "The label file has no column drawn, so how its labels were drawn stays unknown; add the column.",
)
ALL_DONE = Bilingual("都标完了。", "All answers are labelled.")
PAIRS = Bilingual("下载偏好对（题目、较好的回答、较差的回答）", "Preference pairs (prompt, chosen, rejected)")
AGREEMENT = Bilingual("目前的一致性", "Agreement so far")
WITH_JUDGES = Bilingual(
    "评审与标注的一致性（会看到评审：标完再打开）",
    "How judges agree with the labels (it shows the judges: open it after labelling)",
)
NOT_IN_PLAN = Bilingual(
    "计划还没有用到这些标注；请在计划里加上：", "The plan does not use these labels yet; add to it: "
)


def progress_text(done: int, total: int) -> Bilingual:
    """Return how many answers are labelled."""
    return Bilingual(f"已标注 {done} / {total}", f"{done} of {total} labelled")


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
