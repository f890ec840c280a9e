"""Score or judge the answers in one file, and write the outcomes to another file, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hengwen._internal.plugins import describe_error
from hengwen._internal.workers import Engine, map_stream
from hengwen.errors import ConfigError, DataError
from hengwen.io.output_files import JsonRow, check_target, row_writer
from hengwen.io.row_reader import DataRow, rename_columns, scan_rows
from hengwen.plans.load_scorer import load_scorer
from hengwen.plans.overrides import files_in, resolve_plan
from hengwen.plans.plan import Plan
from hengwen.protocols import Scorer
from hengwen.records import Response, Run, Sample, Score
from hengwen.runs.options import RunOptions
from hengwen.runs.run_plan import RunResult, run_resolved
from hengwen.store import store_files
from hengwen.store.store import Store

KNOWN_FIELDS = ("id", "output", "references", "input", "metadata")
"""Fields of a row with a fixed meaning; all other fields become metadata of the sample."""
LOCATION_FIELDS = ("line", "id")
STATUS_FIELDS = ("status", "message", "signature")
SOURCE_PREFIX = "source."
"""Prefix for the output name of an input column that has the same name as an output field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScoreResult:
    """Result of scoring a file: the number of rows, and how many of them failed."""

    rows: int
    failed: int
    first_failure: str = ""
    """Message of the first failure, with file and line."""


