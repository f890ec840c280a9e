"""List the failures of a report by checkpoint and status, each with the message of the first failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hengwen.reports.view.cells import counts
from hengwen.text.numbers import MAX_REASON
from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from hengwen.reports.view.models import View


class FailureRow(NamedTuple):
    """The failures of one status at one checkpoint; scores with equal numbers of failures share a row."""

    addresses: tuple[str, ...]
    """Scores (``TASK/SCORE``) of one task that share this row; for example, all criteria of a judge."""
    checkpoint: str
    """Label of the run."""
    status: str
    failed: int
    """Number of failures of each score."""
    message: str
    """Message of the first failure; empty if it has no message."""
    counts: str
    """Text with the numbers of scored prompts and answers."""


def failure_rows(view: View) -> list[FailureRow]:
    """Return the failures in the order of the scores and checkpoints in the report."""
    addresses: dict[tuple[str, str, str, int, str, str], list[str]] = {}
    for score in view.scores:
        for label, cell in zip(view.labels, score.cells, strict=True):
            for status, count in sorted(cell.failures.items(), key=lambda item: -item[1]) if cell else ():
                message = one_line(cell.first_messages.get(status, ""), MAX_REASON) if cell else ""
                key = (score.task, label, status, count, message, counts(cell, view.language) if cell else "")
                addresses.setdefault(key, []).append(score.address)
    return [FailureRow(tuple(names), *key[1:]) for key, names in addresses.items()]


def failure_lines(view: View, limit: int = 8) -> list[str]:
    """Return one line for each status and message, with the total number over all scores and checkpoints."""
    totals: dict[tuple[str, str], int] = {}
    for row in failure_rows(view):
        key = (row.status, row.message)
        totals[key] = totals.get(key, 0) + row.failed * len(row.addresses)
    ranked = sorted(totals.items(), key=lambda item: -item[1])
    lines = [
        f"{count} {status}: {message}" if message else f"{count} {status}"
        for (status, message), count in ranked[:limit]
    ]
    rest = sum(count for _, count in ranked[limit:])
    return [*lines, f"{rest} more of {len(ranked) - limit} other kinds"] if rest else lines
