"""Print calibrations on a terminal: the decision, agreement with intervals, confusion matrix, maps, means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hengwen.reports.text.numbers import NOTHING, interval, number
from hengwen.reports.text.sanitize import one_line
from hengwen.reports.view.calibrations import DECISIONS_ZH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.calibration import Agreement, Calibration, CorrectedMean, Estimate

DECISION_COLOURS = {"certified": "green", "not certified": "red", "insufficient": "yellow"}
ESTIMATES = {
    "quadratic_kappa": "二次 kappa  quadratic",
    "linear_kappa": "线性 kappa  linear",
    "kappa": "无权 kappa  unweighted",
    "alpha": "Krippendorff alpha",
    "spearman": "Spearman",
    "kendall": "Kendall tau-b",
    "exact": "完全一致  exact",
    "within_one": "相差不超过一级  within one",
    "bias": "偏差  judge - human",
}
DROPPED_TEXT = {
    "no_answer": "without a judged answer",
    "other_text": "for another text",
    "no_verdict": "without a verdict",
    "example": "for examples of the rubric",
}


def print_calibrations(calibrations: Sequence[Calibration], console: Console | None = None) -> None:
    """Print each calibration: the decision with its reasons, then the tables."""
    console = console or Console(highlight=False)
    for calibration in calibrations:
        title = calibration.address
        if calibration.tasks:
            title += f"  (合并 {len(calibration.tasks)} 个任务 pooled over {len(calibration.tasks)} tasks)"
        console.print(Text(title, style="bold"))
        console.print(
            Text(
                f"{DECISIONS_ZH[calibration.decision]} {calibration.decision}",
                style=f"bold {DECISION_COLOURS[calibration.decision]}",
            )
            + Text(f": {'; '.join(calibration.reasons)}", style="not bold default")
        )
        console.print(Text(calibration.signature, style="dim"))
        dropped = [f"{n} {DROPPED_TEXT[reason]}" for reason, n in calibration.dropped.items() if n]
        if dropped:
            console.print(Text(f"labels not used: {', '.join(dropped)}"))
        if calibration.drawn:
            console.print(Text(f"抽样方式 drawn: {_draws_text(calibration.drawn)}"))
        if calibration.agreement is None:
            continue
        console.print(_agreement_table(calibration, calibration.agreement))
        console.print(_confusion_table(calibration.agreement))
        if calibration.maps:
            console.print(_maps_table(calibration))
        else:
            console.print(Text(f"no calibration maps: {calibration.maps_reason}\n"))
        console.print(_means_table(calibration))


def _draws_text(drawn: Mapping[str, int]) -> str:
    """How labelled answers were drawn, with the number of labels of each draw."""
    return "; ".join(f"{one_line(text, 120)} ({count} labels)" for text, count in drawn.items())


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", overflow="fold")
    return table


def _agreement_table(calibration: Calibration, agreement: Agreement) -> Table:
    counts = f"n={agreement.n}, prompts {agreement.prompts}, raters {calibration.raters}"
    title = f"与人工标注的一致性 agreement ({counts})"
    table = _table(title, "", "值 value", f"{calibration.level:.0%}", "无定义 undefined")
    for name, title in ESTIMATES.items():
        _add_estimate(table, title, getattr(agreement, name), agreement.resamples)
    table.add_section()
    _add_estimate(table, "标注者之间 among raters (alpha)", calibration.ceiling, agreement.resamples)
    return table


def _add_estimate(table: Table, title: str, estimate: Estimate, resamples: int) -> None:
    if estimate.value is None:
        table.add_row(title, NOTHING, Text(estimate.reason, style="dim"), "")
        return
    ends = None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
    undefined = f"{estimate.undefined}/{resamples}" if estimate.undefined else ""
    table.add_row(title, number(estimate.value), interval(ends), undefined)


def _confusion_table(agreement: Agreement) -> Table:
    levels = [f"{level:g}" for level in agreement.levels]
    table = _table("人工（行）与评审（列） human rows, judge columns", "", *levels, "人工 human")
    for level, row, share in zip(levels, agreement.confusion, agreement.human_base, strict=True):
        table.add_row(level, *(str(count) if count else "·" for count in row), f"{share:.0%}")
    table.add_section()
    table.add_row("评审 judge", *(f"{share:.0%}" for share in agreement.judge_base), "")
    if agreement.between:
        table.caption = (
            f"{agreement.between} 个值介于两级之间，按最近的一级计 values between levels count as the nearest"
        )
        table.caption_justify = "left"
    return table


def _maps_table(calibration: Calibration) -> Table:
    levels = [f"{value:g}" for value, _ in calibration.maps[0].levels]
    table = _table("校准映射 calibration maps", "", *levels, "误差 error", "增益 gain")
    table.add_row("raw", *levels, number(calibration.maps[0].raw_error, 4), "")
    for report in calibration.maps:
        gain = number(report.gain.value, 4)
        if report.gain.low is not None and report.gain.high is not None:
            gain += f" {interval((report.gain.low, report.gain.high), 4)}"
        values = [number(value, 2) for _, value in report.levels]
        table.add_row(report.kind, *values, number(report.error, 4), gain)
    return table


def _means_table(calibration: Calibration) -> Table:
    table = _table(
        "均值 means", "检查点 checkpoint", "仅评判 judge", "仅标注 labels", "校正 corrected", "λ", "n"
    )
    for report in calibration.means:
        name = Text(report.checkpoint or "全部 all")
        mean = report.corrected
        if mean is None:
            table.add_row(name, NOTHING, NOTHING, Text(report.reason, style="dim"), "", "")
            continue
        table.add_row(
            name,
            number(mean.judge_mean),
            _labels_alone(mean),
            f"{number(mean.mean)} {interval((mean.low, mean.high))}",
            number(mean.lam, 2),
            f"{mean.n}+{mean.others}",
        )
    return table


def _labels_alone(mean: CorrectedMean) -> str:
    """The mean of the labels alone; a dash if the labels are no random sample."""
    if mean.labels_mean is None or mean.labels_low is None or mean.labels_high is None:
        return NOTHING
    return f"{number(mean.labels_mean)} {interval((mean.labels_low, mean.labels_high))}"
