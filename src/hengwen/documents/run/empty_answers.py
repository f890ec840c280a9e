"""Report checkpoints of which more than a few answers are empty."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hengwen.documents.answers.blocks import EMPTY, AnswerFilter
from hengwen.documents.blocks import Link
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
            _finding(task, checkpoint, self._empty[task, checkpoint], total)
            for (task, checkpoint), total in self._answers.items()
            if self._empty[task, checkpoint] > MAX_EMPTY_SHARE * total
        ]


def _finding(task: str, checkpoint: str, empty: int, total: int) -> Finding:
    return Finding(
        address=task,
        text=Bilingual(
            f"{checkpoint} 的 {total} 个回答中有 {empty} 个是空的；它们照样计分，请查明原因",
            f"{empty} of {total} answers of {checkpoint} {'is' if empty == 1 else 'are'} empty; "
            "empty answers are scored like others, so find out why",
        ),
        tone="worse",
        is_alarm=True,
        link=Link(
            text=Bilingual(f"{empty} 个是空的", f"{empty} of {total} answers"),
            target="all-answers",
            rows=AnswerFilter(checkpoint, task, status=EMPTY),
        ),
    )
