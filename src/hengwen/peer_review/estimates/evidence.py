"""The data and intermediate results of a peer review, from which its tables and notes are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.battles import Battles
from hengwen.peer_review.estimates.judge_bt import JudgeModel
from hengwen.peer_review.estimates.votes import (
    ConsistencyVotes,
    FittedMethod,
    PairCounts,
    PairModel,
    RankingMethod,
    Votes,
    drawn_questions,
    pair_counts,
    uniform_votes,
)
from hengwen.peer_review.tastes import Taste, common_tastes
from hengwen.peer_review.verdicts import (
    Matches,
    Verdicts,
    combine_orders,
    distinct_verdicts,
)
from hengwen.stats.rankings.pair_models import distinct_codes, rank_correlation, rank_intervals, win_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray


KEEPS_OWN: tuple[RankingMethod, ...] = ("judge-bt", "consistency")
"""Methods that by default use the verdicts of judges on their own answers: ``judge-bt`` has a coefficient
for such verdicts, and ``consistency`` was published with them."""


def build_estimate(
    method: RankingMethod,
    verdicts: Verdicts,
    judge_models: NDArray[np.intp],
    size: tuple[int, int],
    *,
    seed: int = 0,
) -> FittedMethod:
    """Return the estimate of a method."""
    models, questions = size
    if method == "judge-bt":
        return JudgeModel(verdicts, judge_models, models, questions)
    matches = combine_orders(verdicts)
    if method == "uniform":
        return Votes(uniform_votes(matches, (questions, models)))
    if method == "consistency":
        if np.any(judge_models[np.unique(matches.judge)] < 0):
            raise ValueError(
                "method 'consistency' weighs models as judges, but a judge is none of the models; "
                "use 'judge-bt'"
            )
        return ConsistencyVotes(matches, judge_models, models, questions, seed)
    return PairModel(matches, models, questions)


MIN_JUDGES = 3
"""Smallest number of judges whose quality can be compared; if two judges disagree, either may be better."""
ALWAYS_DRAWN = 40
"""A model with at least this many questions counts as present in every resample. The probability that a
resample contains none of its questions is below exp(-40)."""


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """How models are ranked."""

    method: RankingMethod
    exclude_self: bool
    n_boot: int
    confidence: float
    seed: int


class Evidence:
    """Verdicts, estimates and resamples of one peer review; everything is computed once."""

    def __init__(self, battles: Battles, options: ReviewOptions) -> None:
        self.battles, self.options = battles, options
        self.all_verdicts = distinct_verdicts(battles)
        index = {name: position for position, name in enumerate(battles.models)}
        self.judge_models = np.array([index.get(name, -1) for name in battles.judges], np.intp)

    @property
    def models(self) -> int:
        """Number of models."""
        return len(self.battles.models)

    @property
    def judges(self) -> int:
        """Number of judges."""
        return len(self.battles.judges)

    @property
    def size(self) -> tuple[int, int]:
        """Number of models and of questions."""
        return self.models, len(self.battles.questions)

    @cached_property
    def is_own(self) -> NDArray[np.bool_]:
        """Whether each verdict is of a judge on its own answer, shape (V,)."""
        own = self.judge_models[self.all_verdicts.judge]
        return np.asarray((own == self.all_verdicts.low) | (own == self.all_verdicts.high))

    @cached_property
    def verdicts(self) -> Verdicts:
        """The verdicts; with ``exclude_self``, without those of judges on their own answers."""
        if not (self.options.exclude_self and self.is_own.any()):
            return self.all_verdicts
        if self.is_own.all():
            raise ValueError("every verdict is of a judge on its own answer; none is left to count")
        return self.all_verdicts.only(~self.is_own)

    @cached_property
    def estimate(self) -> FittedMethod:
        """Estimate of the models' scores by the chosen method."""
        return build_estimate(
            self.options.method, self.verdicts, self.judge_models, self.size, seed=self.options.seed
        )

    @cached_property
    def matches(self) -> Matches:
        """One match for each judge and pair of answers."""
        return combine_orders(self.verdicts)

    @cached_property
    def all_matches(self) -> Matches:
        """One match for each judge and pair of answers; judges' matches on their own answers are included."""
        if self.verdicts is self.all_verdicts:
            return self.matches
        return combine_orders(self.all_verdicts)

    @cached_property
    def judge_model(self) -> JudgeModel | None:
        """Fitted ``judge-bt`` model; None with fewer than 3 judges, unless the method is ``judge-bt``."""
        if isinstance(self.estimate, JudgeModel):
            return self.estimate
        if self.judges < MIN_JUDGES:
            return None
        return JudgeModel(self.verdicts, self.judge_models, *self.size)

    @cached_property
    def tastes(self) -> list[Taste]:
        """Groups of judges that favour the same models so much that no single ranking explains it."""
        if self.judge_model is None or self.judges < MIN_JUDGES:
            return []
        verdicts = self.judge_model.verdicts
        return common_tastes(verdicts, self.judge_model.residuals, self.judge_models, self.models)

    @cached_property
    def judges_differ_p(self) -> float | None:
        """p-value of the hypothesis that all judges have the same discrimination (Hotelling's test)."""
        model = self.judge_model
        if model is None or self.judges < MIN_JUDGES:
            return None
        block = model.design.discriminations
        covariance = model.covariance[block, block]
        freedom = self.used_questions - self.judges + 1
        if freedom < 1 or not np.isfinite(covariance).all():
            return None
        from scipy.special import fdtrc

        excess = model.discriminations - 1
        statistic = excess @ np.linalg.pinv(covariance, rcond=1e-8, hermitian=True) @ excess
        scale = freedom / ((self.used_questions - 1) * (self.judges - 1))
        return float(fdtrc(self.judges - 1, freedom, statistic * scale))

    @cached_property
    def used_questions(self) -> int:
        """Number of questions with a verdict."""
        return int(np.count_nonzero(np.bincount(self.verdicts.question)))

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """Number of times that each question is drawn in each resample, shape (B, Q)."""
        if self.used_questions < 2:
            return None
        return drawn_questions(self.size[1], self.options.n_boot, self.options.seed)

    @cached_property
    def judge_resamples(self) -> NDArray[np.float64] | None:
        """All parameters of ``judge-bt`` in each resample, shape (B, p)."""
        if self.weights is None or not isinstance(self.estimate, JudgeModel):
            return None
        return self.estimate.resample_parameters(self.weights)

    @cached_property
    def resamples(self) -> NDArray[np.float64] | None:
        """Scores in each resample, shape (B, m); NaN for models without a match in the resample."""
        if self.weights is None:
            return None
        if self.judge_resamples is not None:
            scores = self.judge_resamples[:, : self.models].copy()
        else:
            scores = self.estimate.resample(self.weights)
        for model, questions in self._few_questions():
            drawn = self.weights[:, questions].any(axis=1) & (len(questions) > 1)
            scores[~drawn, model] = np.nan
        return scores

    def _few_questions(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each ranked model with fewer than 40 questions, and its questions."""
        models, questions = self.size
        rows = np.r_[self.matches.low, self.matches.high] * questions
        rows += np.r_[self.matches.question, self.matches.question]
        pairs, _ = distinct_codes(rows, models * questions)
        ends = np.searchsorted(pairs, np.arange(models + 1) * questions)
        for model in self.ranked[np.diff(ends)[self.ranked] < ALWAYS_DRAWN].tolist():
            yield model, pairs[ends[model] : ends[model + 1]] % questions

    @cached_property
    def counts(self) -> PairCounts:
        """Matches grouped by pair of models."""
        return pair_counts(self.matches, *self.size)

    @cached_property
    def ranked(self) -> NDArray[np.intp]:
        """Indices of the models with a match that ``exclude_self`` keeps, ascending."""
        return models_of(self.matches, self.models)

    @property
    def unranked(self) -> tuple[str, ...]:
        """Names of the models without a rank, because all their matches were left out."""
        ranked = set(self.ranked.tolist())
        return tuple(name for index, name in enumerate(self.battles.models) if index not in ranked)

    def agreement(self, scores: NDArray[np.float64], models: NDArray[np.intp] | None = None) -> float | None:
        """Return Kendall's tau-b between the ranking of this review and the ranking by other scores."""
        chosen = self.ranked if models is None else models
        return rank_correlation(self.estimate.scores[chosen], scores[chosen])

    @property
    def groups(self) -> NDArray[np.intp]:
        """Group of each model, shape (m,); no match links models of different groups."""
        return self.counts.pairs.groups

    @cached_property
    def win_groups(self) -> NDArray[np.intp]:
        """Group of each model by wins and ties, shape (m,)."""
        wins = self.counts.total(self.matches.outcome)[0]
        losses = self.counts.total(1 - self.matches.outcome)[0]
        pairs = self.counts.pairs
        return win_groups(pairs.first, pairs.second, wins, losses, self.models)

    @cached_property
    def ranks(self) -> NDArray[np.intp]:
        """Best and worst rank of each ranked model by its confidence interval of ranks, shape (R, 2)."""
        return self.ranks_among(self.ranked)

    def ranks_among(self, models: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the best and the worst rank of each of some models among these models, shape (n, 2)."""
        if self.resamples is None:
            return np.tile([1, len(models)], (len(models), 1))
        scores, resamples = self.estimate.scores[models], self.resamples[:, models]
        return rank_intervals(scores, resamples, self.options.confidence, self.groups[models])


def interval_bounds(resamples: NDArray[np.float64] | None, confidence: float) -> NDArray[np.float64] | None:
    """Return the percentiles of resamples of shape (B, n), in the shape (2, n); None without resamples."""
    if resamples is None:
        return None
    levels = [(1 - confidence) / 2, (1 + confidence) / 2]
    partial = np.isnan(resamples).any(axis=0)
    bounds = np.full((2, resamples.shape[1]), np.nan)
    bounds[:, ~partial] = np.quantile(resamples[:, ~partial], levels, axis=0)
    for column in np.flatnonzero(partial):
        known = resamples[~np.isnan(resamples[:, column]), column]
        if len(known):
            bounds[:, column] = np.quantile(known, levels)
    return bounds


def models_of(matches: Matches, models: int) -> NDArray[np.intp]:
    """Return the indices of the models that occur in matches, in ascending order."""
    counts = np.bincount(matches.low, minlength=models) + np.bincount(matches.high, minlength=models)
    return np.flatnonzero(counts)
