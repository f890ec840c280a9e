"""``Monitor``: alarms, states, restarts, and what it refuses."""

from __future__ import annotations

import json
import math
import pickle
from decimal import Decimal

import numpy as np
import pytest
from rows import each_row

from hengwen import Monitor, MonitorState
from hengwen.monitoring.monitor_state import Alarm
from hengwen.stats.mean_interval import mean_interval

LEVELS = [0, 0.25, 0.5, 0.75, 1]
BASELINE = np.random.default_rng(1).permutation(np.repeat(LEVELS, (5, 10, 20, 35, 30))).tolist()
RNG = np.random.default_rng(11)
QUIET = RNG.permutation(BASELINE).tolist()
LOW = RNG.choice(LEVELS, 200, p=[0.3, 0.3, 0.2, 0.1, 0.1]).tolist()


def monitor(baseline=BASELINE, **options) -> Monitor:
    return Monitor(baseline, **{"horizon": 200, "scale": (0, 1), **options})


def last(stream_monitor: Monitor, scores) -> MonitorState:
    for score in scores:
        stream_monitor.update(score)
    return stream_monitor.state


def page_hinkley(scores, mean: float, sd: float, sign: int) -> list[float]:
    """Return the statistic of the test of Page and Hinkley with a fixed mean, the slow way."""
    sums = [
        sum(sign * (score - mean) / sd - 0.25 for score in scores[:end]) for end in range(len(scores) + 1)
    ]
    return [sums[end] - min(sums[: end + 1]) for end in range(1, len(scores) + 1)]


def test_the_statistics_are_those_of_page_and_hinkley() -> None:
    weights, values = np.append(np.ones(100), [0.5, 0.5]), np.append(BASELINE, [0, 1])
    mean = float(np.average(values, weights=weights))
    sd = math.sqrt(np.average((values - mean) ** 2, weights=weights) * 1.01)
    scores = [*QUIET, *LOW]
    stream_monitor = monitor()
    states = [stream_monitor.update(score) for score in scores]
    assert [state.up for state in states] == pytest.approx(page_hinkley(scores, mean, sd, 1))
    assert [state.down for state in states] == pytest.approx(page_hinkley(scores, mean, sd, -1))
    first = next(state for state in states if state.down > state.down_threshold)
    assert states[-1].alarm == first.alarm
    assert first.alarm.at == first.n
    zeros = [state.n for state in states[: first.n] if state.down == 0]
    assert first.alarm.since == zeros[-1] + 1


@pytest.mark.slow
def test_a_lower_mean_raises_an_alarm_that_names_about_where_it_began() -> None:
    state = last(monitor(), [*QUIET, *LOW])
    assert state.alarm.direction == "down"
    assert 100 < state.alarm.at < 130
    assert 90 <= state.alarm.since <= 105


def test_the_first_alarm_stays_although_the_scores_recover() -> None:
    stream_monitor = monitor()
    assert stream_monitor.alarm_at is None
    alarm = last(stream_monitor, LOW).alarm
    assert last(stream_monitor, [1.0] * 300).alarm == alarm
    assert stream_monitor.alarm_at == alarm.at


def test_the_baseline_itself_raises_no_alarm() -> None:
    state = last(monitor(), QUIET)
    assert state.alarm is None
    assert (state.n, state.mean, state.difference) == (100, pytest.approx(0.6875), pytest.approx(0))
    assert state.difference_interval[0] < 0 < state.difference_interval[1]


@pytest.mark.slow
def test_a_higher_mean_is_no_alarm_where_only_a_lower_one_counts() -> None:
    down, up = monitor(direction="down"), monitor(direction="up")
    state = last(down, [1.0] * 100)
    assert (state.alarm, state.up, state.up_threshold) == (None, None, None)
    assert last(up, [1.0] * 100).alarm == Alarm(direction="up", at=up.alarm_at, since=1)
    assert down.state.down_threshold < monitor().state.down_threshold


