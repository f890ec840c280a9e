"""Both answers for runs of a store: every number of checkpoints, every order, and whatever is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hengwen import ConfigError, DataError, ScoreDrift, Store, drift_report, open_store
from hengwen.documents.drift.document import drift_document
from hengwen.documents.render.write import to_json
from hengwen.records import Scale

PROMPTS = 12
FALL = [0.9, 0.88, 0.71, 0.62, 0.5, 0.39, 0.3]
STILL = [0.5, 0.52, 0.49, 0.51, 0.5, 0.52]


def means(values: list[float], repeats: int = 1, noise: float = 0.02) -> np.ndarray:
    """Return scores of 12 prompts, shape (prompts, checkpoints, repeats), with these means of checkpoints."""
    rng = np.random.default_rng(0)
    errors = rng.normal(0, noise, (PROMPTS, len(values), repeats))
    errors -= errors.mean(axis=(0, 2), keepdims=True)
    return np.clip(np.array(values)[None, :, None] + errors, 0, 1)


def only(store: Store, **arguments: object) -> ScoreDrift:
    (score,) = drift_report(store, **arguments).scores
    return score


@pytest.mark.slow
def test_a_fall_beyond_the_noise_of_steps_is_a_drift(fill: Callable[..., Store]) -> None:
    score = only(fill(means(FALL)))
    assert (score.differs, score.drifts, score.direction) == ("differ", "drift", "worse")
    line = stats.linregress(range(7), [item.mean for item in score.means])
    independent = score.steps.independent
    assert (independent.slope, independent.p) == pytest.approx((line.slope, line.pvalue))
    assert (score.steps.slope.slope, score.steps.slope.checkpoints) == (independent.slope, 7)
    assert score.difference.baseline == ("c0",)
    assert score.course.metrics["cin"].value == 21


@pytest.mark.slow
def test_a_rise_of_a_score_where_lower_is_better_is_for_the_worse(fill: Callable[..., Store]) -> None:
    scale = Scale(low=0, high=1, higher_is_better=False)
    score = only(fill(means(FALL[::-1]), scale=scale))
    assert (score.drifts, score.direction) == ("drift", "worse")


@pytest.mark.slow
def test_a_collapse_after_a_rise_is_not_for_the_better(fill: Callable[..., Store]) -> None:
    score = only(fill(means([*np.linspace(0.2, 0.9, 40), 0.0])))
    assert score.steps.slope_p_adjusted < score.steps.newest_p_adjusted < 0.03
    assert score.steps.slope.slope > 0 > score.steps.newest.difference
    assert (score.drifts, score.direction) == ("drift", "mixed")


def test_differences_within_the_noise_of_steps_are_no_drift(fill: Callable[..., Store]) -> None:
    score = only(fill(means([0.5, 0.7, 0.45, 0.65, 0.5, 0.6])))
    assert (score.differs, score.drifts, score.direction) == (
        "differ",
        "no change beyond the usual movement seen",
        "",
    )


def test_equal_checkpoints_show_nothing(fill: Callable[..., Store]) -> None:
    score = only(fill(means(STILL, noise=0.2)))
    assert (score.differs, score.drifts) == ("no difference seen", "no change beyond the usual movement seen")
    assert score.difference.baseline == ("c0", "c1", "c2", "c3", "c4")


def test_one_checkpoint_has_nothing_to_be_compared_with(fill: Callable[..., Store]) -> None:
    report = drift_report(fill(means([0.5])))
    (score,) = report.scores
    assert (score.differs, score.drifts) == ("one checkpoint", "one checkpoint")
    assert (score.difference, score.comparisons, score.steps, score.course) == (None, (), None, None)
    assert (report.looks.differ, report.looks.drift) == (None, None)


@pytest.mark.parametrize("checkpoints", [2, 3])
def test_two_and_three_checkpoints_cannot_be_told_from_step_noise(
    fill: Callable[..., Store], checkpoints: int
) -> None:
    report = drift_report(fill(means([0.9, 0.6, 0.3][:checkpoints])))
    (score,) = report.scores
    assert (score.differs, score.drifts) == ("differ", "cannot be told from the usual movement")
    assert (len(score.comparisons) == 1) == (score.course is None) == (checkpoints == 2)
    assert (report.looks.differ, report.looks.drift, report.drift_tests) == (1, None, 0)


def test_four_checkpoints_have_a_line_but_no_verdict_on_it(fill: Callable[..., Store]) -> None:
    score = only(fill(means([0.9, 0.8, 0.52, 0.4])))
    assert (score.drifts, score.steps.slope, score.steps.jump) == (
        "cannot be told from the usual movement",
        None,
        None,
    )
    assert score.steps.independent.p < 0.05


def test_a_checkpoint_that_hides_a_fall_is_named(fill: Callable[..., Store]) -> None:
    score = only(fill(means([0.7, 0.1, 0.69, 0.66, 0.64, 0.66, 0.61, 0.6, 0.35])))
    assert score.drifts == "no change beyond the usual movement seen"
    (omission,) = score.omissions
    assert (omission.checkpoint, omission.drifts, omission.direction) == ("c1", "drift", "worse")


def test_few_prompts_are_too_few(record, store: Store) -> None:
    for index in range(4):
        record(f"c{index}", {"s.value": {f"p{p}": [0.1 * index + 0.01 * p] for p in range(4)}}, order=index)
    assert only(store).differs == "too few prompts"


@pytest.mark.slow
def test_constant_scores_show_nothing_and_are_no_error(fill: Callable[..., Store]) -> None:
    score = only(fill(np.full((PROMPTS, 9, 2), 0.75)))
    assert (score.differs, score.drifts) == ("no difference seen", "no change beyond the usual movement seen")
    assert (score.steps.slope, score.steps.newest, score.steps.change_point) == (None, None, None)
    assert score.difference.p == 1.0
    assert {item.p_adjusted for item in score.comparisons} == {1.0}
    assert (score.changes, score.prompts_vary) == ((), False)
    json.loads(to_json(drift_document(drift_report(fill(np.full((PROMPTS, 1, 2), 0.75)[:, :0])))))


def test_a_first_fall_from_the_end_of_the_scale_is_measured_by_prompts(fill: Callable[..., Store]) -> None:
    values = np.ones((PROMPTS, 6, 1))
    values[0, -1] = 0.5  # the earlier means do not vary at all
    score = only(fill(values))
    assert score.drifts == "no change beyond the usual movement seen"
    assert score.steps.newest.error > 0


@pytest.mark.slow
def test_scattered_missing_scores_leave_the_error_of_a_mean_known(record, store: Store) -> None:
    rng = np.random.default_rng(7)
    values = np.where(rng.random((25, 24)) < 0.9, 1.0, 0.75)
    for index in range(24):
        scores: dict[str, list[float | None]] = {f"p{p}": [values[p, index]] for p in range(25)}
        record(f"c{index}", {"s.value": {**scores, f"p{index}": [None]}}, order=index)  # one prompt is whole
    steps = only(store).steps
    assert steps.mean_error == pytest.approx(0.075 / 5, rel=0.3)
    assert steps.newest.error >= steps.mean_error


def test_an_error_of_a_mean_that_cannot_be_known_is_none(record, store: Store) -> None:
    for index, value in enumerate([0.5, 0.52, 0.5, 0.49, 0.8]):
        record(f"c{index}", {"s.value": {"p": [value]}}, order=index)
    assert only(store).steps.mean_error is None


def test_a_perfect_line_is_no_measure_of_step_noise(record, store: Store) -> None:
    for index in range(5):
        record(f"c{index}", {"s.value": {"": [0.1 * index]}}, order=index)
    score = only(store)
    assert (score.differs, score.problem) == ("not comparable", "group score")
    assert score.drifts == "cannot be told from the usual movement"
    assert score.steps.slope is None
    assert score.steps.newest is not None


def test_a_jump_after_a_line_is_a_drift(record, store: Store) -> None:
    for index, value in enumerate([0.5, 0.501, 0.502, 0.503, 0.9]):
        record(f"c{index}", {"s.value": {"": [value]}}, order=index)
    score = only(store)
    assert (score.drifts, score.direction) == ("drift", "better")


def test_a_change_after_equal_means_of_unknown_error_cannot_be_told(record, store: Store) -> None:
    for index, value in enumerate([0.5, 0.5, 0.5, 0.5, 0.5, 0.1]):
        record(f"c{index}", {"s.value": {"": [value]}}, order=index)
    score = only(store)
    assert score.drifts == "cannot be told from the usual movement"
    assert (score.steps.newest, score.steps.slope is None) == (None, False)


def test_a_score_of_all_answers_is_asked_the_second_question_only(record, store: Store) -> None:
    for index, value in enumerate(FALL):
        record(f"c{index}", {"s.value": {"": [value]}}, order=index)
    report = drift_report(store)
    (score,) = report.scores
    assert (score.differs, score.problem, score.drifts) == ("not comparable", "group score", "drift")
    assert (score.variance, report.looks.differ, report.looks.drift) == (None, None, 1)


def test_checkpoints_without_an_order_have_no_course_and_no_drift(fill: Callable[..., Store], record) -> None:
    values = means(FALL)
    for index in range(7):
        record(f"c{index}", {"s.value": {f"p{p}": values[p, index].tolist() for p in range(PROMPTS)}})
    report = drift_report(fill(values[:, :0]))
    (score,) = report.scores
    assert "is not known" in report.order_problem
    assert (score.differs, score.drifts) == ("differ", "order unknown")
    assert (score.course, score.steps, score.difference) == (None, None, None)
    assert len(score.comparisons) == 21


@pytest.mark.slow
def test_checkpoints_run_one_by_one_in_any_order_give_the_same_answers(record, tmp_path: Path) -> None:
    values = means([0.9, 0.7, 0.5, 0.2])
    results = set()
    for order in list(permutations(range(4)))[::5]:
        with open_store("sqlite://") as store:
            for index in order:
                scores = {"s.value": {f"p{p}": values[p, index].tolist() for p in range(PROMPTS)}}
                record(f"c{index}", scores, step=100 * index, into=store)
            report = drift_report(store)
            assert report.labels == ("c0", "c1", "c2", "c3")
            score = report.scores[0]
            results.add((score.differs, score.drifts, score.steps.newest.p, score.difference.difference))
    assert len(results) == 1


def test_unequal_repeats_are_compared_equally(record, store: Store) -> None:
    rng = np.random.default_rng(3)
    for index, repeats in enumerate((1, 3, 5, 2)):
        scores = {"s.value": {f"p{p}": rng.random(repeats).tolist() for p in range(PROMPTS)}}
        record(f"c{index}", scores, order=index)
    score = only(store)
    assert score.difference.subsampled == PROMPTS
    assert {item.prompts for item in score.comparisons} == {PROMPTS}
    assert score.variance.repeat == pytest.approx(1 / 12, rel=0.4)


def test_a_checkpoint_with_too_few_scores_is_left_out(record, store: Store) -> None:
    values = means([0.5, 0.6, 0.5, 0.55, 0.52])
    for index in range(5):
        scores = {f"p{p}": values[p, index].tolist() for p in range(PROMPTS)}
        if index == 2:
            scores |= {"p0": [None], "p1": [None]}
        record(f"c{index}", {"s.value": scores}, order=index)
    score = only(store)
    (left_out,) = score.left_out
    assert (left_out.checkpoint, left_out.problem) == ("c2", "coverage")
    assert left_out.coverage == pytest.approx(10 / 12)
    assert [item.checkpoint for item in score.means] == ["c0", "c1", "c3", "c4"]


def test_a_newest_checkpoint_with_too_few_scores_has_no_answers(record, store: Store) -> None:
    for index in range(5):
        scores = {f"p{p}": [None if index == 4 and p < 3 else 0.5] for p in range(PROMPTS)}
        record(f"c{index}", {"s.value": scores}, order=index)
    report = drift_report(store)
    score = report.scores[0]
    assert (score.differs, score.drifts) == ("missing scores", "missing scores")
    assert (report.looks.differ, report.looks.drift) == (None, None)


def test_prompts_that_were_never_evaluated_are_missing(record, store: Store) -> None:
    """The mean of a few prompts varies more than the means of all, so a partial run looks like a drift."""
    values = means([*STILL, 0.5])
    for index, prompts in enumerate([12, 12, 6, 12, 12, 12]):
        scores = {"s.value": {f"p{p}": values[p, index].tolist() for p in range(prompts)}}
        record(f"c{index}", scores, order=index)
    score = only(store)
    assert [(item.checkpoint, item.problem, item.coverage) for item in score.left_out] == [
        ("c2", "coverage", 0.5)
    ]
    assert score.drifts == "no change beyond the usual movement seen"
    record("c6", {"s.value": {f"p{p}": values[p, 6].tolist() for p in range(6)}}, order=6)
    score = only(store)
    assert (score.differs, score.drifts) == ("missing scores", "missing scores")
    assert score.left_out[-1].coverage == 0.5


def test_another_scorer_breaks_the_series_and_is_named(record, store: Store) -> None:
    for index in range(6):
        scores = {"s.value": {f"p{p}": [0.5 + 0.01 * (p % (index + 2))] for p in range(PROMPTS)}}
        record(f"c{index}", scores, order=index, signature="v:1" if index < 2 else "v:2")
    score = only(store)
    assert [item.checkpoint for item in score.left_out] == ["c0", "c1"]
    assert score.left_out[0].detail == "signatures differ: v:1 (c0); v:2 (c5)"
    assert score.difference.baseline[0] == "c2"


def test_without_a_comparable_checkpoint_there_are_no_answers(record, store: Store) -> None:
    for index in range(2):
        scores = {"s.value": {f"p{p}": [0.5] for p in range(PROMPTS)}}
        record(f"c{index}", scores, order=index, signature=f"v:{index}")
    score = only(store)
    assert (score.differs, score.drifts, score.problem) == ("not comparable", "not comparable", "keys")


@pytest.mark.slow
def test_the_same_newest_run_is_one_look_and_a_new_one_the_next(record, store: Store) -> None:
    values = means([*STILL, 0.5, 0.49])

    def add(index: int) -> None:
        scores = {"s.value": {f"p{p}": values[p, index].tolist() for p in range(PROMPTS)}}
        record(f"c{index}", scores, order=index)

    for index in range(6):
        add(index)
    looks = [drift_report(store).looks for _ in range(2)]
    assert looks[0] == looks[1]
    assert (looks[0].drift, looks[0].drift_alpha) == (1, pytest.approx(0.0304, abs=5e-5))
    add(6)
    assert (drift_report(store).looks.drift, drift_report(store).looks.differ) == (2, 2)
    store.pin(store.find("c2"), "2026-02-01")
    pinned = drift_report(store)
    assert (pinned.pinned, pinned.baseline.checkpoint, pinned.looks.drift) == (True, "c2", 1)
    assert pinned.before_baseline == ("c0", "c1")
    assert drift_report(store, baseline="c1").labels[0] == "c1"


def test_a_baseline_that_is_the_newest_checkpoint_is_alone(fill: Callable[..., Store]) -> None:
    report = drift_report(fill(means(STILL)), baseline="c5")
    assert report.scores[0].differs == "one checkpoint"
    assert len(report.before_baseline) == 5


def test_a_baseline_that_is_not_among_the_named_runs_is_added(fill: Callable[..., Store]) -> None:
    report = drift_report(fill(means(STILL)), ["c3", "c4"], baseline="c0")
    assert report.labels == ("c0", "c3", "c4")
    assert drift_report(fill(means(STILL)[:, :0]), ["c4", "c1", "c4"]).labels == ("c1", "c4")


def test_wrong_names_are_refused(fill: Callable[..., Store], tmp_path: Path) -> None:
    store = fill(means(STILL))
    with pytest.raises(ConfigError, match="no run or checkpoint 'c9' in "):
        drift_report(store, ["c9"])
    with pytest.raises(ConfigError, match="no run or checkpoint 'c9' of plan 'p'"):
        drift_report(store, baseline="c9")
    with pytest.raises(
        ConfigError, match=r"no score 't/s\.valu' to test for drift; did you mean 't/s\.value'"
    ):
        drift_report(store, scores=["t/s.valu"])
    with pytest.raises(ConfigError, match="no runs of plan 'q' in "):
        drift_report(store, plan="q")
    with pytest.raises(DataError, match=r"h\.csv: no such file"):
        drift_report(store, human=tmp_path / "h.csv")


def test_runs_of_several_plans_and_runs_without_scores_are_refused(record, store: Store) -> None:
    record("a", {"s.value": {"p": [0.5]}})
    record("b", {"s.value": {"p": [0.5]}}, plan="q")
    with pytest.raises(ConfigError, match="the runs belong to several plans: p, q; name runs of one plan"):
        drift_report(store, ["a", "b"])
    record("e", {}, plan="e")
    with pytest.raises(ConfigError, match="e has no scores; see: hengwen runs show r-e"):
        drift_report(store, plan="e")


def test_scores_that_are_no_headline_are_listed_and_tested_when_named(record, store: Store) -> None:
    for index in range(4):
        scores = {f"p{p}": [0.5 + 0.01 * p] for p in range(PROMPTS)}
        record(f"c{index}", {"s.value": scores, "s.part": scores, "u.value": scores}, order=index)
    report = drift_report(store)
    assert [score.address for score in report.scores] == ["t/s.value", "t/u.value"]
    assert report.other_scores == ("t/s.part",)
    named = drift_report(store, scores=["t/s.part", "t/s.part"])
    assert [score.address for score in named.scores] == ["t/s.part"]
    assert named.other_scores == ("t/s.value", "t/u.value")


def test_clusters_count_and_not_prompts(record, store: Store) -> None:
    for index in range(3):
        scores = {"s.value": {f"p{p}": [0.1 * index + 0.01 * p] for p in range(PROMPTS)}}
        record(f"c{index}", scores, order=index, clusters={f"p{p}": f"song{p % 4}" for p in range(PROMPTS)})
    score = only(store)
    assert score.difference.clusters == 4
    assert {(item.clusters, item.prompts) for item in score.comparisons} == {(4, 12)}
    assert score.differs == "too few prompts"


def test_the_first_question_has_the_figures_of_scipy(fill: Callable[..., Store]) -> None:
    values = means([0.5, 0.55, 0.48], noise=0.1)
    score = only(fill(values))
    table = values[:, :, 0]
    differences = table[:, 2] - table[:, 0]
    assert score.difference.difference == pytest.approx(differences.mean())
    t_test = stats.ttest_1samp(differences, 0).confidence_interval()
    assert score.difference.interval.t == pytest.approx(tuple(t_test))


@pytest.mark.slow
def test_the_mann_kendall_test_is_that_of_pymannkendall_and_scipy(fill: Callable[..., Store]) -> None:
    import pymannkendall

    values = [0.5, 0.6, 0.45, 0.7, 0.65, 0.8, 0.72]
    score = only(fill(means(values)))
    kendall = score.steps.mann_kendall
    expected = pymannkendall.original_test(values)
    assert (kendall.s, kendall.tau_b) == (expected.s, pytest.approx(expected.Tau))
    assert 4 * score.course.metrics["cin"].null_sd ** 2 == pytest.approx(expected.var_s)
    assert kendall.p == pytest.approx(stats.kendalltau(range(7), values, method="exact").pvalue)
