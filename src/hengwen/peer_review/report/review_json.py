"""Write a peer review as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hengwen.peer_review.human import HumanComparison
    from hengwen.peer_review.result import PeerReview


def review_json(review: PeerReview, human: HumanComparison | None, *, failures: int = 0) -> str:
    """Return the whole peer review as one JSON object."""
    document = {
        "schema": 1,
        **asdict(review),
        "failures": failures,
        "human": None if human is None else asdict(human),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)
