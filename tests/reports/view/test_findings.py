"""What the summary says, and what it does not say."""

from __future__ import annotations

import pytest

from hengwen.reports.view.findings import Drop, drops_of, findings_of


def texts(cells, **options):
    names = [f"c{i}" for i in range(len(cells))]
    return [(f.weight, f.en) for f in findings_of("t/s", names, cells, decimals=1, **options)]


def test_a_fall_with_intervals_apart_differs(cell):
    assert texts([cell(5.0, 1.0), cell(8.0, 1.0), cell(2.0, 1.0)]) == [
        ("note", "highest at c1: 8.0 [7.0, 9.0]; the interval overlaps those of 0 of 2 other checkpoints"),
        (
            "alarm",
            "drops from c1 8.0 [7.0, 9.0] to c2 2.0 [1.0, 3.0]; the intervals do not overlap: the two differ",
        ),
    ]


def test_a_fall_with_overlapping_intervals_may_be_chance(cell):
    weight, text = texts([cell(8.0, 1.0), cell(6.5, 1.0)])[1]
    assert weight == "hint"
    assert text.endswith("outside the earlier interval, but the two intervals overlap: this may be chance")


def test_a_fall_inside_the_interval_is_not_mentioned(cell):
    assert [weight for weight, _ in texts([cell(8.0, 1.0), cell(7.5, 1.0)])] == ["note"]


def test_a_slow_fall_is_found_from_the_best_to_the_last(cell):
    assert drops_of([cell(x, 1.0) for x in (8.0, 7.2, 6.4, 5.6)]) == [Drop(0, 3, True)]


def test_a_fall_is_seen_across_a_checkpoint_without_a_mean(cell):
    assert drops_of([cell(8.0, 1.0), None, cell(None), cell(2.0, 1.0)]) == [Drop(0, 3, True)]


def test_without_intervals_nothing_is_called_a_fall(cell):
    assert texts([cell(8.0), cell(2.0)]) == [("note", "highest at c0: 8.0")]


def test_an_interval_that_only_the_earlier_has_cannot_tell_them_apart(cell):
    assert drops_of([cell(8.0, 1.0), cell(2.0)]) == [Drop(0, 1, False)]


def test_checkpoints_that_tie_are_all_named(cell):
    assert texts([cell(1.0, 0.5), cell(2.0, 0.5), cell(2.0, 0.1)])[0] == ("note", "highest at c1, c2: 2.0")


def test_equal_means_have_no_best(cell):
    assert texts([cell(2.0, 0.5), cell(2.0 + 1e-15, 0.5)]) == [
        ("note", "the same at all 2 scored checkpoints: 2.0")
    ]


def test_lower_can_be_better(cell):
    findings = texts([cell(2.0, 0.5), cell(8.0, 0.5)], higher_is_better=False)
    assert findings[0][1].startswith("lowest (lower is better) at c0: 2.0")
    assert findings[1][1].startswith("rises from c0 2.0 [1.5, 2.5] to c1 8.0")


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        pytest.param([None, None], [("alarm", "no answer has a score")], id="all-failed"),
        pytest.param([3.0], [("note", "c0 3.0")], id="single"),
        pytest.param([3.0, None], [("note", "c0 3.0")], id="one-of-two"),
    ],
)
def test_little_is_said_where_little_is_known(cell, means, expected):
    assert texts([cell(mean) for mean in means]) == expected


def test_different_signatures_are_reported_and_not_compared(cell):
    findings = texts([cell(8.0, 1.0, "s|v:1"), cell(2.0, 1.0, "s|v:2")])
    assert findings == [("alarm", "not compared: signatures differ: v:1 (c0); v:2 (c1)")]


def test_no_text_claims_significance(cell):
    for finding in findings_of("t/s", ["a", "b"], [cell(8.0, 1.0), cell(2.0, 1.0)]):
        assert "signific" not in finding.en
        assert "显著" not in finding.zh
