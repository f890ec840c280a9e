"""The ranking without a group of judges that favour one another or share a taste, and by it alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.peer_review.clique_simulations import PANELS, taus
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.peer_review import Battles, peer_review
from hengwen.peer_review.estimates.evidence import KEEPS_OWN, Evidence, ReviewOptions
from hengwen.peer_review.estimates.votes import RankingMethod
from hengwen.peer_review.review import rankings_without
from hengwen.peer_review.tastes import Taste


def panel_with_clique() -> Battles:
    taste = np.zeros((6, 6))
    taste[4:, 4:] = 2.0
    discriminations = np.array([2.0, 1.0, 0.5, 1.0, 1.0, 1.0])
    return simulated_battles(7, discriminations, models=6, questions=24, tastes=taste)


def rows_of(battles: Battles, judges: tuple[str, ...]) -> Battles:
    """Return the battles of some judges, built again row by row."""
    rows = [row for row in range(len(battles)) if battles.judges[battles.judge[row]] in judges]
    return Battles.from_columns(
        model_a=[battles.models[battles.model_a[row]] for row in rows],
        model_b=[battles.models[battles.model_b[row]] for row in rows],
        winner=[float(battles.outcome[row]) for row in rows],
        judge=[battles.judges[battles.judge[row]] for row in rows],
        question=[battles.questions[battles.question[row]] for row in rows],
        first=["a" if battles.first[row] == 1 else "b" for row in rows],
    )


def evidence_with_group(battles: Battles, judges: tuple[int, ...], method: RankingMethod) -> Evidence:
    own = method not in KEEPS_OWN
    options = ReviewOptions(method=method, exclude_self=own, n_boot=20, confidence=0.95, seed=0)
    evidence = Evidence(battles, options)
    evidence.tastes = [Taste(judges=judges, favoured=(), residual=0.1, favours_itself=False)]
    return evidence


@pytest.mark.slow
def test_the_ranking_without_a_clique_is_that_of_the_other_judges() -> None:
    battles = panel_with_clique()
    review = peer_review(battles, n_boot=20)
    (group,) = review.without
    assert (group.code, group.judges, group.method) == ("clique", ("m04", "m05"), "judge-bt")
    assert [note.code for note in review.notes if note.code in ("clique", "common taste")] == ["clique"]
    others = peer_review(rows_of(battles, ("m00", "m01", "m02", "m03")), method="judge-bt", n_boot=20)
    alone = peer_review(rows_of(battles, group.judges), n_boot=20)
    assert {m.name: m.rank_without for m in group.models} == {m.name: m.rank for m in others.models}
    assert {m.name: m.rank_alone for m in group.models} == {m.name: m.rank for m in alone.models}
    assert {m.name: m.rank for m in group.models} == {m.name: m.rank for m in review.models}
    assert {m.name: m.difference for m in group.models} == dict(
        zip(["m00", "m01", "m02", "m03", "m04", "m05"], [0, 0, 0, -1, 1, 0], strict=True)
    )
    assert all(m.ranks_without[0] <= m.rank_without <= m.ranks_without[1] for m in group.models)
    tau = kendalltau([m.rank for m in group.models], [m.rank_without for m in group.models])[0]
    assert group.tau == pytest.approx(tau)


def test_judges_without_a_common_taste_are_never_left_out() -> None:
    assert peer_review(simulated_battles(0, np.ones(4), models=6), n_boot=20).without == ()


def test_without_another_judge_there_is_no_ranking_without_the_group() -> None:
    battles = simulated_battles(0, np.ones(3), models=4, questions=8)
    assert rankings_without(evidence_with_group(battles, (0, 1, 2), "judge-bt")) == ()


def test_one_judge_that_is_left_is_ranked_without_weights_and_without_its_own_answers() -> None:
    battles = simulated_battles(0, np.ones(3), models=4, questions=8)
    (group,) = rankings_without(evidence_with_group(battles, (0, 1), "judge-bt"))
    assert group.method == "bradley-terry"
    others = peer_review(rows_of(battles, ("m02",)), n_boot=20)
    assert others.own_left_out > 0
    ranks = {model.name: model.rank for model in others.models}
    assert "m02" not in {model.name for model in group.models}, "no verdict on m02 counts"
    assert {model.name: model.rank_without for model in group.models} == ranks


def test_judges_that_judged_only_their_own_answers_leave_no_ranking() -> None:
    battles = Battles.from_columns(
        model_a=["x", "x", "x", "z"],
        model_b=["y", "y", "y", "y"],
        winner=["a", "a", "b", "a"],
        judge=["j", "k", "x", "z"],
        question=[1, 1, 1, 1],
    )
    assert rankings_without(evidence_with_group(battles, (0, 1), "uniform")) == ()


def test_only_models_that_both_sides_link_are_compared() -> None:
    battles = Battles.from_columns(
        model_a=["v", "w", "x", "v", "w", "y"],
        model_b=["w", "x", "y", "w", "x", "z"],
        winner=["a", "a", "a", "b", "b", "a"],
        judge=["j", "j", "j", "k", "k", "k"],
        question=[1, 2, 3, 1, 2, 4],
    )
    (group,) = rankings_without(evidence_with_group(battles, (0,), "bradley-terry"))
    assert {model.name: model.rank_without for model in group.models} == {"x": 1, "w": 2, "v": 3}
    assert {model.name: model.rank_alone for model in group.models} == {"v": 1, "w": 2, "x": 3}


@pytest.mark.slow
def test_a_small_clique_is_named_and_the_ranking_without_it_is_near_the_truth() -> None:
    small = taus(PANELS[0], 10)
    assert small.noted == 1
    assert small.leaning == 1
    assert small.without >= max(0.9, small.ranking)
    assert small.uniform < small.ranking


@pytest.mark.slow
@pytest.mark.parametrize("panel", PANELS[2:], ids=lambda panel: panel.name)
def test_where_the_group_outweighs_the_others_one_of_the_two_sides_is_near_the_truth(panel) -> None:
    large = taus(panel, 10)
    assert large.noted == 1
    assert large.ranking < 0.5
    assert large.leaning <= 0.1, "the residuals of the other judges agree, so these are named"
    assert large.better >= 0.75
