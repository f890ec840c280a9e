"""Rank models from the verdicts of judges, which are often the models themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from hengwen._internal.plugins import whole_number
from hengwen.peer_review.battles import Battles
from hengwen.peer_review.estimates.evidence import (
    KEEPS_OWN,
    MIN_JUDGES,
    Evidence,
    ReviewOptions,
    interval_bounds,
)
from hengwen.peer_review.estimates.votes import RankingMethod
from hengwen.peer_review.judge_table import reviewed_judges
from hengwen.peer_review.notes import collect_notes
from hengwen.peer_review.result import PeerReview, RankingWithout, RankWithout, ReviewedModel
from hengwen.peer_review.tastes import Taste
from hengwen.stats.rankings.pair_models import group_sums, rank_correlation, ranks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def peer_review(
    battles: Battles,
    *,
    method: RankingMethod | None = None,
    n_boot: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> PeerReview:
    """Rank models from battles: verdicts of judges on pairs of answers to the same question.

    Duplicate battles are removed first. Verdicts on one question depend on each other, so the intervals of
    scores come from resampled questions. Each model also has an interval of ranks: all ranks that the data
    leave possible.

    Args:
        battles: The battles.
        method: Default: ``judge-bt`` if there are at least 3 judges, else ``bradley-terry``.

            - ``judge-bt``: Bradley-Terry model in which each judge has a discrimination: how strongly its
              verdicts depend on quality. Each judge also has coefficients for the first position, for longer
              answers and for its own answers, as far as the battles contain them. Scores are logits.
            - ``bradley-terry``: Bradley-Terry model in which all judges count alike. A tie is half a win for
              both models.
            - ``consistency``: the published optimisation of PiCO; judges must be models.
            - ``uniform``: mean points, a win is 1 and a tie 0.5.

            ``judge-bt`` and ``consistency`` use the verdicts of judges on their own answers: ``judge-bt`` has
            a coefficient for them, and ``consistency`` was published with them. The others leave them out. A
            pair of answers on which a judge names different winners in the two orders is a tie.
        n_boot: Number of resamples, >= 20.
        confidence: Confidence level of the intervals, in (0, 1).
        seed: Seed of the resamples, and of the noise of ``consistency``.

    Returns:
        The models with ranks, the judges with weights, and notes in words. With fewer than two questions,
        scores have no intervals, and every rank is possible. A model with matches on only one question also
        has no interval of its score, and can have every rank.

    Raises:
        TypeError: An argument has a wrong type.
        ValueError: An option is out of range, or the method does not fit the battles.

    Notes:
        Bradley and Terry (1952); PiCO (arXiv 2402.01830); judge-aware ranking (arXiv
        2601.21817); intervals of ranks: Mogstad, Romano, Shaikh and Wilhelm (2024).

    Examples:
        >>> from hengwen.peer_review import Battles
        >>> battles = Battles.from_columns(
        ...     model_a=["x", "x", "y"] * 20, model_b=["y", "z", "z"] * 20, winner=["a", "a", "b"] * 20,
        ...     judge=["j"] * 60, question=[question for question in range(20) for _ in range(3)],
        ... )
        >>> result = peer_review(battles)
        >>> [(model.name, model.rank, model.ranks) for model in result.models]
        [('x', 1, (1, 1)), ('z', 2, (2, 2)), ('y', 3, (3, 3))]
        >>> [note.code for note in result.notes]
        ['one judge', 'infinite', 'position unknown']
    """
    from threadpoolctl import threadpool_limits

    whole_number("n_boot", n_boot, 20)
    if method is not None and method not in get_args(RankingMethod):
        raise ValueError(f"method must be one of {', '.join(get_args(RankingMethod))}, got {method!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    chosen = method or ("judge-bt" if len(battles.judges) >= MIN_JUDGES else "bradley-terry")
    options = ReviewOptions(
        method=chosen,
        exclude_self=chosen not in KEEPS_OWN,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
    )
    with threadpool_limits(1, "blas"):  # more threads cost more than they save in such small systems
        return _review(Evidence(battles, options))


def _review(evidence: Evidence) -> PeerReview:
    options = evidence.options
    return PeerReview(
        method=options.method,
        models=_reviewed_models(evidence),
        unranked=evidence.unranked,
        judges=reviewed_judges(evidence),
        battles=len(evidence.battles),
        duplicates=evidence.all_verdicts.duplicates,
        own_left_out=len(evidence.all_verdicts) - len(evidence.verdicts),
        questions=evidence.used_questions,
        resamples=0 if evidence.resamples is None else options.n_boot,
        confidence=options.confidence,
        seed=options.seed,
        judges_differ_p=evidence.judges_differ_p,
        without=rankings_without(evidence),
        notes=collect_notes(evidence),
    )


def _reviewed_models(evidence: Evidence) -> tuple[ReviewedModel, ...]:
    scores, errors = evidence.estimate.scores, evidence.estimate.errors
    ranks = ranks_of(scores[evidence.ranked])
    bounds = interval_bounds(evidence.resamples, evidence.options.confidence)
    wins, losses, ties = _records(evidence)
    models = [
        ReviewedModel(
            name=evidence.battles.models[index],
            score=float(scores[index]),
            error=None if errors is None or not np.isfinite(errors[index]) else float(errors[index]),
            interval=None
            if bounds is None or np.isnan(bounds[0, index])
            else (float(bounds[0, index]), float(bounds[1, index])),
            rank=int(ranks[position]),
            ranks=(int(evidence.ranks[position, 0]), int(evidence.ranks[position, 1])),
            group=int(evidence.groups[index]),
            matches=int(wins[index] + losses[index] + ties[index]),
            wins=int(wins[index]),
            losses=int(losses[index]),
            ties=int(ties[index]),
        )
        for position, index in enumerate(evidence.ranked)
    ]
    return tuple(sorted(models, key=lambda model: (-model.score, model.name)))


def _records(evidence: Evidence) -> list[NDArray[np.float64]]:
    """Return the number of wins, losses and ties of each model."""
    matches, models = evidence.matches, evidence.models

    def count(low: NDArray[np.bool_], high: NDArray[np.bool_]) -> NDArray[np.float64]:
        return group_sums(matches.low, low, models) + group_sums(matches.high, high, models)

    won, lost, tied = (np.sign(matches.outcome - 0.5) == sign for sign in (1, -1, 0))
    return [count(won, lost), count(lost, won), count(tied, tied)]


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
    if options.method == "judge-bt" and len(judges) < MIN_JUDGES:
        options = replace(options, method="bradley-terry", exclude_self=True)
    side = Evidence(_battles_of(judges, evidence.battles), options)
    if side.options.exclude_self and side.is_own.all():
        return None
    return side if len(side.ranked) else None


def _battles_of(judges: NDArray[np.intp], battles: Battles) -> Battles:
    keep = np.isin(battles.judge, judges)
    columns = {field.name: getattr(battles, field.name) for field in fields(battles)}
    kept: dict[str, Any] = {
        name: column[keep] for name, column in columns.items() if isinstance(column, np.ndarray)
    }
    kept["judge"] = np.searchsorted(judges, kept["judge"])
    return replace(battles, judges=tuple(battles.judges[judge] for judge in judges), **kept)


def _linked(side: Evidence) -> NDArray[np.intp]:
    """Return the largest set of models that battles of these judges link."""
    groups = side.groups[side.ranked]
    return np.asarray(side.ranked[groups == np.bincount(groups).argmax()])