def test_means_and_intervals_without_a_score_are_those_of_nothing() -> None:
    state = monitor().state
    assert (state.n, state.mean, state.difference, state.alarm) == (0, None, None, None)
    assert (state.up, state.down, state.interval) == (0, 0, (0, 1))
    assert Monitor(BASELINE, horizon=5).state.interval is None


def test_the_difference_has_the_error_of_the_baseline_too() -> None:
    stream_monitor = monitor()
    state = last(stream_monitor, QUIET)
    low, high = mean_interval(BASELINE, scale=(0, 1), confidence=0.975).bounds or (0, 0)
    bounds = stream_monitor._sequence.interval(0.025)
    assert bounds[0] < state.interval[0] < state.mean < state.interval[1] < bounds[1]
    assert state.difference_interval == pytest.approx((bounds[0] - high, bounds[1] - low))


def test_the_state_says_where_the_horizon_ends() -> None:
    stream_monitor = monitor(horizon=3)
    assert [stream_monitor.update(0.75).within_horizon for _ in range(4)] == [True, True, True, False]


@pytest.mark.slow
def test_the_order_of_the_baseline_and_the_kind_of_numbers_do_not_matter() -> None:
    first = last(monitor(), LOW)
    assert last(monitor(np.array(BASELINE, np.float32)), np.array(LOW, np.float32)) == first
    assert last(monitor(BASELINE[::-1]), LOW).alarm == first.alarm


def test_the_seed_decides_and_another_seed_gives_nearly_the_same() -> None:
    first, second, other = monitor().state, monitor().state, monitor(seed=1).state
    assert first == second
    assert other.down_threshold != first.down_threshold
    assert other.down_threshold == pytest.approx(first.down_threshold, rel=0.06)


@pytest.mark.slow
@each_row("scale", [(0, 1), None])
def test_a_restarted_process_goes_on(scale) -> None:
    scores = [*QUIET, *LOW]
    first = monitor(scale=scale)
    last(first, scores[:107])
    copies = [Monitor.from_dict(json.loads(json.dumps(first.to_dict()))), pickle.loads(pickle.dumps(first))]
    assert [copy.state for copy in copies] == [first.state] * 2
    for score in scores[107:]:
        state = first.update(score)
        assert [copy.update(score) for copy in copies] == [state] * 2
    assert state.alarm is not None
    assert Monitor.from_dict(first.to_dict()).state.alarm == state.alarm
    assert Monitor.from_dict(first.to_dict()).settings == first.settings


def test_a_saved_monitor_is_not_changed_by_later_scores() -> None:
    stream_monitor = monitor()
    saved = stream_monitor.to_dict()
    text = json.dumps(saved)
    last(stream_monitor, LOW)
    assert json.dumps(saved) == text
    assert Monitor.from_dict(saved).state.n == 0


def test_changes_of_a_saved_monitor_do_not_change_the_monitor() -> None:
    stream_monitor = monitor()
    before = stream_monitor.state, stream_monitor.settings
    saved = stream_monitor.to_dict()
    copy = Monitor.from_dict(saved)
    for part in saved.values():
        if isinstance(part, dict):
            part.update(dict.fromkeys(part, -1))
    assert (stream_monitor.state, stream_monitor.settings) == before
    assert (copy.state, copy.settings) == before


def saved_with(path: str, value: object, *, scale=(0, 1)) -> dict[str, object]:
    """Return a saved monitor after an alarm, in which one field has another value; None deletes the field."""
    stream_monitor = monitor(scale=scale)
    last(stream_monitor, LOW)
    saved = json.loads(json.dumps(stream_monitor.to_dict()))
    *parents, name = path.split(".")
    part = saved
    for parent in parents:
        part = part[parent]
    if value is None:
        del part[name]
    else:
        part[name] = value
    return saved


