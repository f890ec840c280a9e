from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from rows import each_row

from hengwen.peer_review import Battles
from hengwen.peer_review.verdicts import combine_orders, distinct_verdicts


def battles(rows: list[tuple[str, str, str, str]], **columns: Any) -> Battles:
    """Return battles of judge j on question q from (model a, model b, winner, first) rows."""
    model_a, model_b, winner, first = (list(column) for column in zip(*rows, strict=True))
    return Battles.from_columns(
        model_a=model_a,
        model_b=model_b,
        first=first,
        **{"winner": winner, "judge": ["j"] * len(rows), "question": ["q"] * len(rows), **columns},
    )


def test_names_and_numbers_are_columns() -> None:
    by_name = Battles.from_columns(model_a=["x", "x"], model_b=["y", "z"], winner=["a", "tie"])
    by_number = Battles.from_columns(
        model_a=np.array([3, 3]), model_b=np.array([5, 9]), winner=np.array([1, 0.5])
    )
    assert by_name.models == ("x", "y", "z")
    assert by_number.models == ("3", "5", "9")
    assert by_name.model_b.tolist() == by_number.model_b.tolist() == [1, 2]
    assert by_name.outcome.tolist() == by_number.outcome.tolist() == [1.0, 0.5]
    assert by_name.questions == ("1", "2")


def test_large_numbers_are_names_too() -> None:
    few = Battles.from_columns(model_a=np.array([10**9, 7]), model_b=np.array([7, -5]), winner=[1, 0])
    assert few.models == ("7", "1000000000", "-5")


def test_a_number_and_its_text_are_the_same_name() -> None:
    mixed = Battles.from_columns(model_a=np.array([1, 2]), model_b=["2", "1"], winner=["a", "b"])
    assert mixed.models == ("1", "2")
    assert (mixed.model_a.tolist(), mixed.model_b.tolist()) == ([0, 1], [1, 0])
    listed = Battles.from_columns(model_a=[1, "1"], model_b=["2", 2], winner=["a", "b"])
    assert (listed.models, listed.model_a.tolist(), listed.model_b.tolist()) == (("1", "2"), [0, 0], [1, 1])


@each_row(
    "numbers",
    [
        np.array([2**64 - 1, 3], np.uint64),
        np.array([2**63 - 1, -(2**63)], np.int64),
        np.array([127, -128], np.int8),
    ],
    ids=["uint64", "int64", "int8"],
)
def test_numbers_at_the_ends_of_their_type_are_names(numbers: np.ndarray) -> None:
    battles = Battles.from_columns(model_a=numbers, model_b=["x", "x"], winner=["a", "b"])
    assert [battles.models[code] for code in battles.model_a] == list(map(str, numbers.tolist()))


@each_row(
    ("columns", "message"),
    [
        ({"model_b": ["y"]}, "model_b must have 2 values like model_a, got 1"),
        ({"winner": ["a", "c"]}, "battle 2: winner must be one of 'a', 'b', 'tie', got 'c'"),
        ({"winner": [1, 2]}, "battle 2: winner must lie in 0..1, got 2"),
        ({"winner": ["error", "error"]}, "no verdict: the judge failed on all 2; judge these battles again"),
        ({"first": ["x", "a"]}, "battle 1: first must be one of 'a', 'b', '', got 'x'"),
        ({"model_b": ["y", "x"]}, "battle 2: model 'x' battles itself"),
        ({"length_a": [1.0, 2.0]}, "length_a and length_b belong together: pass both or neither"),
        ({"length_a": [-1.0, 2.0], "length_b": [1.0, 2.0]}, "battle 1: length_a must be 0 or above, got -1"),
        ({"turn": [1.2, 1.7]}, "battle 1: turn must be a whole number from 1, got 1.2"),
        ({"turn": [1, 0]}, "battle 2: turn must be a whole number from 1, got 0"),
        ({"turn": [1, np.nan]}, "battle 2: turn must be a whole number from 1, got nan"),
        ({"model_a": [], "model_b": [], "winner": []}, "there are no battles; pass at least one"),
    ],
)
def test_wrong_columns_are_named(columns: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"model_a": ["x", "x"], "model_b": ["y", "z"], "winner": ["a", "b"]}
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Battles.from_columns(**{**valid, **columns})


