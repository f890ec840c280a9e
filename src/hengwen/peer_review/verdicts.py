"""Battles without duplicates, and the outcome of both orders of two answers."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.battles import Battles
from hengwen.stats.rankings.pair_models import distinct_codes, stable_order

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """Battles (one verdict on two answers each) without duplicates, from the view of the model ``low``.

    ``low`` is the model with the lower index. All verdicts of a judge on the same two answers have the same
    ``match`` and follow each other, whichever answer was shown first. All arrays have the shape (V,).
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    judge: NDArray[np.intp]
    question: NDArray[np.intp]
    outcome: NDArray[np.float64]
    """1 if model ``low`` is preferred, 0 if model ``high`` is, 0.5 for a tie; weights lie between."""
    first: NDArray[np.int8]
    """1 if the answer of model ``low`` was shown first, -1 if it was second, 0 if unknown."""
    length: NDArray[np.float64] | None
    """Logarithm of (length of the answer of ``low`` / length of the answer of ``high``); None if unknown."""
    match: NDArray[np.intp]
    """Index of the match (one judge, two answers) of each verdict; the indices ascend."""
    item: NDArray[np.intp]
    """Number that identifies the question and the turn."""
    position: NDArray[np.intp]
    """Index of the verdict's battle among all battles, duplicates included."""
    duplicates: int
    """Number of battles that were removed because an earlier battle has the same question, turn, judge,
    models and order."""
    contradictions: int
    """Number of removed duplicates whose verdict differs from that of the kept battle, which is the first
    with the same question, turn, judge, models and order."""

    def __len__(self) -> int:
        return len(self.outcome)

    def only(self, keep: NDArray[np.bool_]) -> Verdicts:
        """Return the verdicts for which ``keep``, shape (V,), is true."""
        starts = np.diff(self.match[keep], prepend=-1) > 0
        columns = ("low", "high", "judge", "question", "outcome", "first", "item", "position")
        return replace(
            self,
            **{name: getattr(self, name)[keep] for name in columns},
            length=None if self.length is None else self.length[keep],
            match=np.cumsum(starts) - 1,
        )


def distinct_verdicts(battles: Battles) -> Verdicts:
    """Return the battles without duplicates."""
    swapped = battles.model_a > battles.model_b
    low = np.where(swapped, battles.model_b, battles.model_a)
    high = np.where(swapped, battles.model_a, battles.model_b)
    outcome = np.where(swapped, 1 - battles.outcome, battles.outcome)
    first = np.where(swapped, -battles.first, battles.first)
    item = _item_of(battles)
    models = len(battles.models)
    match = ((item * len(battles.judges) + battles.judge) * models + low) * models + high
    order = stable_order(match * 3 + (first + 1))
    sorted_match, sorted_first = match[order], first[order]
    starts_match = np.r_[True, sorted_match[1:] != sorted_match[:-1]]
    kept = starts_match | np.r_[True, sorted_first[1:] != sorted_first[:-1]]
    keep = order[kept]
    sorted_outcome = outcome[order]
    reference = sorted_outcome[kept][np.cumsum(kept) - 1]
    length = None
    if battles.length_a is not None and battles.length_b is not None:
        length = _log_ratio(battles.length_a, battles.length_b)
        length = np.where(swapped, -length, length)[keep]
    return Verdicts(
        low=low[keep],
        high=high[keep],
        judge=battles.judge[keep],
        question=battles.question[keep],
        outcome=outcome[keep],
        first=first[keep].astype(np.int8),
        length=length,
        match=np.cumsum(starts_match[kept]) - 1,
        item=item[keep],
        position=keep,
        duplicates=len(battles) - len(keep),
        contradictions=int((sorted_outcome != reference).sum()),
    )


def _log_ratio(lengths: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the ratio of lengths; an empty answer counts as long as the shortest of the others."""
    both = np.stack([lengths, others])
    shortest = both[both > 0].min(initial=np.inf)
    return np.asarray(np.log(np.maximum(lengths, shortest) / np.maximum(others, shortest)))


def _item_of(battles: Battles) -> NDArray[np.intp]:
    low, high = int(battles.turn.min()), int(battles.turn.max())
    turns, turn = distinct_codes(battles.turn - low, high - low + 1)  # a turn may be any number, as a time
    return np.asarray(battles.question * len(turns) + turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Matches: one outcome for each judge, question, turn and pair of models; arrays of shape (M,)."""

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    judge: NDArray[np.intp]
    question: NDArray[np.intp]
    item: NDArray[np.intp]
    position: NDArray[np.intp]
    """Index, among all battles (single verdicts on two answers), of the first battle of the match."""
    outcome: NDArray[np.float64]
    """1 if model ``low`` is preferred, 0 if model ``high`` is, 0.5 for a tie."""

    def __len__(self) -> int:
        return len(self.outcome)

    def only(self, keep: NDArray[np.bool_]) -> Matches:
        """Return the matches for which ``keep``, shape (M,), is true."""
        return replace(self, **{field.name: getattr(self, field.name)[keep] for field in fields(self)})


def combine_orders(verdicts: Verdicts) -> Matches:
    """Return one outcome for each match (the verdicts of one judge on the same two answers).

    Verdicts that name different winners in the two orders are a tie.
    """
    starts = match_starts(verdicts)
    return Matches(
        low=verdicts.low[starts],
        high=verdicts.high[starts],
        judge=verdicts.judge[starts],
        question=verdicts.question[starts],
        item=verdicts.item[starts],
        position=np.minimum.reduceat(verdicts.position, starts) if len(verdicts) else starts,
        outcome=_outcomes(verdicts, starts),
    )


def _outcomes(verdicts: Verdicts, starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the winner of each match; where a verdict is a weight, the mean of the verdicts."""
    if not len(verdicts):
        return np.zeros(0)
    preference = np.add.reduceat(np.sign(verdicts.outcome - 0.5), starts)
    is_weight = ~np.isin(verdicts.outcome, (0.0, 0.5, 1.0))
    mean = np.add.reduceat(verdicts.outcome, starts) / np.diff(starts, append=len(verdicts))
    return np.where(np.logical_or.reduceat(is_weight, starts), mean, 0.5 + 0.5 * np.sign(preference))


def match_starts(verdicts: Verdicts) -> NDArray[np.intp]:
    """Return the index of the first verdict of each match, shape (M,)."""
    return np.asarray(np.flatnonzero(np.diff(verdicts.match, prepend=-1)))
