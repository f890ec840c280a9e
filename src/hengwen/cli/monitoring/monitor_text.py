"""Print the state of a monitor of a stream of scores (alarm, means, intervals), in words or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from hengwen.stats.confidence_sequence import MIN_ASYMPTOTIC
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, interval, number, signed

if TYPE_CHECKING:
    from hengwen.monitoring.streams.monitor import Monitor
    from hengwen.monitoring.streams.state import MonitorState

_CHANGES = {
    "down": Bilingual("均值下降", "the mean is lower than the baseline's"),
    "up": Bilingual("均值上升", "the mean is higher than the baseline's"),
}


def alarm_text(state: MonitorState) -> Bilingual:
    """Return the alarm in words, or that there is none."""
    alarm = state.alarm
    if alarm is None:
        return Bilingual(f"{state.n} 个分数，无警报", f"no alarm in {_scores(state.n)}")
    change = _CHANGES[alarm.direction]
    return Bilingual(
        f"第 {alarm.at} 个分数：警报，{change.zh}，变化大约始于第 {alarm.since} 个分数",
        f"score {alarm.at}: alarm, {change.en}, probably since score {alarm.since}",
    )


def summary_text(monitor: Monitor) -> Bilingual:
    """Return the number of scores, the means of stream and baseline, and confidence intervals, in words."""
    state, settings = monitor.state, monitor.settings
    decimals = decimals_for(None, (state.mean, state.baseline_mean))
    fine = max(2, decimals)
    alpha, horizon = settings["alpha"], settings["horizon"]
    mean, baseline = number(state.mean, decimals), number(state.baseline_mean, decimals)
    bounds, difference = interval(state.interval, decimals), signed(state.difference, fine)
    difference_bounds = interval(state.difference_interval, fine)
    validity = _interval_text(state, has_scale=settings["scale"] is not None)
    lines = [
        alarm_text(state) if state.alarm is None else Bilingual(f"共 {state.n} 个分数", _scores(state.n)),
        Bilingual(
            f"均值 {mean} {bounds}，基线 {baseline}，相差 {difference} {difference_bounds}；{validity.zh}",
            f"mean {mean} {bounds}, baseline {baseline}, difference {difference} {difference_bounds}; "
            f"{validity.en}",
        ),
        Bilingual(
            f"无变化时，前 {horizon} 个分数内误报的概率约为 {alpha:g}",
            f"without a change, an alarm within {horizon} scores has a probability of about {alpha:g}",
        ),
    ]
    if not state.within_horizon:
        lines.append(
            Bilingual(
                "分数已超出这一范围，误报会更多", "the stream is longer: more false alarms are to be expected"
            )
        )
    return Bilingual("\n".join(line.zh for line in lines), "\n".join(line.en for line in lines))


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


def monitor_json(monitor: Monitor) -> str:
    """Return the settings and state of a monitor as one JSON object."""
    document = {"schema": 1, **monitor.settings, **asdict(monitor.state)}
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _scores(n: int) -> str:
    return "1 score" if n == 1 else f"{n} scores"
