"""The trajectory of one score over the checkpoints."""

from __future__ import annotations

from math import log

import pytest

from hengwen.documents.run.report import trajectory_of
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS
from hengwen.relevance_metrics.trajectory import Trajectory


def values(trajectory: Trajectory) -> list[float | None]:
    return [trajectory.value(metric) for metric in MAIN_METRICS]


def test_the_course_of_a_zigzag(cell):
    # windows 5 4 5, 4 5 4, ..: two patterns, three times each; every 5 before a later 4 is an inversion
    trajectory = trajectory_of(list("abcdefgh"), [cell(float(x)) for x in (5, 4, 5, 4, 5, 4, 5, 4)])
    assert trajectory.metrics["pen"].value == pytest.approx(log(2), abs=1e-12)
    assert values(trajectory)[1:] == [10, 2]
    assert [trajectory.text(metric) for metric in MAIN_METRICS] == ["0.693", "10/28", "2/8"]
    assert (trajectory.first, trajectory.last, trajectory.n, trajectory.windows) == (5.0, 4.0, 8, 6)
    assert trajectory.too_short
    assert trajectory.reason.en == ""


def test_a_rise_has_neither_entropy_nor_inversions(cell):
    trajectory = trajectory_of(list("abcd"), [cell(float(x)) for x in range(4)])
    assert values(trajectory) == [0.0, 0, 4]
    assert str(values(trajectory)[0]) == "0.0"


@pytest.mark.parametrize(("n", "short"), [(31, True), (32, False)])
def test_the_course_is_too_short_below_30_windows(cell, n, short):
    trajectory = trajectory_of([f"c{i}" for i in range(n)], [cell(float(i)) for i in range(n)])
    assert (trajectory.windows, trajectory.too_short) == (n - 2, short)


def test_two_checkpoints_have_no_entropy_and_say_why(cell):
    trajectory = trajectory_of(["a", "b"], [cell(2.0), cell(1.0)])
    assert values(trajectory) == [None, 1, 1]
    assert trajectory.reason.en == "PEN needs 3 checkpoints, there are 2"


@pytest.mark.parametrize(
    ("names", "means", "reason"),
    [
        pytest.param(["a"], [1.0], "only one checkpoint", id="one"),
        pytest.param(["a", "b"], [1.0, None], "no mean at b", id="nothing-scored"),
        pytest.param(["a", "b", "a"], [1.0, 2.0, 3.0], "several runs of one checkpoint: a", id="twice"),
    ],
)
def test_what_is_no_sequence_has_a_reason(cell, names, means, reason):
    trajectory = trajectory_of(names, [cell(mean) for mean in means])
    assert trajectory.reason.en == reason
    assert values(trajectory) == [None, None, None]
    assert trajectory.first is None


def test_a_run_without_the_score_is_no_mean(cell):
    assert trajectory_of(["a", "b"], [cell(1.0), None]).reason.en == "no mean at b"


def test_different_signatures_are_not_compared(cell):
    trajectory = trajectory_of(["a", "b", "c"], [cell(1.0), cell(2.0, None, "s|v:2"), cell(3.0)])
    assert trajectory.reason.en == "signatures differ: v:1 (a, c); v:2 (b)"
    assert not trajectory.is_compared
