"""The table of all answers: collected while answers are streamed, so that only what is shown is kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappush, heappushpop
from itertools import islice
from typing import TYPE_CHECKING

from hengwen.documents.answers.blocks import EMPTY, AnswerRow, AnswerTable, ScoreColumn
from hengwen.documents.answers.outcomes import INPUT_LIMIT, answer_key, outcome_of, shown_text
from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.answers.blocks import Size
    from hengwen.documents.answers.sources import AnswerRecord, AnswerSource, SourceKey, StreamedAnswer
    from hengwen.results.score_summaries import ScoreSummaries

MAX_ROWS = 10_000
"""Maximum number of answers in one document; of more, those with the lowest scores are kept."""
MAX_COLUMNS = 8
"""Maximum number of columns of scores in the table."""
FULL_LIMIT = 600_000
"""Number of characters of all answers up to which a document holds them whole unless a size is asked for."""
EXCERPT = 120
"""Number of characters of an excerpt."""
BATCH = 300
"""Number of answers that are read at once."""


@dataclass(order=True, slots=True)
class _Kept:
    """One kept answer; the least one, which is dropped first, has the highest score."""

    worth: float
    age: int
    row: AnswerRow = field(compare=False)
    key: SourceKey = field(compare=False)


class AnswerCollector:
    """Collect the rows of the table of all answers, shared among ``groups``: each task times each run."""

    def __init__(self, scores: Sequence[ScoreSummaries], groups: int, size: Size | None = None) -> None:
        columns: dict[str, dict[str, ScoreSummaries]] = {}
        for score in scores:
            columns.setdefault(score.name, {}).setdefault(score.task, score)
        self._columns = dict(islice(columns.items(), MAX_COLUMNS))
        self._quota = max(1, MAX_ROWS // max(groups, 1))
        self._size = size
        self._groups: dict[tuple[str, str], list[_Kept]] = {}
        self._total = 0
        self._characters = 0

    def add(self, answer: StreamedAnswer) -> None:
        """Keep an answer if it is among the lowest of its task and checkpoint."""
        self._total += 1
        self._characters += len(answer.text)
        score = next((tasks[answer.task] for tasks in self._columns.values() if answer.task in tasks), None)
        value = answer.scores.get(score.id) if score else None
        worth = float("inf") if value is None else -value.value
        if score and value and not score.higher_is_better:
            worth = value.value
        kept = self._groups.setdefault((answer.task, answer.key.run_id), [])
        if len(kept) == self._quota and worth <= kept[0].worth:
            return
        item = _Kept(worth, -self._total, self._row(answer), answer.key)
        if len(kept) < self._quota:
            heappush(kept, item)
        else:
            heappushpop(kept, item)

    def _row(self, answer: StreamedAnswer) -> AnswerRow:
        of_task = [tasks.get(answer.task) for tasks in self._columns.values()]
        values = [answer.scores.get(score.id) if score else None for score in of_task]
        unfailed = "ok" if answer.text.strip() else EMPTY
        status = next((status for status in answer.failures.values() if status != "not_applicable"), unfailed)
        is_excerpt = self._size != "numbers"
        return AnswerRow(
            key=answer_key(answer.key),
            checkpoint=answer.checkpoint,
            task=answer.task,
            sample_id=answer.sample_id,
            repeat=answer.key.repeat,
            status=status,
            values=tuple(value.value if value else None for value in values),
            length=len(answer.text),
            excerpt=one_line(answer.text[: 4 * EXCERPT], EXCERPT) if is_excerpt else "",
        )

    def table(self, source: AnswerSource, command: str) -> AnswerTable:
        """Return the table; whole answers are read again, and ``command`` writes them."""
        kept = sorted((item for group in self._groups.values() for item in group), reverse=True)
        tasks = list(dict.fromkeys(task for task, _ in self._groups))
        kept.sort(key=lambda item: tasks.index(item.row.task))
        size = self._size or ("full" if self._characters <= FULL_LIMIT else "excerpts")
        rows = list(_whole(kept, source)) if size == "full" else [item.row for item in kept]
        omitted = self._total - len(rows)
        return AnswerTable(
            key="answers",
            columns=tuple(
                ScoreColumn(head=name, decimals=max(score.decimals for score in tasks.values()))
                for name, tasks in self._columns.items()
            ),
            rows=tuple(rows),
            size=size,
            omitted=omitted,
            command=command if omitted or size != "full" else "",
        )


def _whole(kept: Sequence[_Kept], source: AnswerSource) -> Iterator[AnswerRow]:
    for start in range(0, len(kept), BATCH):
        items = kept[start : start + BATCH]
        records = source.load([item.key for item in items])
        for item in items:
            record = records.get(item.key)
            yield _with_text(item.row, record) if record else item.row


def _with_text(row: AnswerRow, record: AnswerRecord) -> AnswerRow:
    return replace(
        row,
        text=shown_text(record.text),
        prompt=shown_text(record.input, INPUT_LIMIT),
        outcomes=tuple(outcome_of(score, outcome) for score, outcome in record.outcomes.items()),
    )
