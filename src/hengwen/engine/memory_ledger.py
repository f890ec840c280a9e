"""A ledger in memory, for notebooks and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.records import Failure, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.protocols import EvaluationKey
    from hengwen.records import Attempt, Outcome, Response, Run, Sample


class MemoryLedger:
    """Keep the records of runs in dicts and lists; ``hengwen.protocols.Ledger`` describes the methods."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}
        self.responses: list[Response] = []
        self.attempts: list[Attempt] = []
        self._rows: dict[tuple[object, ...], Row] = {}

    @property
    def rows(self) -> list[Row]:
        """All rows (scores and failures), in the order in which their keys were first recorded."""
        return list(self._rows.values())

    def begin(self, run: Run) -> None:
        """Store a run, or its new status."""
        self.runs[run.id] = run

    def done(self, run: Run) -> dict[EvaluationKey, str]:
        """Return the evaluations completed in this run or in other runs of the same plan and checkpoint."""
        series = [
            other.id
            for other in self.runs.values()
            if (other.plan, other.checkpoint) == (run.plan, run.checkpoint)
        ]
        sources: dict[EvaluationKey, str] = {}
        incomplete: set[tuple[str, EvaluationKey]] = set()
        for row in self.rows:
            if row.run_id in series:
                outcome, key = row.outcome, _evaluation_key(row)
                if isinstance(outcome, Failure) and outcome.status != "not_applicable":
                    incomplete.add((row.run_id, key))
                elif sources.get(key) != run.id:
                    sources[key] = row.run_id
        return {key: source for key, source in sources.items() if (source, key) not in incomplete}

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Copy the rows of an evaluation from an earlier run."""
        self.record_rows([row._replace(run_id=run_id) for row in self._rows_for_key(source, key)])

    def read(self, run_id: str, key: EvaluationKey) -> list[Outcome]:
        """Return the outcomes (scores and failures) that a run has for an evaluation."""
        return [row.outcome for row in self._rows_for_key(run_id, key)]

    def _rows_for_key(self, run_id: str, key: EvaluationKey) -> list[Row]:
        return [row for row in self.rows if row.run_id == run_id and _evaluation_key(row) == key]

    def find_call(self, call_key: str, cache_scope: str) -> Attempt | None:
        """Return the successful attempt of a call, or None."""
        for attempt in self.attempts:
            if (attempt.call_key, attempt.cache_scope, attempt.status) == (call_key, cache_scope, "ok"):
                return attempt
        return None

    def next_attempt_no(self, call_key: str, cache_scope: str) -> int:
        """Return the number of the next attempt of a call."""
        return 1 + sum(
            (attempt.call_key, attempt.cache_scope) == (call_key, cache_scope) for attempt in self.attempts
        )

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Record a response."""
        self.responses.append(response)

    def record_attempt(self, attempt: Attempt) -> None:
        """Record an attempt."""
        self.attempts.append(attempt)

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Record rows (scores and failures); a later row replaces an earlier one with the same key."""
        for row in rows:
            self._rows[row.key] = row

    def commit(self) -> None:
        """Do nothing, because records in memory need no commit."""

    commit_attempts = commit


def _evaluation_key(row: Row) -> EvaluationKey:
    return (row.task, row.sample_id, row.repeat, row.outcome.signature, row.item_hash)
