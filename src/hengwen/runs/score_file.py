"""Stored answers in one file, scored into another: streamed, in order, every row accounted for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen import registry
from hengwen._internal.parallel import map_stream
from hengwen.errors import ConfigError, DataError
from hengwen.io.row_reader import DataRow, scan_rows
from hengwen.io.row_writer import JsonRow, check_target, row_writer
from hengwen.protocols import Scorer
from hengwen.records import Response, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

OWN = ("id", "output", "references", "input", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScoreResult:
    """What came of a file."""

    rows: int
    failed: int
    first_failure: str = ""
    """With file and line."""


@dataclass(frozen=True, slots=True)
class RowScorer:
    """Scores one row of a file; travels to worker processes by its fields."""

    name: str
    options: Mapping[str, Any]

    def __call__(self, row: DataRow | DataError) -> JsonRow:
        """Return the row of the result: scores, or a status and a message."""
        if isinstance(row, DataError):
            return self._failure(row.line, "", str(row))
        given = str(row.values.get("id", ""))
        try:
            return {"line": row.number, "id": given, **self._scores(row), **self._said("ok", "")}
        except Exception as error:  # whatever goes wrong with one row, the rest goes on
            known = isinstance(error, ValueError)
            said = str(error) if known else f"{type(error).__name__}: {error}"
            place = said if isinstance(error, DataError) else row.place(said)
            return self._failure(row.number, given, place)

    def _failure(self, line: int | None, given: str, message: str) -> JsonRow:
        return {"line": line, "id": given, **self._said("scorer_error", message)}

    def _said(self, status: str, message: str) -> JsonRow:
        return {"status": status, "message": message, "signature": self.scorer.signature}

    @property
    def scorer(self) -> Scorer:
        """Made once in each process."""
        return build_scorer(self.name, self.options)

    def _scores(self, row: DataRow) -> dict[str, float]:
        output = row.values.get("output")
        if not isinstance(output, str):
            row.fail("field 'output' is missing" if output is None else "field 'output' must be text")
        references = row.values.get("references") or ()
        metadata = row.values.get("metadata")
        others = {name: value for name, value in row.values.items() if name not in OWN}
        sample = Sample(
            id=str(row.values.get("id", row.number)),
            references=(references,) if isinstance(references, str) else tuple(references),
            metadata={**others, **(metadata if isinstance(metadata, dict) else {})},
        )
        outcomes = self.scorer.score(sample, Response(sample_id=sample.id, text=output))
        return {outcome.name: outcome.value for outcome in outcomes if isinstance(outcome, Score)}


_BUILT: dict[tuple[str, str], Scorer] = {}


def build_scorer(name: str, options: Mapping[str, Any]) -> Scorer:
    """Make a scorer of single answers, once in each process.

    Raises:
        ConfigError: It is unknown, an option is, or it scores only sets.
    """
    key = (name, json.dumps(dict(options), sort_keys=True, default=str))
    if key not in _BUILT:
        scorer = registry.build("scorers", name, options)
        if not isinstance(scorer, Scorer):
            raise ConfigError(f"scorer {name!r} scores sets of answers: use it in a plan, with hengwen run")
        _BUILT[key] = scorer
    return _BUILT[key]


def score_file(
    source: Path,
    target: Path,
    *,
    scorer: str = "lyric",
    options: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> FileScoreResult:
    """Score a file of answers into another; memory does not grow with the rows.

    Args:
        source: JSONL or CSV with ``output`` and what the scorer needs (``template``, ``references``).
        target: ``.jsonl`` or ``.csv``: line, id, each score, status (``ok`` or ``scorer_error``), message,
            signature. Written beside itself and moved into place at the end.
        scorer: By name.
        options: Of the scorer.
        columns: Foreign names to ours.
        workers: Processes.
        progress: Told the number of rows done.

    Raises:
        ConfigError: The scorer or an option is unknown, or the target cannot be written.
        DataError: The file as a whole cannot be read.
    """
    names = build_scorer(scorer, options or {}).names
    check_target(target)
    results = map_stream(RowScorer(scorer, dict(options or {})), scan_rows(source, columns), workers=workers)
    rows = failed = 0
    first = ""
    with row_writer(target, ["line", "id", *names, "status", "message", "signature"]) as write:
        for row in results:
            rows += 1
            if row["status"] != "ok":
                failed += 1
                first = first or row["message"]
            write(row)
            if progress is not None:
                progress(rows)
    return FileScoreResult(rows=rows, failed=failed, first_failure=first)
