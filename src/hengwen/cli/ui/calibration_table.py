"""Calibrations on a terminal: the decision, the figures with their intervals, who gave which level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hengwen.reports.text.numbers import NOTHING, interval, number
from hengwen.reports.view.calibrations import DECISIONS_ZH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.judges.calibration import Agreement, Calibration, Estimate

COLOURS = {"certified": "green", "not certified": "red", "insufficient": "yellow"}
FIGURES = {
    "quadratic_kappa": "二次 kappa  quadratic",
    "linear_kappa": "线性 kappa  linear",
    "kappa": "无权 kappa  unweighted",
    "alpha": "Krippendorff alpha",
    "spearman": "Spearman",
    "kendall": "Kendall tau-b",
    "exact": "完全一致  exact",
    "within_one": "差不过一级  within one",
    "bias": "偏差  judge - human",
}
DROPPED = {
    "no_answer": "have no judged answer",
    "other_text": "are for another text",
    "no_verdict": "have no verdict",
    "example": "are examples of the rubric",
}


def print_calibrations(calibrations: Sequence[Calibration], console: Console | None = None) -> None:
    """Print each calibration: what was decided and why, then its tables."""
    console = console or Console(highlight=False)
    for one in calibrations:
        console.print(Text(one.address, style="bold"))
        console.print(
            Text(f"{DECISIONS_ZH[one.decision]} {one.decision}", style=f"bold {COLOURS[one.decision]}")
            + Text(f": {'; '.join(one.reasons)}", style="not bold default")
        )
        console.print(Text(f"{one.signature}", style="dim"))
        left_out = [f"{count} {DROPPED[why]}" for why, count in one.dropped.items() if count]
        if left_out:
            console.print(Text(f"left out: {', '.join(left_out)}"))
        if one.agreement is not None:
            console.print(_figures(one, one.agreement))
            console.print(_confusion(one.agreement))
            console.print(_maps(one) if one.maps else Text(f"no calibration maps: {one.maps_reason}\n"))
            console.print(_means(one))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", overflow="fold")
    return table


def _figures(one: Calibration, found: Agreement) -> Table:
    labels = f"n={found.n}, prompts {found.prompts}, raters {one.raters}"
    table = _table(f"与人一致 agreement ({labels})", "", "值 value", f"{one.level:.0%}", "未定 undefined")
    for name, title in FIGURES.items():
        _figure(table, title, getattr(found, name), found.resamples)
    table.add_section()
    _figure(table, "人与人 among raters (alpha)", one.ceiling, found.resamples)
    return table


def _figure(table: Table, title: str, found: Estimate, resamples: int) -> None:
    if found.value is None:
        table.add_row(title, NOTHING, Text(found.reason, style="dim"), "")
        return
    ends = None if found.low is None or found.high is None else (found.low, found.high)
    missing = f"{found.undefined}/{resamples}" if found.undefined else ""
    table.add_row(title, number(found.value), interval(ends), missing)


def _confusion(found: Agreement) -> Table:
    levels = [f"{level:g}" for level in found.levels]
    table = _table("人（行）与评判（列） human rows, judge columns", "", *levels, "人 human")
    for level, row, share in zip(levels, found.confusion, found.human_base, strict=True):
        table.add_row(level, *(str(count) if count else "·" for count in row), f"{share:.0%}")
    table.add_section()
    table.add_row("评判 judge", *(f"{share:.0%}" for share in found.judge_base), "")
    if found.between:
        table.caption = (
            f"{found.between} 个值在两级之间，计入最近一级 values between levels count as the nearest"
        )
        table.caption_justify = "left"
    return table


def _maps(one: Calibration) -> Table:
    levels = [f"{value:g}" for value, _ in one.maps[0].levels]
    table = _table("校准 calibration maps", "", *levels, "误差 error", "增益 gain")
    table.add_row("raw", *levels, number(one.maps[0].raw_error, 4), "")
    for found in one.maps:
        gain = number(found.gain.value, 4)
        if found.gain.low is not None and found.gain.high is not None:
            gain += f" {interval((found.gain.low, found.gain.high), 4)}"
        values = [number(value, 2) for _, value in found.levels]
        table.add_row(found.kind, *values, number(found.error, 4), gain)
    return table


def _means(one: Calibration) -> Table:
    table = _table(
        "均值 means", "检查点 checkpoint", "仅评判 judge", "仅标注 labels", "校正 corrected", "λ", "n"
    )
    for found in one.means:
        name = Text(found.checkpoint or "全部 all")
        mean = found.corrected
        if mean is None:
            table.add_row(name, NOTHING, NOTHING, Text(found.reason, style="dim"), "", "")
            continue
        table.add_row(
            name,
            number(mean.judge_mean),
            f"{number(mean.labels_mean)} {interval((mean.labels_low, mean.labels_high))}",
            f"{number(mean.mean)} {interval((mean.low, mean.high))}",
            number(mean.lam, 2),
            f"{mean.n}+{mean.others}",
        )
    return table
