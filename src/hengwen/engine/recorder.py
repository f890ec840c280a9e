"""Record the results of a run, and find out which evaluations are already completed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hengwen.engine.evaluate import Evaluator
from hengwen.engine.job import Item, Job
from hengwen.engine.metered_backend import Committer
from hengwen.protocols import CompletedIndex, EvaluationKey, Ledger
from hengwen.records import Attempt, Failure, Outcome, Response, Row, Run, Sample
from hengwen.score_id import Role


class ItemKey(NamedTuple):
    """Identity of a response, or of a group of them (``repeat`` is None), to evaluate by any signature."""

    task: str
    sample: Sample | None
    repeat: int | None
    item_hash: str

    @classmethod
    def of(cls, task: str, item: Item) -> ItemKey:
        """Return the key of one response."""
        return cls(task, item.sample, item.response.repeat, item.hash)

    def with_signature(self, signature: str) -> EvaluationKey:
        """Return the key under which the scores of the scorer or judge with this signature are stored."""
        sample_id = self.sample.id if self.sample else None
        return (self.task, sample_id, self.repeat, signature, self.item_hash)


class Recorder:
    """Write the responses and results of one run to a ledger, and reuse results that the ledger has."""

    def __init__(self, job: Job, ledger: Ledger, committer: Committer) -> None:
        self._run = job.run
        self._fresh = job.fresh
        self._ledger = ledger
        self._committer = committer
        self._completed: CompletedIndex = ledger.done(job.run)

    def record_response(self, sample: Sample, response: Response) -> None:
        """Record a response and its sample."""
        self._ledger.record_response(self._run.id, sample, response)
        self._committer.schedule_commit()

    def record(
        self, item_key: ItemKey, evaluator: Evaluator, outcomes: Sequence[Outcome], role: Role = "answer"
    ) -> None:
        """Record the scores and failures that one scorer or judge gave."""
        task, sample, repeat, item_hash = item_key
        run_id, checkpoint = self._run.id, self._run.checkpoint
        sample_id, cluster = (sample.id, sample.cluster) if sample else (None, task)
        scores = evaluator.scores(task, role)
        self.record_rows(
            [
                Row(run_id, scores[outcome.name], checkpoint, sample_id, repeat, cluster, outcome, item_hash)
                for outcome in outcomes
            ]
        )

    def record_rows(self, rows: Sequence[Row]) -> None:
        """Record rows (scores and failures with their keys)."""
        self._ledger.record_rows(rows)
        self._committer.schedule_commit()

    def is_completed(self, item_key: ItemKey, evaluator: Evaluator, *, same_run_only: bool = False) -> bool:
        """Whether all scores of an evaluator exist already; copy those of earlier runs into this run."""
        if not self._completed:
            return False
        sources: dict[EvaluationKey, str] = {}
        for signature in evaluator.signatures:
            key = item_key.with_signature(signature)
            source = self._source_run(key, same_run_only=same_run_only)
            if source is None:
                return False
            sources[key] = source
        for key, source in sources.items():
            if source != self._run.id:
                self._ledger.adopt(self._run.id, source, key)
                self._committer.schedule_commit()
        return True

    def stored_outcomes(self, item_key: ItemKey, signature: str) -> Sequence[Outcome] | None:
        """Return the stored scores and failures to reuse for a signature; None if there are none."""
        if not self._completed:
            return None
        key = item_key.with_signature(signature)
        source = self._source_run(key)
        return None if source is None else self._ledger.read(source, key)

    def _source_run(self, key: EvaluationKey, *, same_run_only: bool = False) -> str | None:
        """Return the id of a run whose stored scores may be reused for a key; None if there is none."""
        source = self._completed.get(key)
        if (same_run_only or self._fresh) and source != self._run.id:
            return None
        return source


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
