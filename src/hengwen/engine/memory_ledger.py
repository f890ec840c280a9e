"""A ledger that lives as long as its process: for notebooks and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.records import Failure, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.protocols import EvaluationKey
    from hengwen.records import Attempt, Outcome, Response, Run, Sample

RowKey = tuple[str, str, str | None, int | None, str]


class MemoryLedger:
    """Keeps everything in dicts. See ``hengwen.protocols.Ledger``."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}
        self.responses: list[Response] = []
        self.attempts: list[Attempt] = []
        self._rows: dict[RowKey, Row] = {}

    @property
    def rows(self) -> list[Row]:
        """All rows, in the order in which their places first came."""
        return list(self._rows.values())

    def begin(self, run: Run) -> None:
        """Keep the run."""
        self.runs[run.id] = run

    def done(self, run: Run) -> dict[EvaluationKey, str]:
        """What is settled, in this run or in another of the same plan and checkpoint."""
        series = [r.id for r in self.runs.values() if (r.plan, r.checkpoint) == (run.plan, run.checkpoint)]
        found: dict[EvaluationKey, str] = {}
        open_keys: set[tuple[str, EvaluationKey]] = set()
        for row in self.rows:
            if row.run_id in series:
                outcome = row.outcome
                key = (row.task, row.sample_id, row.repeat, outcome.signature, row.item_hash)
                if isinstance(outcome, Failure) and outcome.status != "not_applicable":
                    open_keys.add((row.run_id, key))
                elif found.get(key) != run.id:
                    found[key] = row.run_id
        return {key: source for key, source in found.items() if (source, key) not in open_keys}

    def adopt(self, run_id: str, source: str, key: EvaluationKey) -> None:
        """Copy rows from an earlier run."""
        self.record_rows([row._replace(run_id=run_id) for row in self._behind(source, key)])

    def read(self, run_id: str, key: EvaluationKey) -> list[Outcome]:
        """The outcomes behind a key that a run holds."""
        return [row.outcome for row in self._behind(run_id, key)]

    def _behind(self, run_id: str, key: EvaluationKey) -> list[Row]:
        return [
            row
            for row in self.rows
            if row.run_id == run_id
            and (row.task, row.sample_id, row.repeat, row.outcome.signature, row.item_hash) == key
        ]

    def find_call(self, call_key: str, scope: str) -> Attempt | None:
        """The good attempt at this call, if there is one."""
        for attempt in self.attempts:
            if (attempt.call_key, attempt.scope, attempt.status) == (call_key, scope, "ok"):
                return attempt
        return None

    def next_number(self, call_key: str, scope: str) -> int:
        """The number of the next attempt at this call."""
        return 1 + sum((a.call_key, a.scope) == (call_key, scope) for a in self.attempts)

    def record_response(self, run_id: str, sample: Sample, response: Response) -> None:
        """Keep an answer."""
        self.responses.append(response)

    def record_attempt(self, attempt: Attempt) -> None:
        """Keep an attempt."""
        self.attempts.append(attempt)

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Keep rows; later ones replace earlier ones at the same place."""
        for row in rows:
            self._rows[(row.run_id, row.task, row.sample_id, row.repeat, row.outcome.name)] = row

    def commit(self) -> None:
        """Nothing is durable here."""

    def commit_attempts(self) -> None:
        """Nothing is durable here."""
