"""Peer review: rank models by the verdicts of judges, which are often the models themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.peer_review.battles import Battles
    from hengwen.peer_review.human import HumanComparison, compare_with_human, read_human_ranking
    from hengwen.peer_review.judging.review_plan import JudgedBattles, Pairing, estimate_judging, judge_plan
    from hengwen.peer_review.notes import Note
    from hengwen.peer_review.pairs import preference_pairs
    from hengwen.peer_review.readers.battle_file import BattleFiles, read_battles
    from hengwen.peer_review.result import (
        PeerReview,
        RankingWithout,
        RankWithout,
        ReviewedJudge,
        ReviewedModel,
    )
    from hengwen.peer_review.review import peer_review

_EXPORTS = {
    "BattleFiles": "readers.battle_file",
    "Battles": "battles",
    "HumanComparison": "human",
    "JudgedBattles": "judging.review_plan",
    "Note": "notes",
    "Pairing": "judging.review_plan",
    "PeerReview": "result",
    "RankWithout": "result",
    "RankingWithout": "result",
    "ReviewedJudge": "result",
    "ReviewedModel": "result",
    "compare_with_human": "human",
    "estimate_judging": "judging.review_plan",
    "judge_plan": "judging.review_plan",
    "peer_review": "review",
    "preference_pairs": "pairs",
    "read_battles": "readers.battle_file",
    "read_human_ranking": "human",
}

__all__ = [
    "BattleFiles",
    "Battles",
    "HumanComparison",
    "JudgedBattles",
    "Note",
    "Pairing",
    "PeerReview",
    "RankWithout",
    "RankingWithout",
    "ReviewedJudge",
    "ReviewedModel",
    "compare_with_human",
    "estimate_judging",
    "judge_plan",
    "peer_review",
    "preference_pairs",
    "read_battles",
    "read_human_ranking",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
