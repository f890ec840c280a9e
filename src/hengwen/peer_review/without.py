"""Rank the models without a group of judges with a common taste, and by this group alone.

If the group outweighs the other judges, the ranking follows it, and then the residuals of the other judges
agree: the note may name the honest side. Therefore the ranking by the group alone stands beside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.peer_review.estimates.evidence import MIN_JUDGES, Evidence
from hengwen.peer_review.result import RankingWithout, RankWithout
from hengwen.stats.rankings.rank_intervals import rank_correlation, ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hengwen.peer_review.battles import Battles
    from hengwen.peer_review.tastes import Taste


def rankings_without(evidence: Evidence) -> tuple[RankingWithout, ...]:
    """Return the ranking without each group of judges with a common taste, the largest group first."""
    return tuple(ranking for taste in evidence.tastes for ranking in _without(evidence, taste))


def _without(evidence: Evidence, taste: Taste) -> Iterator[RankingWithout]:
    in_group = np.isin(np.arange(evidence.judges), taste.judges)
    others, alone = _side(evidence, ~in_group), _side(evidence, in_group)
    if others is None or alone is None:
        return
    linked = np.intersect1d(_linked(others), _linked(alone))
    models = np.intersect1d(evidence.ranked, linked)
    if len(models) < 2:
        return
    scores = evidence.estimate.scores[models]
    without = others.estimate.scores[models]
    rank, rank_without, rank_alone = map(ranks_of, (scores, without, alone.estimate.scores[models]))
    bounds = others.ranks_among(models)
    yield RankingWithout(
        code=taste.code,
        judges=tuple(evidence.battles.judges[judge] for judge in taste.judges),
        method=others.options.method,
        tau=rank_correlation(scores, without),
        models=tuple(
            RankWithout(
                name=evidence.battles.models[models[index]],
                rank=int(rank[index]),
                rank_without=int(rank_without[index]),
                ranks_without=(int(bounds[index, 0]), int(bounds[index, 1])),
                difference=int(rank_without[index] - rank[index]),
                rank_alone=int(rank_alone[index]),
            )
            for index in np.argsort(-scores, kind="stable")
        ),
    )


def _side(evidence: Evidence, chosen: NDArray[np.bool_]) -> Evidence | None:
    """Return the review by some of the judges; None if no match of theirs counts."""
    judges, options = np.flatnonzero(chosen), evidence.options
    if not len(judges):
        return None
    weighs = options.method == "judge-bt" and len(judges) >= MIN_JUDGES
    kept = weighs or options.method != "judge-bt"
    side = Evidence(
        _battles_of(judges, evidence.battles),
        options.method if kept else "bradley-terry",
        options.conflict,
        options.exclude_self if kept else None,
        options.n_boot,
        options.confidence,
        options.seed,
    )
    if side.options.exclude_self and side.is_own.all():
        return None
    return side if len(side.ranked) else None


def _battles_of(judges: NDArray[np.intp], battles: Battles) -> Battles:
    keep = np.isin(battles.judge, judges)
    columns = ("model_a", "model_b", "question", "outcome", "first", "turn", "length_a", "length_b")
    kept: dict[str, Any] = {
        name: column[keep] for name in columns if (column := getattr(battles, name)) is not None
    }
    names = tuple(battles.judges[judge] for judge in judges)
    return replace(battles, judges=names, judge=np.searchsorted(judges, battles.judge[keep]), **kept)


def _linked(side: Evidence) -> NDArray[np.intp]:
    """Return the largest set of models that battles of these judges link."""
    groups = side.groups[side.ranked]
    return np.asarray(side.ranked[groups == np.bincount(groups).argmax()])
