"""Items of the caller in the admission test: which values count as exact, near, lower and equal."""

from __future__ import annotations

import pytest

from hengwen.judges.trust.admission_plan import AdmissionItem
from hengwen.records import Sample


def items(levels=(5.0, 5.0, 5.0, 2.0, 1.0)):
    return [
        AdmissionItem(
            sample=Sample(id=f"item {i}", input="?"), text=f"第{i}个自己写的回答，不算很短。", level=level
        )
        for i, level in enumerate(levels)
    ]


def test_items_count_as_examples_and_as_originals(run_admission, small):
    plain = small.model_copy(update={"uses": ["input", "response"]})
    given = items((*[5.0] * 6, 2.0, 1.0))
    levels = {item.text: item.level for item in given}

    def level_of(text, *_):
        return levels.get(text.split("\n嗯")[0], 1.0)

    report = run_admission(level_of, plain, items=given)
    assert [check.status for check in report.checks] == [
        "passed",
        "passed",
        "not_applicable",
        "passed",
        "passed",
        "passed",
    ]
    assert (report.verdict, report.reasons) == ("admitted", ())
    assert [check.n for check in report.checks] == [8, 8, 0, 6 * 4, 8, 8]
    fewer = run_admission(level_of, plain, items=given[1:])
    assert (fewer.bases, fewer.verdict) == (5, "inconclusive")
    assert fewer.reasons[-1] == ("bases", "unclear")
    wrong = run_admission(lambda text, *_: 1.0, plain, items=items())
    assert wrong["examples_exact"].passed == 1
    assert wrong["examples_near"].passed == 2
    assert wrong.verdict == "not admitted"


def test_an_item_without_a_level_counts_as_good_only(run_admission, small):
    report = run_admission(
        lambda text, *_: 2.0 if "自己" in text and text.endswith("。") and "\n" not in text else 1.0,
        small,
        items=items([None]),
    )
    assert report["examples_exact"].n == 0
    assert {trial.item for trial in report["degraded"].trials} >= {"item 0"}


def test_with_two_levels_being_near_proves_nothing(run_admission, small):
    levels = {value: small.levels[value] for value in (1, 5)}
    report = run_admission(lambda *_: 1.0, small.model_copy(update={"levels": levels}), items=items([1.0]))
    assert report["examples_near"].status == "not_applicable"
    assert report["examples_exact"].status == "passed"


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ((5.0, 4.9), "passed"),
        ((5.0, 4.91), "failed"),
        ((5.0, 5.0), "failed"),
        ((4.0, 5.0), "failed"),
        ((1.0, 1.0), "failed"),
    ],
)
def test_a_copy_must_lie_lower_by_a_tenth_of_a_step(run_admission, small, values, outcome):
    """The levels are 1, 2 and 5: the smallest step is 1."""
    good = items([None])[0]
    report = run_admission(lambda text, *_: values[text != good.text], small, items=[good])
    trials = [trial for trial in report["degraded"].trials if trial.item == "item 0"]
    assert {trial.outcome for trial in trials} == {outcome}
    assert trials[0].values == values


@pytest.mark.parametrize(
    ("spread", "outcome"), [(0.0, "passed"), (0.49, "passed"), (0.5, "failed"), (3.0, "failed")]
)
def test_repeats_are_the_same_within_half_a_step(run_admission, small, spread, outcome):
    report = run_admission(
        lambda text, persona, round_no, sample: 2.0 + spread * (round_no == 2), small, items=items([None])
    )
    assert {trial.outcome for trial in report["repeats"].trials} == {outcome}
    assert all(len(trial.values) == 3 for trial in report["repeats"].trials)


@pytest.mark.parametrize(
    ("value", "level", "exact", "near"),
    [
        (2.0, 2.0, 1, 1),
        (1.6, 2.0, 1, 1),
        (1.5, 2.0, 0, 1),
        (5.0, 2.0, 0, 1),
        (5.0, 1.0, 0, 0),
        (3.4, 5.0, 0, 1),
    ],
)
def test_a_value_between_levels_counts_as_the_nearest(run_admission, small, value, level, exact, near):
    report = run_admission(lambda *_: value, small, items=items([level]))
    assert (report["examples_exact"].passed, report["examples_near"].passed) == (exact, near)


@pytest.mark.parametrize(
    ("padded", "outcome"),
    [(2.0, "passed"), (2.4, "passed"), (2.5, "failed"), (5.0, "failed"), (1.0, "passed")],
)
def test_padding_must_not_raise_a_level(run_admission, small, padded, outcome):
    report = run_admission(lambda text, *_: padded if "\n嗯" in text else 2.0, small, items=items([None]))
    assert {trial.outcome for trial in report["padded"].trials} == {outcome}


def test_padding_may_lower_a_level_by_one_and_not_by_two(run_admission, small):
    for padded, outcome in ((2.0, "passed"), (1.0, "failed")):
        report = run_admission(
            lambda text, *_, padded=padded: padded if "\n嗯" in text else 5.0, small, items=items([5.0])
        )
        assert {trial.outcome for trial in report["padded"].trials} == {outcome}
