"""Prompts sorted by how much a score changed on them, and answers on which two scores disagree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_rows import score_of

from hengwen.records import Scale
from hengwen.results.answers_to_read import disagreements, part_changes, prompt_changes
from hengwen.results.score_table import Column, ScoreTable, SeriesKey

SCORE = score_of("j.level")
Answers = dict[tuple[str, int], float | None]
VALUES = st.one_of(st.none(), st.integers(0, 8).map(lambda level: level / 8))
ANSWERS = st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.integers(1, 3)), VALUES, max_size=12)


def table_of(runs: dict[str, Answers], name: str = "j.level", *, higher_is_better: bool = True) -> ScoreTable:
    table = ScoreTable()
    for run, answers in runs.items():
        table.series[SeriesKey(run, score_of(name), "judge")] = Column.of(
            list(answers.values()),
            sample_ids=[prompt for prompt, _ in answers],
            repeats=[repeat for _, repeat in answers],
            scale=Scale(low=0, high=1, higher_is_better=higher_is_better),
        )
    return table


def changes_by_hand(before: Answers, after: Answers) -> dict[str, float]:
    """Slow and obvious: for each prompt, the first answers of both runs, equally many, and their means."""
    changes = {}
    for prompt in {prompt for prompt, _ in before} & {prompt for prompt, _ in after}:
        sides = [
            [value for (name, _), value in sorted(run.items()) if name == prompt and value is not None]
            for run in (before, after)
        ]
        size = min(map(len, sides))
        if size:
            changes[prompt] = sum(sides[1][:size]) / size - sum(sides[0][:size]) / size
    return changes


@pytest.mark.slow
@given(ANSWERS, ANSWERS, st.booleans())
def test_prompts_are_sorted_by_their_paired_drop(before: Answers, after: Answers, higher: bool) -> None:
    table = table_of({"x": before, "y": after}, higher_is_better=higher)
    changes = prompt_changes(table, ("x", "y"), SCORE, "judge")
    expected = changes_by_hand(before, after)
    assert {item.sample_id: round(item.change, 9) for item in changes} == {
        prompt: round(change, 9) for prompt, change in expected.items()
    }
    assert [item.merit for item in changes] == sorted(item.merit for item in changes)
    assert all(item.merit == (item.change if higher else -item.change) for item in changes)
    assert part_changes(table, ("x", "y"), [(SCORE, "judge")]) == {
        SCORE: {item.sample_id: item.merit for item in changes}
    }


@pytest.mark.slow
@given(ANSWERS, ANSWERS)
def test_the_answer_that_stands_for_a_prompt_is_the_nearest_to_its_value(
    before: Answers, after: Answers
) -> None:
    for item in prompt_changes(table_of({"x": before, "y": after}), ("x", "y"), SCORE, "judge"):
        for side in (item.before, item.after):
            distances = {repeat: abs(value - side.value) for repeat, value in side.answers.items()}
            assert distances[side.typical] == min(distances.values())


def test_a_run_without_the_score_has_no_changes() -> None:
    table = table_of({"x": {("a", 1): 0.5}})
    assert prompt_changes(table, ("x", "y"), SCORE, "judge") == []


def both(first: Answers, second: Answers, *, second_higher: bool = True) -> ScoreTable:
    table = table_of({"x": first})
    table.series |= table_of({"x": second}, "s.total", higher_is_better=second_higher).series
    return table


@pytest.mark.slow
@given(ANSWERS, ANSWERS)
def test_the_largest_difference_of_two_scores_of_one_scale_stands_first(
    first: Answers, second: Answers
) -> None:
    rows = disagreements(
        both(first, second), ["x"], (SCORE, "judge"), (score_of("s.total"), "judge"), by_place=False
    )
    expected = {
        key: (first[key], second[key])
        for key in first
        if first[key] is not None and second.get(key) is not None
    }
    assert {(row.sample_id, row.repeat): (row.first, row.second) for row in rows} == expected
    assert all(row.difference == row.second - row.first for row in rows)
    sizes = [abs(row.difference) for row in rows]
    assert sizes == sorted(sizes, reverse=True)


def test_places_of_scores_of_different_scales_are_compared_from_worst_to_best() -> None:
    first: Answers = {("a", 1): 0.0, ("b", 1): 0.5, ("c", 1): 1.0}
    errors: Answers = {("a", 1): 0.0, ("b", 1): 0.25, ("c", 1): 1.0}
    table = both(first, errors, second_higher=False)
    rows = disagreements(table, ["x"], (SCORE, "judge"), (score_of("s.total"), "judge"), by_place=True)
    assert [(row.sample_id, row.difference) for row in rows] == [("a", 1.0), ("c", -1.0), ("b", 0.0)]