def test_of_equal_battles_the_first_is_kept_and_contradictions_are_counted() -> None:
    verdicts = distinct_verdicts(
        battles([("x", "y", "a", "a"), ("x", "y", "b", "a"), ("y", "x", "b", "b"), ("x", "y", "a", "b")])
    )
    # the third is the first from the other side: x is shown first and wins
    assert verdicts.outcome.tolist() == [1.0, 1.0]
    assert sorted(verdicts.first.tolist()) == [-1, 1]
    assert sorted(verdicts.position.tolist()) == [0, 3]
    assert (verdicts.duplicates, verdicts.contradictions) == (2, 1)


def test_turns_questions_and_judges_are_not_duplicates() -> None:
    rows = [("x", "y", "a", "a")] * 4
    different = battles(rows, turn=[1, 2, 1, 1], question=["q", "q", "r", "q"], judge=["j", "j", "j", "k"])
    assert len(distinct_verdicts(different)) == 4


def test_lengths_follow_the_model_and_not_the_side() -> None:
    rows = [("x", "y", "a", "a"), ("y", "x", "a", "a")]
    verdicts = distinct_verdicts(battles(rows, length_a=[20.0, 10.0], length_b=[10.0, 20.0]))
    assert verdicts.length is not None
    assert verdicts.length.tolist() == pytest.approx([np.log(2), np.log(2)])


@each_row(
    ("winners", "outcome"),
    [
        (("a", "a"), [1.0]),
        (("a", "b"), [0.5]),
        (("a", "tie"), [1.0]),
        (("tie", "b"), [0.0]),
        (("tie", "tie"), [0.5]),
        (("b",), [0.0]),
    ],
)
def test_two_orders_become_one_outcome(winners: tuple[str, ...], outcome: list) -> None:
    rows = [("x", "y", winner, first) for winner, first in zip(winners, "ab", strict=False)]
    verdicts = distinct_verdicts(battles(rows))
    assert combine_orders(verdicts).outcome.tolist() == outcome


def test_turns_with_large_numbers_are_turns_of_their_own() -> None:
    """With numbers of 2**62, question 4 would have the key of question 0."""
    rows = {"model_a": ["x"] * 8, "model_b": ["y"] * 8, "winner": ["a"] * 8, "question": list(range(8))}
    distinct = distinct_verdicts(Battles.from_columns(**rows, turn=[1] * 7 + [2**62]))
    assert (len(distinct), distinct.duplicates) == (8, 0)


@pytest.mark.parametrize("winner", [["a", "error", "tie"], [1.0, float("nan"), 0.5]])
def test_an_error_is_a_failure_and_no_verdict(winner: list[Any]) -> None:
    verdicts = Battles.from_columns(
        model_a=["x", "only failed", "x"],
        model_b=["y", "x", "y"],
        winner=winner,
        turn=[1, 2, 3],
        length_a=np.array([1.0, 2.0, 0.0]),
        length_b=np.array([1.0, 2.0, 3.0]),
    )
    assert (verdicts.models, verdicts.failures, verdicts.questions) == (("x", "y"), 1, ("1", "3"))
    assert (verdicts.outcome.tolist(), verdicts.turn.tolist()) == ([1.0, 0.5], [1, 3])
    lengths = distinct_verdicts(verdicts).length
    assert lengths is not None
    assert lengths.tolist() == pytest.approx([0.0, -np.log(3)])  # an empty answer is as long as the shortest


def test_weights_are_kept_and_whole_verdicts_decide_a_match_as_before() -> None:
    rows = [("x", "y", "a", "a"), ("x", "y", "a", "b")]
    weights = [([0.9, 0.6], 0.75), ([0.9, 0.2], 0.55), ([1.0, 0.5], 1.0), ([1.0, 0.0], 0.5)]
    for winner, outcome in weights:
        verdicts = distinct_verdicts(battles(rows, winner=np.array(winner)))
        assert combine_orders(verdicts).outcome.tolist() == pytest.approx([outcome])
