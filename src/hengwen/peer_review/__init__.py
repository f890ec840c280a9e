"""Peer review: rank models by the verdicts of judges, which are often the models themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.peer_review.battles import Battles as Battles
    from hengwen.peer_review.human import (
        HumanComparison as HumanComparison,
        compare_with_human as compare_with_human,
        read_human_ranking as read_human_ranking,
    )
    from hengwen.peer_review.notes import Note as Note
    from hengwen.peer_review.battle_files import (
        BattleFiles as BattleFiles,
        read_battles as read_battles,
    )
    from hengwen.peer_review.result import (
        PeerReview as PeerReview,
        RankingWithout as RankingWithout,
        RankWithout as RankWithout,
        ReviewedJudge as ReviewedJudge,
        ReviewedModel as ReviewedModel,
    )
    from hengwen.peer_review.review import peer_review as peer_review

_EXPORTS = {
    "battle_files": "BattleFiles read_battles",
    "battles": "Battles",
    "human": "HumanComparison compare_with_human read_human_ranking",
    "notes": "Note",
    "result": "PeerReview RankWithout RankingWithout ReviewedJudge ReviewedModel",
    "review": "peer_review",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
