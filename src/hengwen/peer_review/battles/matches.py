"""Combine the verdicts of a judge on two answers, shown in both orders, into one outcome."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.battles.verdicts import Verdicts

Conflict = Literal["tie", "abstain"]
"""How a match counts if its verdicts in the two orders name different winners: as a tie, or not at all."""


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


def combine_orders(verdicts: Verdicts, conflict: Conflict) -> Matches:
    """Return one outcome for each match (the verdicts of one judge on the same two answers)."""
    starts = match_starts(verdicts)
    preference = np.add.reduceat(np.sign(verdicts.outcome - 0.5), starts) if len(verdicts) else starts
    matches = Matches(
        low=verdicts.low[starts],
        high=verdicts.high[starts],
        judge=verdicts.judge[starts],
        question=verdicts.question[starts],
        item=verdicts.item[starts],
        position=np.minimum.reduceat(verdicts.position, starts) if len(verdicts) else starts,
        outcome=0.5 + 0.5 * np.sign(preference),
    )
    return matches.only(~conflicts(verdicts)) if conflict == "abstain" else matches


def judged_pairs(matches: Matches, models: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The index of the first match of each pair of answers, and for each match the number of its pair."""
    key = (matches.item * models + matches.low) * models + matches.high
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group


def match_starts(verdicts: Verdicts) -> NDArray[np.intp]:
    """Return the index of the first verdict of each match, shape (M,)."""
    return np.asarray(np.flatnonzero(np.diff(verdicts.match, prepend=-1)))


def conflicts(verdicts: Verdicts) -> NDArray[np.bool_]:
    """Return for each match whether its verdicts name different winners, shape (M,)."""
    starts = match_starts(verdicts)
    if not len(starts):
        return np.zeros(0, bool)
    lowest = np.minimum.reduceat(verdicts.outcome, starts)
    highest = np.maximum.reduceat(verdicts.outcome, starts)
    return np.asarray((lowest == 0) & (highest == 1))


def without_conflicts(verdicts: Verdicts) -> Verdicts:
    """Return the verdicts without matches that have different winners in the two orders of the answers."""
    return verdicts.only(~conflicts(verdicts)[verdicts.match])