@pytest.mark.slow
@each_row(
    ("path", "value", "problem"),
    [
        ("schema", None, "'schema': field required"),
        ("schema", 2, "'schema': input should be less than or equal to 1, got 2"),
        ("schema", True, "'schema': input should be a valid integer, got True"),
        ("sums", None, "'sums': field required"),
        ("notes", "x", "'notes': extra inputs are not permitted"),
        ("settings", [], "'settings': input should be a valid dictionary"),
        ("settings.alpha", None, "'settings.alpha': field required"),
        ("settings.alpha", 0, "'settings.alpha': input should be greater than or equal to 0.001, got 0"),
        ("settings.alpha", "0.05", "'settings.alpha': input should be a valid number, got '0.05'"),
        ("settings.horizon", 0, "'settings.horizon': input should be greater than or equal to 1, got 0"),
        ("settings.horizon", 2.5, "'settings.horizon': input should be a valid integer, got 2.5"),
        (
            "settings.direction",
            "left",
            "'settings.direction': input should be 'both', 'down' or 'up', got 'left'",
        ),
        ("settings.scale", [1, 0], "'settings.scale': must be a lower and a higher number, got [1, 0]"),
        ("settings.scale", [0], "'settings.scale.1': field required"),
        (
            "settings.reference_value",
            -1,
            "'settings.reference_value': input should be greater than or equal to 0, got -1",
        ),
        ("baseline.mean", math.nan, "'baseline.mean': input should be a finite number, got nan"),
        pytest.param("baseline.mean", 10**400, "'baseline.mean': input should be a valid number", id="huge"),
        ("baseline.chart_sd", 0, "'baseline.chart_sd': input should be greater than 0, got 0"),
        ("baseline.interval", [0.5, math.inf], "'baseline.interval.1': input should be a finite number"),
        ("thresholds.up", math.inf, "'thresholds.up': input should be a finite number, got inf"),
        ("n", -1, "'n': input should be greater than or equal to 0, got -1"),
        ("n", True, "'n': input should be a valid integer, got True"),
        ("total", "9", "'total': input should be a valid number, got '9'"),
        ("sums.down", -0.5, "'sums.down': input should be greater than or equal to 0, got -0.5"),
        ("zero_at.up", 201, "'zero_at.up': must be a whole number from 0 to 200, got 201"),
        ("alarm.direction", "both", "'alarm.direction': input should be 'down' or 'up', got 'both'"),
        ("alarm.at", 0, "'alarm.at': input should be greater than or equal to 1, got 0"),
        ("alarm.since", 150, "'alarm.since': must be a whole number from 1 to "),
        ("sequence.n", 7, "'sequence.n': must be a whole number from 200 to 200, got 7"),
        ("sequence.variance", -1, "'sequence.variance': input should be greater than or equal to 0, got -1"),
        ("sequence.mean", 0.5, "'sequence.mean': extra inputs are not permitted"),
    ],
)
def test_a_wrong_field_of_a_saved_monitor_is_named_with_the_way_out(path, value, problem: str) -> None:
    with pytest.raises(ValueError, match="not a saved monitor: ") as error:
        Monitor.from_dict(saved_with(path, value))
    assert problem in str(error.value)
    assert str(error.value).endswith(
        "; pass what Monitor.to_dict returned, or create a new Monitor from its baseline"
    )


def test_a_saved_monitor_without_a_scale_has_other_fields() -> None:
    assert Monitor.from_dict(saved_with("n", 200, scale=None)).state.n == 200
    with pytest.raises(ValueError, match=r"'sequence\.squares': input should be greater"):
        Monitor.from_dict(saved_with("sequence.squares", -1, scale=None))


@pytest.mark.slow
def test_the_size_of_a_saved_monitor_does_not_grow() -> None:
    stream_monitor = monitor()
    last(stream_monitor, QUIET)
    before = len(json.dumps(stream_monitor.to_dict()))
    last(stream_monitor, QUIET * 20)
    assert len(json.dumps(stream_monitor.to_dict())) < before + 100


