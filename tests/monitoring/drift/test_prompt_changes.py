"""Prompts ranked by their change, and the variance of a judge's repeated verdicts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from rows import each_row
from score_rows import row_of, score_of

from hengwen import Row, Run, Score, Store, drift_report
from hengwen.monitoring.drift.answers import baseline_members
from hengwen.monitoring.drift.differences import prompt_differences, rank_changes
from hengwen.monitoring.drift.drift_report import judge_repeats
from hengwen.monitoring.drift.series import TestedSeries

Make = Callable[..., TestedSeries]


def scores(changes: list[float], repeats: int, noise: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    values = 0.5 + np.outer(changes, [0, 1])[:, :, None] + rng.normal(0, noise, (len(changes), 2, repeats))
    return np.clip(values, 0, 1)


def test_five_rises_and_five_falls_are_listed_from_the_largest_rise(series_of: Make) -> None:
    changes = [0.02 * (index - 10) for index in range(21)]
    series = series_of(scores(changes, 4, 0.01))
    ranked = rank_changes(prompt_differences(series, [0]), series.matrix.repeat_variance())
    assert [item.prompt for item in ranked.changes[:3]] == ["p20", "p19", "p18"]
    assert [item.prompt for item in ranked.changes[-2:]] == ["p1", "p0"]
    assert len(ranked.changes) == 10
    assert ranked.shrunken
    assert all(abs(item.shrunken) < abs(item.change) + 0.01 for item in ranked.changes)


def test_noise_alone_names_no_prompt(series_of: Make) -> None:
    values = np.array([[[0.0, 1.0], [1.0, 0.0]]] * 10)
    values[3, 1] = [1.0, 1.0]
    series = series_of(values)
    ranked = rank_changes(prompt_differences(series, [0]), series.matrix.repeat_variance())
    assert (ranked.changes, ranked.prompts_vary) == ((), False)


def test_without_repeats_changes_are_not_shrunken(series_of: Make) -> None:
    ranked = rank_changes(prompt_differences(series_of(scores([0.1, -0.2, 0.0], 1, 0.0)), [0]), None)
    assert [(item.prompt, round(item.change, 2)) for item in ranked.changes] == [("p0", 0.1), ("p1", -0.2)]
    assert not ranked.shrunken


def test_equal_changes_with_rounding_name_no_prompt(series_of: Make) -> None:
    values = np.array([[[0.1 * index], [0.1 * index + 0.2]] for index in range(8)])
    ranked = rank_changes(prompt_differences(series_of(values), [0]), None)
    assert (ranked.changes, ranked.prompts_vary) == ((), False)


def test_a_pooled_baseline_counts_as_more_repeats(series_of: Make) -> None:
    series = series_of(np.random.default_rng(1).random((10, 6, 3)))
    assert prompt_differences(series, [0]).repeats.tolist() == [3.0] * 10
    assert prompt_differences(series, [0, 1, 2, 3]).repeats.tolist() == pytest.approx([4.8] * 10)
    before = prompt_differences(series, [0, 1]).before
    assert before == pytest.approx(series.table[:, :2].mean(axis=1))


@each_row(
    ("means", "members"),
    [
        ([0.5, 0.51, 0.5, 0.49], 1),
        ([0.5, 0.51, 0.5, 0.49, 0.9], 4),
        ([0.5] * 6, 5),
        ([0.1, 0.21, 0.3, 0.4, 0.5, 0.6], 1),
        ([0.5, 0.51, 0.5, 0.49, 0.9, 0.91], 4),
    ],
)
def test_the_first_checkpoints_are_pooled_while_they_do_not_move(means: list[float], members: int) -> None:
    assert baseline_members(np.array(means), 0.0) == list(range(members))


def judged(number: int, value: float, labels: list[str] | None, **changes: str) -> Row:
    details = {} if labels is None else {"method": "samples", "labels": labels}
    score = Score(name="j.level", value=value, signature="j", kind="judge", details=details)
    key = {"run_id": "r", "task": "t", "checkpoint": "c", "repeat": 1, **changes}
    return row_of(**key, sample_id=f"p{number}", cluster=f"p{number}", outcome=score)


def test_the_values_of_levels_are_read_from_scores_that_mix_them() -> None:
    rows = [
        judged(1, 1.0, ["A", "A", "A"]),
        judged(2, 0.0, ["C"]),
        judged(3, 0.5, ["A", "C"]),
        judged(4, 0.75, ["A", "B"]),  # no answer has only B, but its value follows from this score
        judged(5, 0.0, None),
        judged(6, 0.0, ["C", "C"], task="u"),
    ]
    variance, inverse = (0.5 + 0.125) / 4, (1 / 3 + 1 + 1 / 2 + 1 / 2) / 4
    assert judge_repeats(rows, score_of("j.level")) == (pytest.approx(variance * inverse), 0)
    assert judge_repeats(rows[4:], score_of("j.level")) == (None, 0)
    assert judge_repeats(rows[1:2], score_of("j.level")) == (None, 0)


def test_without_the_values_of_all_levels_the_variance_is_unknown() -> None:
    rows = [judged(1, 1.0, ["A", "A"]), judged(2, 0.4, ["B", "C"]), judged(3, 0.4, ["C", "B"])]
    assert judge_repeats(rows, score_of("j.level")) == (None, 2)
    contradiction = [judged(1, 1.0, ["A", "A"]), judged(2, 0.5, ["A", "A"])]  # a capped score
    assert judge_repeats(contradiction, score_of("j.level")) == (None, 2)


@pytest.mark.slow
@each_row("samples", [2, 5])
def test_the_variance_is_that_of_scores_of_answers_that_are_judged_again(samples: int) -> None:
    rng, levels = np.random.default_rng(0), np.array([0, 0.25, 0.5, 0.75, 1])
    variances, estimates = [], []
    for _ in range(200):
        true = rng.choice(5, 12, p=[0.05, 0.1, 0.2, 0.35, 0.3])
        errors = rng.choice([-1, 0, 1], (2, 12, samples), p=[0.15, 0.7, 0.15])
        verdicts = np.clip(true[:, None] + errors, 0, 4)
        scores = levels[verdicts].mean(axis=2)
        rows = [
            judged(number, scores[0, number], ["EDCBA"[level] for level in verdicts[0, number]])
            for number in range(12)
        ]
        variances.append(np.square(scores[0] - scores[1]).mean() / 2)
        estimate, unreadable = judge_repeats(rows, score_of("j.level"))
        assert (estimate is None) == (unreadable > 0)
        estimates += [] if estimate is None else [estimate]
    assert len(estimates) > 180
    assert np.mean(estimates) == pytest.approx(np.mean(variances), rel=0.1)


@each_row("value", [0.1, 0.3, 1 / 3, 0.7, 0.9])
@each_row("checkpoints", [4, 6, 8])
def test_rounding_in_the_mean_of_a_pooled_baseline_is_no_change(
    series_of: Make, value: float, checkpoints: int
) -> None:
    series = series_of(np.full((12, checkpoints, 3), value))
    members = baseline_members(series.means, 0.0)
    differences = prompt_differences(series, members)
    assert len(members) == max(1, checkpoints - 1 if checkpoints > 4 else 1)
    assert (differences.test.p, differences.test.difference) == (1.0, 0.0)


def test_the_variance_of_verdicts_is_read_from_the_newest_checkpoint(store: Store) -> None:
    ledger = store.ledger()
    for index in range(2):
        ledger.begin(Run(id=f"r{index}", plan="p", plan_hash="", checkpoint=f"c{index}", order=index))
        key = {"run_id": f"r{index}", "checkpoint": f"c{index}"}
        ledger.record_rows([judged(number, 1.0, ["A", "A"], **key) for number in range(6)])
        ledger.record_rows([judged(number, 0.0, ["C", "C"], **key) for number in range(6, 12)])
        ledger.record_rows([judged(12, 0.5, ["A", "C"], **key)])
    ledger.commit()
    (score,) = drift_report(store).scores
    assert (score.kind, score.variance.judge) == ("judge", pytest.approx(0.5 / 13 / 2))


@pytest.mark.parametrize(("reducer", "expected"), [("worst", 0.25), ("best", 0.75)])
def test_a_reducer_other_than_the_mean_gets_equally_many_repeats(
    record, store: Store, reducer: str, expected: float
) -> None:
    for index, repeats in enumerate(([0.25, 0.75, 0.0, 1.0], [0.75, 0.25])):
        scores = {f"p{number}": repeats for number in range(8)}
        record(f"c{index}", {"s.value": scores}, order=index, reducers={"t": reducer})
    (score,) = drift_report(store).scores
    assert [item.mean for item in score.means] == [expected, expected]
    assert score.differs == "no difference seen"


def test_checkpoints_without_a_common_prompt_are_not_compared(record, store: Store) -> None:
    for index in range(5):
        record(f"c{index}", {"s.value": {f"{index}-{number}": [0.5] for number in range(8)}}, order=index)
    (score,) = drift_report(store).scores
    assert (score.differs, score.drifts) == ("missing scores", "missing scores")
    assert (score.difference, score.comparisons, score.steps) == (None, (), None)


def test_a_checkpoint_without_the_score_is_named(record, store: Store) -> None:
    record("c0", {"u.value": {"p0": [0.5]}})
    record("c1", {"s.value": {"p0": [0.5]}}, order=1)
    (score,) = drift_report(store).scores
    assert [(item.checkpoint, item.problem) for item in score.left_out] == [("c0", "not scored")]
