"""Print a judge drift report in words, or as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hengwen.cli.monitoring.run_document import run_document
from hengwen.monitoring.judge_drift.verdicts import ANCHORS_FOR_VERDICT, MIN_ANCHORS, SECOND_ALPHA
from hengwen.results.comparisons import ALPHA, MIN_PROMPT_COVERAGE
from hengwen.results.run_order import run_labels
from hengwen.text.language import Bilingual
from hengwen.text.numbers import (
    decimals_for,
    format_timestamp,
    interval,
    number,
    p_text,
    percent,
    plural,
    signed,
)
from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.judge_drift.effects import Effect
    from hengwen.monitoring.judge_drift.report import JudgeDriftReport
    from hengwen.monitoring.judge_drift.verdicts import (
        AnchorAgreement,
        DriftVerdict,
        JudgedScoreDrift,
        Reason,
    )
    from hengwen.records import Run
    from hengwen.results.comparability import Difference
    from hengwen.text.language import Language

MAX_SETTING = 300
"""Maximum number of characters of a changed setting that is printed."""
_TITLE = Bilingual("评审漂移：", "judge drift: ")
_VERDICTS: Mapping[DriftVerdict, Bilingual] = {
    "stable": Bilingual("稳定", "stable"),
    "model drifted": Bilingual("模型变了", "model drifted"),
    "judge drifted": Bilingual("评审变了", "judge drifted"),
    "both": Bilingual("模型和评审都变了", "both drifted"),
    "cannot tell": Bilingual("无法判断", "cannot tell"),
}
_STYLES: Mapping[DriftVerdict, str] = {
    "stable": "green",
    "model drifted": "yellow",
    "judge drifted": "yellow",
    "both": "yellow",
}
_PROBLEMS = {
    "one checkpoint": Bilingual(
        "库中只有一个检查点，没有更早的回答可比",
        "there is one checkpoint, so there are no earlier answers",
    ),
    "no judged scores": Bilingual("没有评审打的分数", "there are no scores by a judge"),
}
_REASONS: Mapping[Reason, Bilingual] = {
    "equal evidence": Bilingual(
        "模型或评审变了，但两个 p 相同，看不出是哪一个；增加题目可能看得出",
        "the model or the judge changed, but both p are equal, so nothing shows which; more prompts may show "
        "it",
    ),
    "too few": Bilingual(
        "互相独立的题目太少，任何结果都不可能显著",
        "too few independent prompts for a significant result",
    ),
    "missing scores": Bilingual(
        f"有得分的题目不足 {percent(MIN_PROMPT_COVERAGE)}；哪些题失败可能与质量有关",
        f"below {percent(MIN_PROMPT_COVERAGE)} of the prompts have a score; which prompts fail may "
        "depend on quality",
    ),
    "not judged again": Bilingual(
        "早先的回答没有重新评审，也没有两次运行都评审过的锚点；请用 hengwen drift --rejudge PLAN",
        "the earlier answers were not judged again, and no anchors were judged in both runs; "
        "use hengwen drift --rejudge PLAN",
    ),
    "few anchors": Bilingual(
        f"锚点不足 {MIN_ANCHORS} 个（通常需要 {ANCHORS_FOR_VERDICT} 至 300 个）；"
        "也可用 hengwen drift --rejudge PLAN",
        f"fewer than {MIN_ANCHORS} anchors ({ANCHORS_FOR_VERDICT} to 300 are usually needed); "
        "hengwen drift --rejudge PLAN needs none",
    ),
    "anchor levels": Bilingual(
        "超过 5% 的回答所在等级没有锚点", "more than 5% of the answers have a level that no anchor has"
    ),
    "judge changed": Bilingual(
        "两次运行的评审不同，分数不可比；请用 hengwen drift --rejudge PLAN",
        "the two runs have different judges, so their scores are not comparable; "
        "use hengwen drift --rejudge PLAN",
    ),
    "judges differ": Bilingual(
        "重新评审时的评审与较晚一次运行的评审不同，两批回答不可比；请用同一评审运行和重新评审",
        "the earlier answers were judged again by another judge than the later answers, so the two are not "
        "comparable; run and re-judge with the same judge",
    ),
    "group score": Bilingual(
        "整组回答只有一个数值，没有逐题的值", "one value for a group of answers, none for each prompt"
    ),
    "not scored": Bilingual("其中一次运行没有这项分数", "one of the runs does not have this score"),
    "no common prompts": Bilingual("没有双方都有的题目", "the runs have no prompt in common"),
}


def print_judge_drift(report: JudgeDriftReport, language: Language, console: Console | None = None) -> None:
    """Print for each judged score whether the model or the judge changed, with the measured changes."""
    console = console or Console(highlight=False)
    names = _names(report)
    console.print(Text(f"{_TITLE.in_language(language)}{' → '.join(names)}", style="bold"))
    if report.problem:
        console.print(Text(_PROBLEMS[report.problem].in_language(language)))
        return
    for line in _header(report, names):
        console.print(Text(line.in_language(language), style="dim"))
    for score in report.scores:
        indent = 2 if score.family == "member" else 0
        console.print(
            Padding(
                Text.assemble(
                    (one_line(score.label or score.address, MAX_SETTING), "bold" if not indent else ""),
                    ": ",
                    (_VERDICTS[score.verdict].in_language(language), _STYLES.get(score.verdict, "")),
                ),
                (0, 0, 0, indent),
                expand=False,
            )
        )
        for line in _lines(score, names):
            console.print(Padding(Text(line.in_language(language)), (0, 0, 0, indent + 2), expand=False))


def judge_drift_document(report: JudgeDriftReport) -> dict[str, Any]:
    """Return the whole judge drift report as a dictionary of JSON values."""
    return {
        "before": _run_document(report.before),
        "after": _run_document(report.after),
        "again": _run_document(report.again),
        "problem": report.problem,
        "alpha": report.alpha,
        "left_out_prompts": report.left_out_prompts,
        "unchecked": report.unchecked,
        "scores": [_score_document(score) for score in report.scores],
    }


def _run_document(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {**run_document(run), "started": run.started, "status": run.status}


def _score_document(score: JudgedScoreDrift) -> dict[str, Any]:
    document = asdict(score)
    for name in ("changes", "conflicts"):
        document[name] = [change._asdict() for change in getattr(score, name)]
    return {
        **document,
        "prompts_needed": score.prompts_needed,
        "anchors_needed": score.anchors_needed,
    }


def _names(report: JudgeDriftReport) -> Sequence[str]:
    if report.before is None:
        return [report.after.checkpoint]
    return run_labels((report.before, report.after))


def _header(report: JudgeDriftReport, names: Sequence[str]) -> list[Bilingual]:
    lines = []
    if report.again is not None:
        again, after = format_timestamp(report.again.started), format_timestamp(report.after.started)
        lines.append(
            Bilingual(
                f"{names[0]} 的回答重新评审于 {again}，{names[1]} 的运行开始于 {after}",
                f"{names[0]}: answers judged again at {again}; {names[1]}: run began at {after}",
            )
        )
        if report.again.status != "finished":
            lines.append(
                Bilingual(
                    "重新评审尚未完成，同一命令可以继续",
                    "judging again is not finished; the same command resumes it",
                )
            )
    if report.left_out_prompts:
        n = report.left_out_prompts
        subject, verb = ("1 prompt that differs", "is") if n == 1 else (f"{n} prompts that differ", "are")
        lines.append(
            Bilingual(f"两次运行中内容不同的 {n} 个题目已略去", f"{subject} between the runs {verb} left out")
        )
    if report.unchecked:
        unchecked = ", ".join(report.unchecked)
        lines.append(
            Bilingual(
                f"由旧版本运行，评审的设置是否变过无从得知：{unchecked}",
                f"run by an older version, so whether the judge's settings changed is not known: {unchecked}",
            )
        )
    tests = sum(
        score.model is not None and score.model.p_adjusted is not None
        for score in report.scores
        if score.family == "headline"
    )
    if tests > 1:
        lines.append(
            Bilingual(f"p 按 Holm 法对 {tests} 项分数校正", f"p corrected by Holm for {tests} scores")
        )
    return lines


def _lines(score: JudgedScoreDrift, names: Sequence[str]) -> list[Bilingual]:
    decimals = max(3, decimals_for(score.scale, [score.then, score.again, score.now]))
    lines = []
    if score.judge is not None:
        lines.append(_judge_line(score, score.judge, names[0], decimals))
    if score.model is not None:
        lines.append(_model_line(score, score.model, decimals))
    if score.reason:
        lines.append(_reason(score))
    if score.verdict == "stable":
        lines.append(_stable_line(score, decimals))
    elif score.verdict in ("model drifted", "judge drifted"):
        lines += _second_line(score)
    lines += [_change_line(change) for change in score.changes]
    lines += [_conflict_line(change) for change in score.conflicts]
    if score.agreement is not None:
        lines.append(_agreement_line(score.agreement, decimals))
    return lines


def _judge_line(score: JudgedScoreDrift, effect: Effect, before: str, decimals: int) -> Bilingual:
    if score.arm == "anchors":
        n = effect.anchors
        return Bilingual(
            f"评审：同样的 {n} 个锚点，{_effect(effect, decimals).zh}",
            f"judge: on the same {n} anchors, {_effect(effect, decimals).en}",
        )
    means = f"{number(score.then, decimals)} → {number(score.again, decimals)}"
    return Bilingual(
        f"评审：{before} 的同样回答，{means}，{_effect(effect, decimals).zh}",
        f"judge: {means} on the same answers of {before}, {_effect(effect, decimals).en}",
    )


def _model_line(score: JudgedScoreDrift, effect: Effect, decimals: int) -> Bilingual:
    if score.arm == "anchors":
        means = f"{number(score.then, decimals)} → {number(score.now, decimals)}"
        return Bilingual(
            f"模型：{means}，减去评审的变化后，{_effect(effect, decimals).zh}",
            f"model: {means}; minus the change of the judge, {_effect(effect, decimals).en}",
        )
    means = f"{number(score.again, decimals)} → {number(score.now, decimals)}"
    return Bilingual(
        f"模型：{means}（新旧回答都由现在的评审打分），{_effect(effect, decimals).zh}",
        f"model: {means}, both by the present judge, {_effect(effect, decimals).en}",
    )


def _effect(effect: Effect, decimals: int) -> Bilingual:
    bounds = f" {interval(effect.interval, decimals)}" if effect.interval else ""
    value = f"{signed(effect.difference, decimals)}{bounds}"
    p = p_text(effect.p if effect.p_adjusted is None else effect.p_adjusted)
    raw_zh, raw_en = ("，未校正", ", not corrected") if effect.p_adjusted is None else ("", "")
    prompts_zh = f"，{effect.prompts} 题" if effect.prompts else ""
    prompts_en = f", {plural(effect.prompts, 'prompt')}" if effect.prompts else ""
    detectable = _detectable(effect, decimals)
    return Bilingual(
        f"变化 {value}，p {p}{raw_zh}{prompts_zh}，{detectable.zh}",
        f"change {value}, p {p}{raw_en}{prompts_en}, {detectable.en}",
    )


def _detectable(effect: Effect, decimals: int) -> Bilingual:
    """Return the smallest change that would usually be detected, or why it is not known."""
    if effect.detectable is not None:
        smallest = number(effect.detectable, decimals)
        return Bilingual(f"可检出的最小变化 {smallest}", f"smallest detectable change {smallest}")
    if effect.clusters < 2:
        return Bilingual(
            "只有一组互相独立的题目，不知能看出多大的变化",
            "only one independent group, so the smallest detectable change is not known",
        )
    unit = Bilingual("题", "prompt") if effect.prompts else Bilingual("锚点", "anchor")
    return Bilingual(f"各{unit.zh}变化全部相同", f"every {unit.en} changed by the same amount")


def _reason(score: JudgedScoreDrift) -> Bilingual:
    if score.reason != "not enough evidence":
        return _REASONS[score.reason]
    margin = number(score.margin, 3) if score.margin else ""
    needed_zh, needed_en = [], []
    if score.prompts_needed is not None:
        needed_zh.append(f"{score.prompts_needed} 题")
        needed_en.append(plural(score.prompts_needed, "prompt"))
    if score.anchors_needed is not None:
        needed_zh.append(f"{score.anchors_needed} 个锚点")
        needed_en.append(plural(score.anchors_needed, "anchor"))
    if not margin or not needed_zh:
        return Bilingual(
            "没有看出变化，但也不能说没有变化", "no change is seen, which does not mean that there is none"
        )
    return Bilingual(
        f"没有看出变化，但不能排除大于 {margin} 的变化；若其实没有变化，"
        f"约需 {'和 '.join(needed_zh)}才能判定“稳定”",
        f"no change is seen, but one above {margin} cannot be excluded; if there is none, about "
        f'{" and ".join(needed_en)} are needed to say "stable"',
    )


def _stable_line(score: JudgedScoreDrift, decimals: int) -> Bilingual:
    margin = number(score.margin, decimals)
    judge, model = (
        interval(effect.interval_90 if effect else None, decimals) for effect in (score.judge, score.model)
    )
    return Bilingual(
        f"两个变化的 90% 区间都在 ±{margin} 之内：评审 {judge}，模型 {model}",
        f"both 90% intervals lie within ±{margin}: judge {judge}, model {model}",
    )


def _second_line(score: JudgedScoreDrift) -> list[Bilingual]:
    """Return a sentence if both judge and model may have changed, but the verdict names only one of them."""
    is_model = score.verdict == "model drifted"
    other = score.judge if is_model else score.model
    if other is None or other.p_adjusted is None or other.p_adjusted > ALPHA:
        return []
    name = Bilingual("评审", "the judge") if is_model else Bilingual("模型", "the model")
    return [
        Bilingual(
            f"{name.zh}可能也变了，但 p 未达到判定两者都变所需的 {SECOND_ALPHA}",
            f"{name.en} may have changed too, but its p is above {SECOND_ALPHA}, the limit for naming both",
        )
    ]


def _change_line(change: Difference) -> Bilingual:
    this, that = (one_line(text, MAX_SETTING) for text in (change.this, change.that))
    return Bilingual(
        f"评审的设置变了：{change.part} {this} → {that}",
        f"the judge's {change.part} changed: {this} → {that}",
    )


def _conflict_line(change: Difference) -> Bilingual:
    this, that = (one_line(text, MAX_SETTING) for text in (change.this, change.that))
    return Bilingual(
        f"重新评审：{change.part} {this}；较晚的运行：{that}",
        f"{change.part}: {this} where judged again, {that} in the later run",
    )


def _agreement_line(agreement: AnchorAgreement, decimals: int) -> Bilingual:
    then, now = number(agreement.error_then, decimals), number(agreement.error_now, decimals)
    p = p_text(agreement.p)
    return Bilingual(
        f"在 {agreement.anchors} 个锚点上，评审分与人工分的平均差 {then} → {now}，p {p}，未校正",
        f"on {plural(agreement.anchors, 'anchor')}, the mean difference between judge and people "
        f"{then} → {now}, p {p}, not corrected",
    )
