"""What is said of a calibration: its decision, its reasons and its warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hengwen.judges.calibration.certify import Decision
from hengwen.judges.calibration.statistics import Remark, RemarkCode
from hengwen.text.language import SEMICOLON, Bilingual
from hengwen.text.numbers import number, one_line, p_text, signed

_NO_ESTIMATE = {
    "undefined": "无定义",
    "undefined: all human values are the same": "无定义：人工的值全部相同",
    "undefined: all judge's values are the same": "无定义：评审的值全部相同",
    "undefined: all human and all judge's values are the same": "无定义：人工与评审的值各自全部相同",
    "undefined: all labels are the same": "无定义：标注全部相同",
    "undefined: no checkpoint has two different values": "无定义：没有一个检查点有两个不同的值",
    "no interval below 2 prompts": "不足 2 题，没有区间",
    "no answer was labelled by two people": "没有回答由两个人标注",
}
DECISIONS: dict[Decision, Bilingual] = {
    "certified": Bilingual("通过校准", "certified"),
    "not certified": Bilingual("未通过校准", "not certified"),
    "insufficient": Bilingual("标注不足，无法判断", "insufficient"),
}
WITHIN = Bilingual("检查点内", "within checkpoints")
_BIASED = Bilingual(
    "仅标注的均值不列出，校正后的均值也可能有偏",
    "the mean of the labels alone is not shown, and the corrected mean may be biased",
)
_WORDS: dict[RemarkCode, Bilingual] = {
    "no_pairs": Bilingual("没有标注与评审过的回答相符", "no label matches a judged answer"),
    "few_labels": Bilingual("有 {n} 个标注，至少要 {needed} 个", "{n} labels, but a verdict needs {needed}"),
    "few_prompts": Bilingual(
        "标注只涉及 {prompts} 题，至少要 {needed} 题",
        "labels of {prompts} prompts, but a verdict needs {needed}",
    ),
    "labels_on_one_level": Bilingual(
        "{share} 的标注在同一级（{level}）上：总给这一级的评审也会显得一致",
        "{share} of the labels are on one level ({level}): a constant judge would agree",
    ),
    "judge_on_one_level": Bilingual(
        "{share} 的评审值在同一级（{level}）上：一致多属偶然",
        "{share} of the judge's values are on one level ({level}): agreement is mostly by chance",
    ),
    "undefined_kappa": Bilingual(
        "二次加权 kappa 或其区间无定义", "quadratic kappa or its interval is undefined"
    ),
    "undefined_within": Bilingual(
        "检查点内的二次加权 kappa 或其区间无定义",
        "within checkpoints, quadratic kappa or its interval is undefined",
    ),
    "undefined_resamples": Bilingual(
        "{resamples} 次重抽样中有 {undefined} 次 kappa 无定义，区间未计入这些，因而偏窄",
        "quadratic kappa is undefined in {undefined} of {resamples} resamples: its interval leaves them out "
        "and is too narrow",
    ),
    "raters_disagree": Bilingual(
        "标注者之间一致性差（alpha {alpha}）：评分标准可能不清楚",
        "raters agree poorly (alpha {alpha}): the rubric may be unclear",
    ),
    "majority": Bilingual("人工值取多数标注者的值", "the human value is that of most raters"),
    "one_rater": Bilingual(
        "人工值只取标注者 {rater}", "the human values are those of the rater {rater} alone"
    ),
    "chosen_answers": Bilingual(
        f"{{n}} 个标注的回答不是随机抽取的（{{drawn}}）：{_BIASED.zh}",
        f"{{n}} labels were not drawn at random ({{drawn}}): {_BIASED.en}",
    ),
    "unbalanced": Bilingual(
        f"{{checkpoint}}：评审在有标注的回答上的均值与其余回答相差 {{difference}}（{{p}}），"
        f"可见不是随机样本：{_BIASED.zh}；请用 hengwen label 抽取回答",
        "{checkpoint}: the judge's mean on labelled answers differs by {difference} from that on the others "
        f"({{p}}), so they are no random sample: {_BIASED.en}; draw answers with hengwen label",
    ),
    "rounded": Bilingual(
        "不同的值太多，已按分数范围的 1/{steps} 取整",
        "the values are rounded to 1/{steps} of the scale, because there are too many different ones",
    ),
    "few_labels_for_mean": Bilingual(
        "有 {n} 个标注，涉及 {prompts} 题；至少要 3 个标注、2 题",
        "{n} labels of {prompts} prompts, but a mean with an interval needs 3 of 2",
    ),
    "not_random": Bilingual(
        "有标注的回答不是随机样本，数据又太少，无法校正",
        "the labelled answers are no random sample, and there is too little data to correct that",
    ),
}
_FORMATS: dict[str, Callable[[Any], str | Bilingual]] = {
    "share": "{:.0%}".format,
    "level": "{:g}".format,
    "alpha": lambda value: number(value, 2),
    "difference": signed,
    "p": p_text,
    "checkpoint": lambda name: one_line(name, 80) or Bilingual("全部回答", "all answers"),
    "drawn": lambda text: one_line(text, 120),
}


def remark_text(remark: Remark) -> Bilingual:
    """Return a remark of a calibration in words."""
    if remark.code in ("kappa", "within_kappa"):
        return _kappa_text(remark)
    return _WORDS[remark.code].format(
        **{name: _FORMATS.get(name, str)(value) for name, value in remark.values.items()}
    )


def reasons_text(remarks: Iterable[Remark]) -> Bilingual:
    """Return several remarks in one line."""
    return SEMICOLON.join(map(remark_text, remarks))


def _kappa_text(remark: Remark) -> Bilingual:
    """Return the measured kappa; if it decides (there is a threshold), whether it reaches the threshold."""
    values = {name: float(value) for name, value in remark.values.items()}
    kappa, low, threshold = values["kappa"], values["low"], values.get("threshold")
    if threshold is None:
        return Bilingual(
            f"全部回答合在一起为 {kappa:.2f}，下界 {low:.2f}，其中含检查点之间的差距",
            f"over all answers {kappa:.2f}, lower bound {low:.2f}, which includes the distance between "
            "checkpoints",
        )
    where_zh, where_en = (WITHIN.zh, f" {WITHIN.en}") if remark.code == "within_kappa" else ("", "")
    zh = f"{where_zh}二次加权 kappa {kappa:.2f}，下界 {low:.2f}"
    en = f"quadratic kappa {kappa:.2f}{where_en}, lower bound {low:.2f}"
    if low >= threshold:
        return Bilingual(f"{zh}，达到门槛 {threshold:.2f}", f"{en}: reaches the threshold of {threshold:.2f}")
    text = Bilingual(f"{zh}，低于门槛 {threshold:.2f}", f"{en}: below the threshold of {threshold:.2f}")
    more = Bilingual("增加标注或可提高下界", "more labels may raise the lower bound")
    return SEMICOLON.join([text, more]) if kappa >= threshold else text


def no_estimate_text(reason: str) -> Bilingual:
    """Return why a number has no value or no interval."""
    return Bilingual(_NO_ESTIMATE.get(reason, reason), reason)
