"""The state of a monitor of a stream of scores as a document."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from hengwen.documents import cells
from hengwen.documents.blocks import Decision, Document, Sentence, Table
from hengwen.stats.confidence_sequence import MIN_ASYMPTOTIC
from hengwen.text.language import SENTENCE, Bilingual
from hengwen.text.numbers import decimals_for, interval, number, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.monitoring.monitor import Monitor
    from hengwen.monitoring.monitor_state import MonitorState

_CHANGES = {
    "down": Bilingual("均值下降", "the mean is lower than the baseline's"),
    "up": Bilingual("均值上升", "the mean is higher than the baseline's"),
}


def monitor_document(monitor: Monitor) -> Document:
    """Return whether there is an alarm, and the means of stream and baseline with their intervals."""
    state = monitor.state
    return Document(
        kind="monitor",
        title=Bilingual("监控", "monitor"),
        notes=(Bilingual(f"{state.n} 个分数", plural(state.n, "score")),),
        blocks=(
            Decision(title=SENTENCE.format(alarm_text(state)).capitalized),
            _means_table(state),
            *(Sentence(text=note, is_note=True) for note in _notes(monitor)),
        ),
        record={"schema": 1, **monitor.settings, **asdict(state)},
    )


def _notes(monitor: Monitor) -> Iterator[Bilingual]:
    state, settings = monitor.state, monitor.settings
    alpha, horizon, has_scale = settings["alpha"], settings["horizon"], settings["scale"] is not None
    yield _interval_text(state, has_scale=has_scale)
    yield Bilingual(
        f"无变化时，前 {horizon} 个分数内误报的概率约为 {alpha:g}",
        f"without a change, an alarm within {horizon} scores has a probability of about {alpha:g}",
    )
    yield _correlation_text(state.baseline_correlation)
    if not has_scale:
        yield Bilingual(
            "请用 --scale 给出分数的最低与最高值：没有它，尾部厚的分数误报更多",
            "pass --scale (lowest and highest score): heavy tails raise more alarms without it",
        )
    if not state.within_horizon:
        yield Bilingual(
            "分数已超出这一范围，误报会更多", "the stream is longer: more false alarms are to be expected"
        )


def alarm_text(state: MonitorState) -> Bilingual:
    """Return the alarm in words, or that there is none."""
    alarm = state.alarm
    if alarm is None:
        return Bilingual(f"{state.n} 个分数，无警报", f"no alarm in {plural(state.n, 'score')}")
    change = _CHANGES[alarm.direction]
    return Bilingual(
        f"第 {alarm.at} 个分数：警报，{change.zh}，变化大约始于第 {alarm.since} 个分数",
        f"score {alarm.at}: alarm, {change.en}, probably since score {alarm.since}",
    )


def _correlation_text(correlation: float) -> Bilingual:
    """Return how neighbouring scores of the baseline correlate, and what that does to the results."""
    if not correlation:
        return Bilingual(
            "基线中没有看出相邻分数相关；若按时间顺序它们其实相关，误报会多得多",
            "neighbouring scores of the baseline are not seen to correlate; if they do in the order of time, "
            "many more alarms are false",
        )
    value = number(correlation, 2)
    return Bilingual(
        f"基线中相邻分数的相关为 {value}，警报的阈值已据此放宽；均值的区间没有，会偏窄",
        f"neighbouring scores of the baseline correlate {value}: the thresholds of alarms are widened for "
        "that, the intervals of the means are not, and are too narrow",
    )


def _means_table(state: MonitorState) -> Table:
    decimals = decimals_for(None, (state.mean, state.baseline_mean))
    mean = f"{number(state.mean, decimals)} {interval(state.interval, decimals)}"
    mean_cell = replace(cells.interval_cell(state.mean, state.interval), text=mean)
    return Table(
        key="means",
        columns=(
            cells.right("scores", "分数个数", "scores"),
            cells.right("mean", "均值 [区间]", "mean [interval]"),
            cells.right("baseline", "基线", "baseline"),
            cells.right("difference", "相差 [区间]", "difference [interval]"),
        ),
        rows=(
            (
                cells.count_cell(state.n),
                mean_cell,
                cells.number_cell(state.baseline_mean, decimals),
                cells.difference_cell(state.difference, state.difference_interval, max(2, decimals)),
            ),
        ),
    )


def _interval_text(state: MonitorState, *, has_scale: bool) -> Bilingual:
    """Return how far the intervals can be trusted, or why there are none."""
    if state.interval is None:
        return Bilingual(
            f"未给出 --scale，满 {MIN_ASYMPTOTIC} 个且不全相同的分数后才有区间",
            f"without --scale, intervals need {MIN_ASYMPTOTIC} scores that are not all equal",
        )
    if not has_scale:
        return Bilingual(
            "区间可随时查看，但未给出 --scale，只是近似",
            "the intervals may be read at any time, but are approximate without --scale",
        )
    return Bilingual("区间可随时查看", "the intervals may be read at any time")