@dataclass(frozen=True)
class RowScorer:
    """Scores one row of a file at a time. The object is pickled and sent to worker processes."""

    name: str
    options: Mapping[str, Any]
    columns: Mapping[str, str] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[RowScorer], tuple[object, ...]]:
        return RowScorer, (self.name, self.options, self.columns)  # each process builds the scorer itself

    def __call__(self, row: DataRow | DataError) -> JsonRow:
        """Return the output row: line, id, scores (unless scoring failed), status, and the input columns."""
        if isinstance(row, DataError):
            return self._failure(row.line, "", str(row))
        renamed = rename_columns(row, self.columns) if self.columns else row
        if isinstance(renamed, DataError):
            return self._failure(row.number, str(row.values.get("id", "")), str(renamed)) | self._source(row)
        return self._score(renamed) | self._source(row)

    def failed_row(self, row: DataRow | DataError, message: str) -> JsonRow:
        """Return the output row for a row that could not be scored: the message, then the input columns."""
        if isinstance(row, DataError):
            return self._failure(row.line, "", str(row))
        renamed = rename_columns(row, self.columns)
        values = row.values if isinstance(renamed, DataError) else renamed.values
        return self._failure(row.number, str(values.get("id", "")), row.locate(message)) | self._source(row)

    def _source(self, row: DataRow) -> JsonRow:
        """Return the columns of an input row, except ``id``, by the names that they have in the output."""
        return {self.output_name(name): value for name, value in row.values.items() if name != "id"}

    def output_name(self, column: str) -> str:
        """Return the output name of an input column; if an output field has this name, add ``source.``."""
        rest = column
        while rest not in self.fields and rest.startswith(SOURCE_PREFIX):
            rest = rest.removeprefix(SOURCE_PREFIX)
        return f"{SOURCE_PREFIX}{column}" if rest in self.fields else column

    def _score(self, row: DataRow) -> JsonRow:
        row_id = str(row.values.get("id", ""))
        try:
            return {"line": row.number, "id": row_id, **self._scores(row), **self._status("ok", "")}
        except DataError as error:
            return self._failure(row.number, row_id, str(error))
        except Exception as error:  # a failure in one row must not stop the other rows
            _, message, _ = describe_error(error)
            return self._failure(row.number, row_id, row.locate(message))

    def _failure(self, line: int | None, row_id: str, message: str) -> JsonRow:
        return {"line": line, "id": row_id, **self._status("scorer_error", message)}

    def _status(self, status: str, message: str) -> JsonRow:
        return {"status": status, "message": message, "signature": self.scorer.signature}

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer."""
        return build_scorer(self.name, self.options)

    @cached_property
    def fields(self) -> list[str]:
        """Names of the fields of the output, without the columns of the input."""
        return [*LOCATION_FIELDS, *self.scorer.names, *STATUS_FIELDS]

    def _scores(self, row: DataRow) -> dict[str, float]:
        output = row.values.get("output")
        if not isinstance(output, str):
            row.missing("output", "text")
        references = row.values.get("references") or []
        if not isinstance(references, (str, list)):
            row.fail(f"field 'references' must be a text or a list of texts, got {type(references).__name__}")
        metadata = row.values.get("metadata")
        others = {name: value for name, value in row.values.items() if name not in KNOWN_FIELDS}
        sample = Sample(
            id=str(row.values.get("id", row.number)),
            references=(references,)
            if isinstance(references, str)
            else tuple(text for text in references if text is not None),
            metadata={**others, **(metadata if isinstance(metadata, dict) else {})},
        )
        outcomes = self.scorer.score(sample, Response(sample_id=sample.id, text=output))
        return {outcome.name: outcome.value for outcome in outcomes if isinstance(outcome, Score)}


def build_scorer(name: str, options: Mapping[str, Any]) -> Scorer:
    """Return a scorer of single answers."""
    scorer = load_scorer(name, options)
    if not isinstance(scorer, Scorer):
        raise ConfigError(f"scorer {name!r} scores sets of answers; use it in a plan, with hengwen run")
    return scorer


def score_file(
    source: Path,
    target: Path,
    *,
    scorer: str = "lyric",
    options: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    workers: int | None = 1,
    engine: Engine = "local",
    progress: Callable[[int], None] | None = None,
) -> FileScoreResult:
    """Score a file of answers and write the scores to another file; memory does not grow with the rows."""
    check_target(target, [source, *files_in(options or {})])
    row_scorer = RowScorer(scorer, dict(options or {}), dict(columns or {}))
    header = list(row_scorer.fields)
    if target.suffix.lower() == ".csv":  # a CSV header needs all column names first
        header += [row_scorer.output_name(name) for name in _column_names(source) if name != "id"]
    scored = map_stream(
        row_scorer, scan_rows(source), workers=workers, crashed=row_scorer.failed_row, engine=engine
    )
    return _write(scored, target, header, progress)


def _write(
    rows: Iterable[JsonRow],
    target: Path,
    header: list[str],
    progress: Callable[[int], None] | None = None,
) -> FileScoreResult:
    """Write rows to a file, and count them."""
    count = failed = 0
    first_failure = ""
    with row_writer(target, header) as write:
        for count, row in enumerate(rows, 1):
            if row["status"] != "ok":
                failed += 1
                first_failure = first_failure or row.get("message") or row.get("reason", "")
            write(row)
            if progress is not None:
                progress(count)
    return FileScoreResult(rows=count, failed=failed, first_failure=first_failure)


def _column_names(source: Path) -> list[str]:
    names: dict[str, None] = {}
    for row in scan_rows(source):
        if isinstance(row, DataRow):
            names.update(dict.fromkeys(row.values))
            if source.suffix.lower() == ".csv":  # all rows of a CSV file have the columns of its header
                break
    return list(names)


TASK = "answers"
CHECKPOINT = "file"


def judge_file(  # noqa: PLR0913 - keyword-only options
    source: Path,
    target: Path,
    *,
    rubric: str,
    store: Store,
    judge: str | None = None,
    base_url: str | None = None,
    columns: Mapping[str, str] | None = None,
    language: str = "zh",
    options: RunOptions | None = None,
) -> tuple[FileScoreResult, RunResult]:
    """Judge a file of answers by a rubric; answers that were judged before are not judged again."""
    check_target(target, [source, *files_in({"rubric": rubric}), *store_files(store.name)])
    path = str(source.resolve())
    plan = Plan.model_validate(
        {
            "name": _plan_name(source),
            "tasks": [
                {
                    "name": TASK,
                    "samples": path,
                    "columns": dict(columns or {}),
                    "judges": [{"rubric": rubric, "language": language}],
                }
            ],
            "checkpoints": [{"name": CHECKPOINT, "responses": path, "columns": dict(columns or {})}],
        }
    )
    result = run_resolved(resolve_plan(plan, judge=judge, base_url=base_url), store, options or RunOptions())
    scores = {score.address: score for score in store.statuses(result.runs)}
    names = [scores[address].name for address in result.runs[0].score_order if address in scores]
    header = ["id", "repeat", *names, "status", "reason", "signature"]
    try:
        return _write(_judged_rows(store, result.runs[0], names[0]), target, header), result
    except ConfigError as error:
        raise ConfigError(
            f"{error}; the verdicts are in {store.name}, the same command writes them"
        ) from None


def _plan_name(source: Path) -> str:
    stem = "".join(char if char.isalnum() or char in "_-." else "-" for char in source.stem)
    return f"judge-{stem}"[:100]


def _judged_rows(store: Store, run: Run, level_name: str) -> Iterator[JsonRow]:
    for answer in store.answers(run):
        outcomes = {score.name: outcome for score, outcome in answer.outcomes.items()}
        level = outcomes.get(level_name)
        if level is None:
            continue
        scores: dict[str, Any] = {
            name: outcome.value for name, outcome in outcomes.items() if isinstance(outcome, Score)
        }
        yield {
            "id": answer.sample_id,
            "repeat": answer.repeat,
            **scores,
            "status": "ok" if isinstance(level, Score) else level.status,
            "reason": level.reason if isinstance(level, Score) else level.message,
            "signature": level.signature,
        }
