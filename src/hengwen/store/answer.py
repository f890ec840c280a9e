"""``Answer``: a stored answer with its input and its outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.records import Outcome, Sample
    from hengwen.score_id import ScoreId

ResponseKey = tuple[str, str, int]
"""(task, sample id, repeat): identifies an answer in one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A stored answer with its input and its outcomes (scores and failures)."""

    task: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: Mapping[ScoreId, Outcome]
    sample: Sample
    """The prompt with its references and metadata."""
