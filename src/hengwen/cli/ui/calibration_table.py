"""Print calibrations on a terminal: decision, agreement, confusion matrix, calibration maps and means.

A calibration compares the scores of a judge with human labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hengwen.reports.view.calibrations import DECISIONS_ZH
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING, interval, number
from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.calibration import Agreement, Calibration, CorrectedMean, Estimate
    from hengwen.text.language import Language

DECISION_COLOURS = {"certified": "green", "not certified": "red", "insufficient": "yellow"}
ESTIMATES = {
    "quadratic_kappa": Bilingual("二次加权 kappa", "quadratic kappa"),
    "linear_kappa": Bilingual("线性加权 kappa", "linear kappa"),
    "kappa": Bilingual("无权 kappa", "unweighted kappa"),
    "alpha": Bilingual("Krippendorff alpha", "Krippendorff alpha"),
    "spearman": Bilingual("Spearman", "Spearman"),
    "kendall": Bilingual("Kendall tau-b", "Kendall tau-b"),
    "exact": Bilingual("完全一致", "exact"),
    "within_one": Bilingual("相差不超过一级", "within one level"),
    "bias": Bilingual("偏差（评审减人工）", "bias (judge - human)"),
}
DROPPED_TEXT = {
    "no_answer": Bilingual("没有评审过的回答", "without a judged answer"),
    "other_text": Bilingual("回答文本已变", "for another text"),
    "no_verdict": Bilingual("评审没有结论", "without a verdict"),
    "example": Bilingual("是评分标准的示例", "for examples of the rubric"),
}


def print_calibrations(
    calibrations: Sequence[Calibration], language: Language, console: Console | None = None
) -> None:
    """Print each calibration: the decision with its reasons, then the tables."""
    printer = _Printer(language, console or Console(highlight=False))
    for calibration in calibrations:
        printer.print(calibration)


@dataclass(frozen=True, slots=True)
class _Printer:
    language: Language
    console: Console

    def text(self, zh: str, en: str) -> str:
        return Bilingual(zh, en).in_language(self.language)

    def print(self, calibration: Calibration) -> None:
        self._print_heading(calibration)
        agreement = calibration.agreement
        if agreement is None:
            return
        self.console.print(self._agreement_table(calibration, agreement))
        self.console.print(self._confusion_table(agreement))
        if calibration.maps:
            self.console.print(self._maps_table(calibration))
        else:
            reason = self.text("没有校准映射", "no calibration maps")
            self.console.print(Text(f"{reason}: {calibration.maps_reason}\n"))
        self.console.print(self._means_table(calibration))

    def _print_heading(self, calibration: Calibration) -> None:
        title = calibration.address
        if calibration.tasks:
            count = len(calibration.tasks)
            title += self.text(f"（合并 {count} 个任务）", f"  (pooled over {count} tasks)")
        self.console.print(Text(title, style="bold"))
        decision = self.text(DECISIONS_ZH[calibration.decision], calibration.decision)
        self.console.print(
            Text(decision, style=f"bold {DECISION_COLOURS[calibration.decision]}")
            + Text(f": {'; '.join(calibration.reasons)}", style="not bold default")
        )
        self.console.print(Text(calibration.signature, style="dim"))
        dropped = [
            f"{n} {DROPPED_TEXT[reason].in_language(self.language)}"
            for reason, n in calibration.dropped.items()
            if n
        ]
        if dropped:
            self.console.print(Text(f"{self.text('未用的标注', 'labels not used')}: {', '.join(dropped)}"))
        if calibration.drawn:
            draws = _draws_text(calibration.drawn)
            self.console.print(Text(f"{self.text('抽样方式', 'how answers were drawn')}: {draws}"))

    def _agreement_table(self, calibration: Calibration, agreement: Agreement) -> Table:
        n, prompts, raters = agreement.n, agreement.prompts, calibration.raters
        table = _table(
            self.text(
                f"与人工标注的一致性（{n} 个标注，{prompts} 题，{raters} 名标注者）",
                f"agreement with human labels (n={n}, prompts {prompts}, raters {raters})",
            ),
            "",
            self.text("值", "value"),
            f"{calibration.level:.0%}",
            self.text("无定义", "undefined"),
        )
        for name, title in ESTIMATES.items():
            estimate = getattr(agreement, name)
            _add_estimate(table, title.in_language(self.language), estimate, agreement.resamples)
        table.add_section()
        raters_title = self.text("标注者之间（alpha）", "among raters (alpha)")
        _add_estimate(table, raters_title, calibration.ceiling, agreement.resamples)
        return table

    def _confusion_table(self, agreement: Agreement) -> Table:
        levels = [f"{level:g}" for level in agreement.levels]
        title = self.text("人工（行）与评审（列）", "human (rows) and judge (columns)")
        table = _table(title, "", *levels, self.text("人工", "human"))
        for level, row, share in zip(levels, agreement.confusion, agreement.human_base, strict=True):
            table.add_row(level, *(str(count) if count else "·" for count in row), f"{share:.0%}")
        table.add_section()
        table.add_row(self.text("评审", "judge"), *(f"{share:.0%}" for share in agreement.judge_base), "")
        if agreement.between:
            table.caption = self.text(
                f"{agreement.between} 个值介于两级之间，按最近的一级计",
                f"values between levels, counted as the nearest: {agreement.between}",
            )
            table.caption_justify = "left"
        return table

    def _maps_table(self, calibration: Calibration) -> Table:
        levels = [f"{value:g}" for value, _ in calibration.maps[0].levels]
        title = self.text("校准映射", "calibration maps")
        table = _table(title, "", *levels, self.text("误差", "error"), self.text("增益", "gain"))
        table.add_row(self.text("原值", "raw"), *levels, number(calibration.maps[0].raw_error, 4), "")
        for report in calibration.maps:
            gain = number(report.gain.value, 4)
            if report.gain.low is not None and report.gain.high is not None:
                gain += f" {interval((report.gain.low, report.gain.high), 4)}"
            values = [number(value, 2) for _, value in report.levels]
            table.add_row(report.kind, *values, number(report.error, 4), gain)
        return table

    def _means_table(self, calibration: Calibration) -> Table:
        table = _table(
            self.text("均值", "means"),
            self.text("检查点", "checkpoint"),
            self.text("仅评审", "judge alone"),
            self.text("仅标注", "labels alone"),
            self.text("校正后", "corrected"),
            "λ",
            "n",
        )
        for report in calibration.means:
            name = Text(report.checkpoint or self.text("全部", "all"))
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


def _draws_text(drawn: Mapping[str, int]) -> str:
    """Return how the labelled answers were selected, with the number of labels for each way of selection."""
    return "; ".join(f"{one_line(text, 120)} ({count} labels)" for text, count in drawn.items())


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", overflow="fold")
    return table


def _add_estimate(table: Table, title: str, estimate: Estimate, resamples: int) -> None:
    if estimate.value is None:
        table.add_row(title, NOTHING, Text(estimate.reason, style="dim"), "")
        return
    ends = None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
    undefined = f"{estimate.undefined}/{resamples}" if estimate.undefined else ""
    table.add_row(title, number(estimate.value), interval(ends), undefined)


def _labels_alone(mean: CorrectedMean) -> str:
    """Return the mean of the human labels; a dash if the labelled answers are not a random sample."""
    if mean.labels_mean is None or mean.labels_low is None or mean.labels_high is None:
        return NOTHING
    return f"{number(mean.labels_mean)} {interval((mean.labels_low, mean.labels_high))}"
