"""Read the scores of files row by row: whose answer, which score, which value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from hengwen.errors import ConfigError, DataError
from hengwen.importers.columns import JOIN, map_columns
from hengwen.importers.logs import Log
from hengwen.importers.verdicts import DETAILS, Wins, scan_any_rows
from hengwen.io.row_reader import MAX_COUNT, DataRow
from hengwen.records import STATUSES, Failure, Kind, Outcome, Scale, Score
from hengwen.score_id import IMPORTED_TAG, LEVEL, ScoreId
from hengwen.text.numbers import replace_controls, replace_surrogates, short_repr, shorten

MAX_NAME = 200
"""Maximum number of characters of the name of a checkpoint, task, judge or score."""
HEADER_ROWS = 100
"""Number of rows of JSONL whose fields are the columns of the file."""
NORMAL_95 = 1.96
"""Standard errors from a mean to the end of its interval of 95 %."""

MAX_STEP = 10**15
MAX_REASON = 10_000
"""Maximum number of characters of the reason for a score."""
ORIGIN_FIELDS = ("checkpoint", "step", "task", "judge", "name", "rater", "version")
"""Fields that many rows have in common."""
MAX_ORIGINS = 100_000

RunKey = tuple[str, float | None]
"""(checkpoint, step)."""
NO_FAILURE = frozenset({"", "ok", "success", "succeeded", "none", "null", "false", "0", "nan", "finished"})
"""Texts in a column of failures that mean that nothing failed."""
TRUTH = {"true": 1.0, "false": 0.0}
MAX_RAW = 2000
"""Maximum number of characters of an unreadable cell that are kept."""
_RANGE = re.compile(r"(-?[\d.]+)\s*(?:\.\.|-|:)\s*(-?[\d.]+)")


@dataclass(frozen=True, slots=True)
class Table:
    """A table, whose columns are chosen by the user or by their names."""

    path: Path
    notes: list[str] = field(default_factory=list)
    columns: None = None

    def rows(self) -> Iterator[DataRow | DataError]:
        """Yield the rows of the table; for a malformed row, its error."""
        return scan_any_rows(self.path)


ScoreSource = Table | Wins | Log
"""A file that has rows of scores, which can be read several times."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The scale of the scores of a file, and the values of levels with names."""

    scale: Scale | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str | None, *, lower_is_better: bool = False) -> Levels:
        """Read ``1-10`` (a range), ``1,2,3`` (levels) or ``A=3,B=2,C=1`` (levels with names)."""
        if not text:
            if lower_is_better:
                raise ConfigError("lower is better needs a scale: --scale LOW-HIGH")
            return cls()
        limits = _RANGE.fullmatch(text.strip())
        try:
            if limits is not None:
                low, high = float(limits[1]), float(limits[2])
                return cls(Scale(low=low, high=high, higher_is_better=not lower_is_better))
            named = "=" in text
            pairs = [part.rpartition("=") for part in text.split(",")]
            values = {name.strip(): float(value) for name, _, value in pairs}
            levels = tuple(sorted({float(value) for _, _, value in pairs}))
            scale = Scale(low=levels[0], high=levels[-1], levels=levels, higher_is_better=not lower_is_better)
        except ValueError:
            raise ConfigError(
                f"a scale is LOW-HIGH, levels (1,2,3) or names of levels (A=3,B=2,C=1), got {text!r}"
            ) from None
        return cls(scale, values if named else {})

    def number(self, cell: Any) -> float | None:
        """Return the number in a cell; None if there is none."""
        if isinstance(cell, bool):
            return float(cell)
        text = str(cell).strip()
        if text in self.values:
            return self.values[text]
        try:
            value = TRUTH[text.casefold()] if text.casefold() in TRUTH else float(text)
        except (ValueError, OverflowError):
            return None
        return value if isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Reading:
    """How the cells of one score are read."""

    name: str
    kind: Kind
    signature: str
    levels: Levels

    def outcome(
        self, cell: Any, failure: Any = None, reason: str = "", details: Mapping[str, object] | None = None
    ) -> Outcome:
        """Return the score in a cell, or the failure that it, or the column of failures, tells of."""
        problem = "" if failure is None else str(failure).strip()
        if problem.casefold() not in NO_FAILURE:
            status = problem if problem in STATUSES else "scorer_error"
            return self._failure(status, problem[:MAX_RAW])
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return self._failure("parse_error", "the file has no number here")
        value = self.levels.number(cell)
        if value is None:
            return self._failure("parse_error", f"no number: {short_repr(cell)}", str(cell))
        scale = self.levels.scale
        if scale is not None and not scale.holds(value):
            return self._failure("off_scale", f"{value:g} is not on the scale", str(cell))
        return Score(
            name=self.name,
            value=value,
            signature=self.signature,
            scale=scale,
            kind=self.kind,
            reason=replace_surrogates(reason),
            details=details or {},
        )

    def _failure(self, status: Any, message: str, raw: str = "") -> Failure:
        return Failure(
            name=self.name,
            status=status,
            message=replace_surrogates(message),
            signature=self.signature,
            kind=self.kind,
            raw=replace_surrogates(raw[:MAX_RAW]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What the user says about the scores of a file."""

    task: str = "scores"
    judge: str = ""
    scorer: str = ""
    version: str = ""
    checkpoint: str = ""
    baseline: str = ""
    """The model that all others are compared with, if the scores are wins."""
    levels: Levels = field(default_factory=Levels)
    columns: tuple[tuple[str, str], ...] = ()


class ImportedScore(NamedTuple):
    """One score or failure of a file."""

    run: RunKey
    score: ScoreId
    sample_id: str | None
    repeat: int | None
    cluster: str
    outcome: Outcome
    rater: str
    prompt: str
    answer: str
    failed: str = ""
    """File, line and reason of a failure."""


class _Series(NamedTuple):
    """A score that a row of a file has."""

    score: ScoreId
    reading: Reading
    column: str
    error: str


class _Origin(NamedTuple):
    """What many rows have in common."""

    run: RunKey
    task: str
    rater: str
    series: tuple[_Series, ...]


class ScoreFile:
    """A file of scores, which can be read several times."""

    def __init__(self, source: ScoreSource, naming: Naming, file_hash: str) -> None:
        self.path, self.source = source.path, source
        self._naming = naming
        self._file_hash = file_hash
        self.columns = map_columns(_header(source), naming.columns, str(source.path))
        self._readings: dict[tuple[Kind, str, str, str], Reading] = {}
        self.numbered = 0
        """Number of scores that got a number as repeats, because the file has no column of repeats."""
        self.doubles = 0
        """Number of means that repeat an earlier row, which are read once."""
        self.wrong: list[DataError] = []
        """Errors of the rows that cannot be read."""
        self._means: dict[tuple[object, ...], str] = {}
        self._origins: dict[tuple[str, ...], _Origin] = {}
        self._origin_columns = [
            column for field_name in ORIGIN_FIELDS for column in self.columns.fields.get(field_name, ())
        ]

    def scores(self, repeats: dict[tuple[object, ...], int]) -> Iterator[ImportedScore]:
        """Yield the scores; ``repeats`` counts those of all files with the same key."""
        self.numbered = self.doubles = 0
        self.wrong = []
        for row in self.source.rows():
            if isinstance(row, DataError):
                self.wrong.append(row)
                continue
            try:
                items = list(self._row_scores(row, repeats))
            except DataError as error:
                self.wrong.append(error)
                continue
            yield from items

    def _row_scores(self, row: DataRow, repeats: dict[tuple[object, ...], int]) -> Iterator[ImportedScore]:
        columns, origin = self.columns, self._origin(row)
        sample_id = self._name(row, "id") if columns.has("id") else None
        if sample_id == "":
            row.fail(f"{JOIN.join(columns.fields['id'])} is empty: which prompt has this score?")
        stated = self._repeat(row)
        cluster = self._name(row, "cluster") or sample_id or origin.task
        for series in origin.series:
            outcome = self._outcome(row, series)
            key = (origin.run, series.score, sample_id, stated, origin.rater)
            number = repeats[key] = repeats.get(key, 0) + 1
            if number > 1:
                if sample_id is None and self._is_double(row, key, series):
                    continue
                self._check_repeat(row, sample_id, stated)
                self.numbered += 1
            elif sample_id is None:
                self._means[key] = str(row.values.get(series.column))
            yield ImportedScore(
                run=origin.run,
                score=series.score,
                sample_id=sample_id,
                repeat=None if sample_id is None else stated or number,
                cluster=cluster,
                outcome=outcome,
                rater=origin.rater,
                prompt=self._text(row, "prompt"),
                answer=self._text(row, "answer"),
                failed=""
                if isinstance(outcome, Score)
                else row.locate(f"{outcome.name}: {outcome.status}: {outcome.message}"),
            )

    def _origin(self, row: DataRow) -> _Origin:
        """Return what many rows have in common, by the cells that say it."""
        cells = tuple([str(row.values.get(column)) for column in self._origin_columns])
        origin = self._origins.get(cells)
        if origin is None:
            run, judge = self._run(row), self._name(row, "judge", self._naming.judge)
            task, rater = self._name(row, "task", self._naming.task), self._name(row, "rater")
            kind: Kind = "human" if rater else "judge" if judge else "scorer"
            version = self._name(row, "version", self._naming.version)
            series = []
            for column, error in zip(self.columns.scores, self.columns.errors, strict=True):
                score = self._score_id(row, task, judge, column)
                reading = self._reading(kind, score.evaluator, version, score.base)
                of_people = ScoreId(score.task, score.evaluator, score.part, "human")
                series.append(_Series(of_people if rater else score, reading, column, error))
            origin = _Origin(run, task, rater, tuple(series))
            if len(self._origins) < MAX_ORIGINS:
                self._origins[cells] = origin
        return origin

    def _is_double(self, row: DataRow, key: tuple[object, ...], series: _Series) -> bool:
        """Return whether a mean is given twice, with the same value."""
        is_double = self._means.get(key) == str(row.values.get(series.column))
        self.doubles += is_double
        return is_double

    def _check_repeat(self, row: DataRow, sample_id: str | None, stated: int | None) -> None:
        """Raise an error if a row repeats the key of an earlier row and is not another answer."""
        if sample_id is None:
            row.fail(
                "another row has a mean for the same checkpoint, task and score; name the column of prompts: "
                "--columns id=COLUMN, or all columns that tell means apart: --columns task=A+B"
            )
        if stated is not None:
            row.fail(f"another row has the same prompt, repeat {stated}, judge and checkpoint")

    def _run(self, row: DataRow) -> RunKey:
        cell = self.columns.value(row.values, "step")
        step: float | None = None
        if cell not in (None, ""):
            number = Levels().number(cell)
            if number is None:
                row.fail(f"the step must be a number, got {short_repr(cell)}")
            if abs(number) > MAX_STEP:
                row.fail(f"the step is at most {MAX_STEP:,}, got {short_repr(cell)}")
            step = int(number) if number.is_integer() else number
        name = self._name(row, "checkpoint", self._naming.checkpoint)
        if not name:
            if self.columns.has("checkpoint"):
                row.fail(f"{JOIN.join(self.columns.fields['checkpoint'])} is empty: which checkpoint is it?")
            name = self.path.stem if step is None else ""
        return name, step

    def _repeat(self, row: DataRow) -> int | None:
        if not self.columns.has("repeat"):
            return None
        cell = self.columns.value(row.values, "repeat")
        try:
            number = int(float(str(cell)))
        except (ValueError, OverflowError):
            number = 0
        if not 1 <= number <= MAX_COUNT:
            row.fail(f"a repeat counts from 1 to {MAX_COUNT:,}, got {short_repr(cell)}")
        return number

    def _name(self, row: DataRow, field_name: str, default: str = "") -> str:
        cell = self.columns.value(row.values, field_name)
        if cell is None or cell == "":
            return default
        if isinstance(cell, (dict, list)):
            row.fail(f"{field_name} must be text, got {type(cell).__name__}")
        name = replace_controls(str(cell)).strip().replace("\n", " ")
        if len(name) > MAX_NAME:
            row.fail(f"{field_name} is longer than {MAX_NAME} characters: {short_repr(name)}")
        return name

    def _text(self, row: DataRow, field_name: str) -> str:
        cell = self.columns.value(row.values, field_name)
        return "" if cell is None else cell if isinstance(cell, str) else str(cell)

    def _score_id(self, row: DataRow, task: str, judge: str, column: str) -> ScoreId:
        """Return the identity of a score: a judge's level or a part of it, or a score by its own name."""
        name = self._name(row, "name")
        parts = [name] if name else []
        if len(self.columns.scores) > 1:
            parts.append(column)
        part = ".".join(parts)
        if judge:
            return ScoreId(task, judge, part or LEVEL)
        return ScoreId(task, self._naming.scorer, part or ("" if self._naming.scorer else column))

    def _outcome(self, row: DataRow, series: _Series) -> Outcome:
        cell = row.values.get(series.column)
        return series.reading.outcome(
            cell,
            self.columns.value(row.values, "failure"),
            shorten(self._text(row, "reason"), MAX_REASON),
            row.values.get(DETAILS) if self.columns.has("id") else self._interval(row, cell, series.error),
        )

    def _interval(self, row: DataRow, cell: Any, error: str) -> dict[str, object] | None:
        """Return the interval of a mean from its standard error, and the number of prompts."""
        details: dict[str, object] = {}
        levels = self._naming.levels
        mean, stderr = levels.number(cell), levels.number(row.values.get(error)) if error else None
        if mean is not None and stderr is not None and stderr >= 0:
            details = {"ci": [mean - NORMAL_95 * stderr, mean + NORMAL_95 * stderr], "level": 0.95}
        cases = levels.number(self.columns.value(row.values, "n")) if self.columns.has("n") else None
        if cases is not None and cases >= 1:
            details |= {"prompts": int(cases), "answers": int(cases)}
        return details

    def _reading(self, kind: Kind, evaluator: str, version: str, name: str) -> Reading:
        key = (kind, evaluator, version, name)
        reading = self._readings.get(key)
        if reading is None:
            # without a version, only the file itself says that its scores were given in one way
            source = f"version:{version}" if version else f"file:{self._file_hash[:12]}"
            against = f"|over:{self._naming.baseline}" if self._naming.baseline else ""
            of = f"{evaluator or name}{IMPORTED_TAG}{source}{against}|v:1"
            reading = self._readings[key] = Reading(name, kind, of, self._naming.levels)
        return reading


def _header(source: ScoreSource) -> Sequence[str]:
    rows = list(islice(source.rows(), HEADER_ROWS))
    header = dict.fromkeys(name for row in rows if not isinstance(row, DataError) for name in row.values)
    if not header:
        raise next((row for row in rows if isinstance(row, DataError)), DataError(f"{source.path}: no rows"))
    return [name for name in header if name is not DETAILS]
