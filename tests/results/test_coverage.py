"""Share of the answers that have a score, and the mean that the missing ones allow, by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each_row

from hengwen.records import Scale
from hengwen.results.coverage import (
    Answers,
    Coverage,
    answer_coverage,
    answers_by_prompt,
    coverages,
    failed_answers,
    mean_bounds,
)
from hengwen.results.score_table import Column
from hengwen.score_id import ScoreId

UNIT = Scale(low=0, high=1)


def column(answers: dict[str, list[float | str | None]], **fields: object) -> Column:
    """Return a column; a text is the status of a failure, None a failed call."""
    rows = [(name, n, value) for name, values in answers.items() for n, value in enumerate(values, start=1)]
    return Column.of(
        [value if isinstance(value, float) else None for _, _, value in rows],
        sample_ids=[name for name, _, _ in rows],
        repeats=[n for _, n, _ in rows],
        statuses=[
            "ok" if isinstance(value, float) else "timeout" if value is None else value
            for _, _, value in rows
        ],
        **fields,
    )


def test_a_prompt_without_an_answer_misses_as_many_as_the_others_have() -> None:
    item = column({"a": [1.0, 1.0, None], "b": [1.0, 1.0, 1.0], "c": ["missing"], "d": ["not_applicable"]})
    assert answers_by_prompt(item) == {"a": (2, 3), "b": (3, 3), "c": (0, 3)}
    assert answer_coverage(item) == pytest.approx(5 / 9)


def test_where_every_answer_is_missing_each_prompt_misses_one() -> None:
    assert answers_by_prompt(column({"a": ["missing"], "b": ["missing"]})) == {"a": (0, 1), "b": (0, 1)}


def test_a_score_that_applies_to_no_answer_has_no_coverage() -> None:
    item = column({"a": ["not_applicable"]})
    assert (answer_coverage(item), answers_by_prompt(item), mean_bounds(item)) == (None, {}, None)


def test_answers_that_are_not_in_a_file_are_missing_beside_the_other_checkpoint() -> None:
    full = {f"p{i}": Answers(3, 3) for i in range(10)}
    lossy = full | {"p0": Answers(1, 1), "p1": Answers(2, 2)}
    assert coverages([full, lossy]) == [Coverage(1, 1), Coverage(1, 27 / 30)]


def test_fewer_answers_to_every_prompt_are_a_design_and_no_loss() -> None:
    five, one = ({f"p{i}": Answers(n, n) for i in range(40)} for n in (5, 1))
    assert coverages([five, one]) == [Coverage(1, 1), Coverage(1, 1)]
    assert coverages([five, one | {"p0": Answers(2, 2)}]) == [Coverage(1, 1), Coverage(1, 1)]


def test_prompts_may_have_different_numbers_of_answers_by_design() -> None:
    ragged = {"a": Answers(1, 1), "b": Answers(5, 5), "c": Answers(10, 10)}
    assert coverages([ragged, ragged]) == [Coverage(1, 1), Coverage(1, 1)]


def test_a_run_is_measured_by_the_runs_it_is_compared_with() -> None:
    full, lossy = {"a": Answers(2, 2), "b": Answers(2, 2)}, {"a": Answers(2, 2), "b": Answers(1, 1)}
    assert coverages([full, lossy], among=[1]) == [Coverage(1, 1), Coverage(1, 1)]
    assert coverages([{}]) == [Coverage(0, 0)]


def test_missing_answers_at_both_ends_of_the_scale_bound_the_mean() -> None:
    item = column({"a": [0.5, None], "b": [1.0, 1.0], "c": ["missing"]}, scale=UNIT)
    assert mean_bounds(item) == pytest.approx(((0.25 + 1 + 0) / 3, (0.75 + 1 + 1) / 3))
    assert mean_bounds(item, 4) == pytest.approx((1.25 / 4, 3.75 / 4)), "a prompt that was not reached"


@each_row(
    "item",
    [
        column({"a": [0.5]}, scale=UNIT),
        column({"a": [0.5, None]}),
        column({"a": [0.5, None]}, scale=UNIT, reducer="worst"),
    ],
    ids=["nothing missing", "no scale", "no mean"],
)
def test_there_are_no_bounds_without_need_scale_or_mean(item: Column) -> None:
    assert mean_bounds(item) is None


@pytest.mark.slow
@given(
    st.lists(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=2, max_size=2), min_size=1, max_size=6),
    st.lists(st.floats(0, 1), min_size=12, max_size=12),
)
def test_the_true_mean_lies_within_the_bounds(answers: list[list[float | None]], lost: list[float]) -> None:
    item = column({f"p{i}": list(values) for i, values in enumerate(answers)}, scale=UNIT)
    bounds, truth = mean_bounds(item), iter(lost)
    filled = [[next(truth) if value is None else value for value in values] for values in answers]
    mean = sum(sum(values) / 2 for values in filled) / len(filled)
    if bounds is not None:
        assert bounds[0] - 1e-12 <= mean <= bounds[1] + 1e-12


def test_one_missing_answer_is_one_failure_and_so_is_one_failed_judgment() -> None:
    scores = {
        score: Counter({"ok": 5, "missing": 2, "timeout": timeouts})
        for score, timeouts in [
            (ScoreId("t", "lyric", "total"), 0),
            (ScoreId("t", "lyric", "rhyme"), 0),
            (ScoreId("t", "judge", "level"), 3),
            (ScoreId("t", "judge", "tone"), 3),
            (ScoreId("t", "other", "level"), 1),
            (ScoreId("t", "judge", "final"), 3),
            (ScoreId("t", "judge", "published", "task"), 1),
        ]
    }
    assert failed_answers(scores) == {"missing": 2, "timeout": 4}
