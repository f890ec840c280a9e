"""Report checkpoints of which more than a few answers are empty."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hengwen.documents.run.findings import Finding
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from hengwen.documents.answers.source import StreamedAnswer

MAX_EMPTY_SHARE = 0.02
"""Largest share of empty answers that is not reported."""


class EmptyAnswerCounter:
    """Count the streamed answers that have no text, for each task and checkpoint."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str]] = Counter()
        self._empty: Counter[tuple[str, str]] = Counter()

    def add(self, answer: StreamedAnswer) -> None:
        """Count one answer."""
        key = answer.task, answer.checkpoint
        self._answers[key] += 1
        self._empty[key] += not answer.text.strip()

    def findings(self) -> list[Finding]:
        """Return a finding for each task and checkpoint with more than 2 % empty answers."""
        return [
            Finding(
                address=task,
                text=Bilingual(
                    f"{checkpoint} 的 {total} 个回答中有 {self._empty[task, checkpoint]} 个是空的；"
                    "它们照样计分，请查明原因",
                    f"{self._empty[task, checkpoint]} of {total} answers of {checkpoint} "
                    f"{'is' if self._empty[task, checkpoint] == 1 else 'are'} empty; empty answers are "
                    "scored like others, so find out why",
                ),
                tone="worse",
                is_alarm=True,
            )
            for (task, checkpoint), total in self._answers.items()
            if self._empty[task, checkpoint] > MAX_EMPTY_SHARE * total
        ]