@pytest.mark.slow
@each_row(
    ("scores", "alarm"),
    [
        ([1.0] * 500, None),
        ([0.0] * 50, Alarm(direction="down", at=7, since=1)),
        ([*[1.0] * 50, *[0.0] * 50], Alarm(direction="down", at=57, since=51)),
        ([1.0, 1.0, 1.0, 0.0] * 10, Alarm(direction="down", at=28, since=4)),
    ],
)
def test_a_constant_baseline_on_a_scale_is_a_baseline(scores, alarm) -> None:
    assert last(monitor([1.0] * 100, horizon=1000), scores).alarm == alarm


@pytest.mark.slow
@each_row(("score", "direction"), [(6.0, "up"), (1e9, "up"), (4.999, "down"), (5.0, None)])
def test_scores_against_a_constant_baseline_without_a_scale_count_as_higher_or_lower(
    score: float, direction: str | None
) -> None:
    state = last(monitor([5.0] * 100, scale=None, horizon=1000), [score] * 10)
    assert (state.alarm and state.alarm.direction) == direction
    assert state.alarm is None or state.alarm.at == 6
    assert state.difference_interval is None
    assert state.difference == pytest.approx(score - 5)


@pytest.mark.slow
def test_one_odd_score_after_a_constant_baseline_is_no_alarm() -> None:
    for scale in ((0, 1), None):
        assert last(monitor([1.0] * 100, scale=scale, horizon=1000), [1.0, 1.0, 0.0, 1.0]).alarm is None


@each_row(
    ("baseline", "options", "message"),
    [
        ([0.5] * 99, {}, "the baseline has 99 scores, but at least 100 are needed: the mean of fewer"),
        ([], {}, "the baseline has 0 scores"),
        ([*BASELINE, math.inf], {}, "score 100 of the baseline is inf"),
        ([*BASELINE, math.nan], {}, "score 100 is NaN"),
        ([*BASELINE, 1.5], {}, "score 100 of the baseline is 1.5, which is off the scale 0 to 1"),
        ([BASELINE, BASELINE], {}, "scores must be one sequence"),
        (BASELINE, {"alpha": 0}, "alpha must lie between 0.001 and 0.5, got 0"),
        (BASELINE, {"alpha": math.nan}, "alpha must lie"),
        (BASELINE, {"horizon": 0}, "horizon must be a whole number >= 1, got 0"),
        (BASELINE, {"direction": "left"}, "unknown direction 'left'; known: 'both', 'down', 'up'"),
        (BASELINE, {"scale": (1, 0)}, "scale must be the lowest and the highest possible score"),
        (BASELINE, {"scale": (0, math.inf)}, "scale must be the lowest"),
        (BASELINE, {"scale": (0, 1, 2)}, "scale must be the lowest"),
        (BASELINE, {"reference_value": -1}, "reference_value must be at least 0, got -1"),
        (BASELINE, {"seed": -1}, "seed must be a whole number >= 0, got -1"),
    ],
)
def test_wrong_values_are_refused(baseline, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        monitor(baseline, **options)


@pytest.mark.slow
@each_row(
    ("score", "error"),
    [
        *((score, ValueError) for score in (math.nan, -math.inf, 1.01, -0.01)),
        *((score, TypeError) for score in (None, "0.5", True, Decimal("0.5"))),
    ],
)
def test_a_wrong_score_leaves_the_monitor_as_it_is(score, error: type[Exception]) -> None:
    stream_monitor = monitor()
    state = last(stream_monitor, LOW[:10])
    with pytest.raises(error, match="score"):
        stream_monitor.update(score)
    assert stream_monitor.state == state


@pytest.mark.slow
def test_a_correlation_of_neighbours_in_the_baseline_widens_the_thresholds() -> None:
    independent, blocks = monitor().state, monitor(np.repeat(BASELINE, 2).tolist()).state
    assert independent.baseline_correlation == 0
    assert 0.4 < blocks.baseline_correlation < 0.6
    assert blocks.up_threshold > 1.5 * independent.up_threshold
