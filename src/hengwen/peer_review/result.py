"""The result of a peer review: models with ranks as intervals, judges with weights, and notes in words."""

from __future__ import annotations

from dataclasses import dataclass

from hengwen.peer_review.estimates.votes import RankingMethod
from hengwen.peer_review.notes import Note
from hengwen.peer_review.tastes import TasteCode

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedModel:
    """A model under test."""

    name: str
    score: float
    """Score by the method, higher is better: logits, points of a vote, or an Elo rating."""
    error: float | None
    """Standard error of the score, with questions as clusters. None for ``elo``, or if the score depends on
    fewer than two questions."""
    interval: Bounds | None
    """Interval of the score from resampled questions; None if the model has only one question."""
    rank: int
    """Rank from 1, the best first; equal scores share a rank."""
    ranks: tuple[int, int]
    """Best and worst rank that the data leave possible."""
    group: int
    """Group of the model; no chain of battles links different groups, so their models cannot be compared."""
    matches: int
    """Number of matches (one judge, one question, one opponent) on which the score is based."""
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedJudge:
    """A judge, and what its verdicts show about it."""

    name: str
    verdicts: int
    weight: float | None
    """Weight of the judge. ``judge-bt``: the discrimination; 1 is average, and 0 means that quality does not
    affect the verdicts. ``consistency``: the weight from 0 to 1. None if all judges count alike."""
    weight_interval: Bounds | None
    """Interval of the weight from resampled questions; only for ``judge-bt``."""
    both_orders: int
    """Number of pairs of answers that the judge saw in both orders."""
    consistent: float | None
    """Share of the pairs seen in both orders on which both verdicts are equal; None without such pairs."""
    conflicts: float | None
    """Share of the pairs seen in both orders on which the verdicts name different winners."""
    first_share: float | None
    """Share of verdicts, over pairs seen in both orders, in favour of the answer that was shown first; 0.5 is
    no preference."""
    first_interval: Bounds | None
    """Interval of ``first_share``."""
    own_share: float | None
    """Share of wins that the judge gives to its own answers. Opponents that no other judge compared with
    these answers do not count. None if the judge is not a model under test, or if no opponent counts."""
    own_others: float | None
    """Share of wins of this judge's own answers by the verdicts of the other judges, against the same
    opponents as in ``own_share``. None if ``own_share`` is None."""
    own_interval: Bounds | None
    """Interval of ``own_share`` minus ``own_others``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankWithout:
    """Rank of a model with and without a group of judges, among the models that both sides judged."""

    name: str
    rank: int
    """Rank by all judges."""
    rank_without: int
    """Rank by the judges outside the group."""
    ranks_without: tuple[int, int]
    """Best and worst rank that the verdicts of the judges outside the group leave possible."""
    difference: int
    """``rank_without`` minus ``rank``; above 0 if the model is worse without the group."""
    rank_alone: int
    """Rank by the judges of the group alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWithout:
    """The ranking without a group of judges that favour one another or share a taste."""

    code: TasteCode
    """The note that names the group."""
    judges: tuple[str, ...]
    method: RankingMethod
    """Method of the ranking without the group: that of the review, but ``bradley-terry`` in place of
    ``judge-bt`` if fewer than three judges are left."""
    tau: float | None
    """Kendall's tau-b between the ranking by all judges and the ranking without the group."""
    models: tuple[RankWithout, ...]
    """The models that battles of the judges outside the group link, and those of the group too; the best by
    all judges first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerReview:
    """Ranking of models by judges that are often the models themselves."""

    method: RankingMethod
    models: tuple[ReviewedModel, ...]
    """The models, the best first."""
    unranked: tuple[str, ...]
    """Models without a rank, because all their matches were left out: judges' verdicts on their own answers,
    or pairs of answers with different winners in the two orders."""
    judges: tuple[ReviewedJudge, ...]
    """The judges, those with the highest weight first; by name if the method has no weights."""
    battles: int
    """Number of battles, including duplicates."""
    duplicates: int
    """Number of battles that were left out because an earlier battle has the same question, turn, judge,
    models and order."""
    own_left_out: int
    """Number of verdicts of judges on their own answers that were left out."""
    questions: int
    """Number of questions, which are resampled for the intervals."""
    resamples: int
    """Number of resamples; 0 for fewer than two questions."""
    confidence: float
    seed: int
    judges_differ_p: float | None
    """p-value of the hypothesis that all judges have the same discrimination: that the verdicts of all judges
    depend equally strongly on quality. None if there are fewer than three judges, or fewer questions than
    judges."""
    without: tuple[RankingWithout, ...]
    """The ranking without each group of judges that a note calls a clique or a common taste, the largest
    group first. Empty if there is no such group, or no other judge."""
    notes: tuple[Note, ...]
    """Notes in words on what limits the result, the most important first."""

    @property
    def scores(self) -> dict[str, float]:
        """Score of each model."""
        return {model.name: model.score for model in self.models}
