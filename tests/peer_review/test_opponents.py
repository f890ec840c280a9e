from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from rows import each_row

from hengwen.peer_review.judging.rounds import draw_cells, question_pairs, uncertain_pairs


@each_row(("models", "opponents"), [(6, 2), (6, 3), (7, 4), (50, 4), (10, 9), (3, 2)])
def test_every_model_has_equally_many_opponents(models: int, opponents: int) -> None:
    pairs = question_pairs(models, opponents, "q", seed=1)
    met = Counter(model for pair in pairs for model in pair)
    assert set(met.values()) == {opponents}
    assert len(met) == models
    assert len(set(pairs)) == len(pairs)
    assert all(i < j for i, j in pairs)


def test_if_both_numbers_are_odd_one_model_has_an_opponent_less() -> None:
    met = Counter(model for pair in question_pairs(7, 3, "q", seed=0) for model in pair)
    assert sorted(met.values()) == [2, 3, 3, 3, 3, 3, 3]


def test_questions_draw_other_pairs_and_a_seed_repeats_them() -> None:
    first, second = (question_pairs(20, 2, name, seed=0) for name in ("q1", "q2"))
    assert first != second
    assert first == question_pairs(20, 2, "q1", seed=0) != question_pairs(20, 2, "q1", seed=1)


@each_row("opponents", [None, 4, 9])
def test_as_many_opponents_as_there_are_give_all_pairs(opponents: int | None) -> None:
    assert question_pairs(5, opponents, "q", seed=0) == list(combinations(range(5), 2))


def test_an_order_is_unsure_as_often_as_resamples_turn_it() -> None:
    scores = np.array([2.0, 1.0, 0.9])
    resamples = np.array([[2.0, 1.0, 0.9]] * 8 + [[2.0, 0.8, 0.9]] * 2)
    chances = uncertain_pairs(scores, resamples, 0.95)
    assert chances.tolist() == [[0, 0, 0], [0, 0, 0.2], [0, 0, 0]]
    assert not uncertain_pairs(scores, resamples, 0.5).any()


def test_equal_scores_have_no_order() -> None:
    scores = np.array([1.0, 1.0 + 1e-12, 0.0])
    assert uncertain_pairs(scores, np.tile(scores, (20, 1)), 0.95).tolist() == [
        [0, 0.5, 0],
        [0, 0, 0],
        [0, 0, 0],
    ]


def test_matches_are_drawn_once_each_and_only_of_unsure_pairs() -> None:
    chances = np.array([[0.0, 0.5, 0.1], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    free = [(question, pair) for question in range(40) for pair in ((0, 1), (0, 2), (1, 2))]
    drawn = draw_cells(chances, free, 30, np.random.default_rng(0))
    count = Counter(pair for _, pair in drawn)
    assert len(set(drawn)) == len(drawn) == 30
    assert (1, 2) not in count
    assert count[0, 1] > count[0, 2]
    assert len(draw_cells(chances, free, 200, np.random.default_rng(0))) == 80
    assert draw_cells(np.zeros((3, 3)), free, 5, np.random.default_rng(0)) == []
