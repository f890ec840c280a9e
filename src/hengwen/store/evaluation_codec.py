"""Convert rows (scores and failures) to table rows of evaluations, and back.

An evaluation has all that one scorer or judge gave one answer or group of answers. What its evaluations have
in common is stored once, in the table ``evaluator``. ``notes`` is a JSON list with an entry for each score:
``[reason, details]``, or ``[message, raw reply]`` of a failure, or 0 if empty; zeros at the end are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from hengwen.records import (
    Attempt,
    Failure,
    Kind,
    Outcome,
    Response,
    Row,
    Run,
    Sample,
    Scale,
    Score,
    Usage,
    digest,
)
from hengwen.score_id import Role, ScoreId
from hengwen.text.numbers import replace_surrogates, without_fraction

if TYPE_CHECKING:
    from sqlalchemy import RowMapping


Columns = dict[str, Any]
Note = tuple[str, Any]
"""(reason, details) of a score, or (message, raw reply) of a failure."""

MAX_RECENT_NOTES = 10_000
"""Number of recent notes with which a note is compared, so that equal notes are stored once."""
NO_NOTE: Note = ("", None)
TEXT_COLUMNS = ("task", "name", "role", "kind", "signature")
"""Columns of the table ``evaluator`` with the first fields of an ``Evaluator``."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str, separators=(",", ":"))


class Evaluator(NamedTuple):
    """A scorer or judge as it was applied in a task."""

    task: str
    name: str
    role: Role
    kind: Kind
    signature: str
    parts: tuple[str, ...]
    """Parts of the scores that the scorer or judge gives."""
    scales: tuple[Scale | None, ...]
    """Scale of each score; None if the score has no scale, or has only failed so far."""

    @property
    def scores(self) -> list[ScoreId]:
        """Identities of the scores."""
        return [ScoreId(self.task, self.name, part, self.role) for part in self.parts]


class EvaluationEncoder:
    """Convert rows (scores and failures) to rows of the table ``evaluation``."""

    # The table rows refer by id to evaluators (scorers and judges) and to shared notes (reasons and
    # messages). New evaluators and notes are collected in `new_evaluators` and `new_notes`.

    def __init__(self) -> None:
        self.new_evaluators: dict[int, Columns] = {}
        """Evaluators that were first used since the last call of ``forget_new``, by id."""
        self.new_notes: dict[int, str] = {}
        """Texts of notes to which evaluations first referred since the last call of ``forget_new``, by id."""
        self._ids: dict[Evaluator, tuple[int, int]] = {}
        self._scales: dict[tuple[object, ...], tuple[Scale | None, ...]] = {}
        self._recent_notes: OrderedDict[int, bool] = OrderedDict()

    def forget_new(self) -> None:
        """Empty ``new_evaluators`` and ``new_notes``; call this after their content is in the database."""
        self.new_evaluators, self.new_notes = {}, {}

    def encode(self, rows: Iterable[Row]) -> Iterator[Columns]:
        """Yield the table row of each evaluation."""
        evaluations: dict[tuple[object, ...], dict[str, Row]] = {}
        for row in rows:
            run_id, (task, name, part, role), _, sample_id, repeat, _, outcome, _ = row
            label = part if outcome.kind == "human" else ""  # labels may be added one by one
            key = run_id, task, name, role, sample_id, repeat, outcome.kind, outcome.signature, label
            evaluations.setdefault(key, {})[part] = row
        for rows_by_part in evaluations.values():
            yield self._encode(list(rows_by_part.values()))

    def _encode(self, rows: list[Row]) -> Columns:
        first = rows[0]
        outcomes = [row.outcome for row in rows]
        evaluator_id, series_id = self._evaluator(rows)
        has_failure = any(isinstance(outcome, Failure) for outcome in outcomes)
        notes_id, notes = self._share(_notes_text(outcomes))
        sample_id = first.sample_id or ""
        return {
            "run_id": first.run_id,
            "series_id": series_id,
            "sample_id": sample_id,
            "repeat": first.repeat or 0,
            "evaluator_id": evaluator_id,
            "cluster": "" if first.cluster == sample_id else first.cluster,
            "item_hash": first.item_hash,
            "statuses": _ENCODER.encode([_status(outcome) for outcome in outcomes]) if has_failure else "",
            "numbers": "[" + ",".join(map(_number, outcomes)) + "]",
            "notes_id": notes_id,
            "notes": notes,
        }

    def _evaluator(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Return the id of the evaluator of these rows, and a hash of its task, name, role and first part."""
        (task, name, _, role), outcome = rows[0].score, rows[0].outcome
        parts = tuple([row.score.part for row in rows])
        identity = task, name, role, outcome.kind, outcome.signature, parts
        known = self._scales.get(identity, (None,) * len(parts))
        scales = tuple(
            row.outcome.scale if isinstance(row.outcome, Score) else scale
            for row, scale in zip(rows, known, strict=True)
        )
        evaluator = Evaluator(*identity, scales)
        ids = self._ids.get(evaluator)
        if ids is None:
            self._scales[identity] = scales
            columns = evaluator_columns(evaluator)
            ids = self._ids[evaluator] = columns["id"], hash_id(task, name, role, min(parts))
            self.new_evaluators[columns["id"]] = columns
        return ids

    def _share(self, notes: str) -> tuple[int | None, str]:
        """Return (id, "") for notes that were encoded before, and (None, notes) for notes that were not."""
        if not notes:
            return None, ""
        notes_id = hash_id(notes)
        is_repeated = notes_id in self._recent_notes
        is_written = self._recent_notes.pop(notes_id, False)
        self._recent_notes[notes_id] = is_repeated
        if not is_repeated:
            if len(self._recent_notes) > MAX_RECENT_NOTES:
                self._recent_notes.popitem(last=False)
            return None, notes
        if not is_written:
            self.new_notes[notes_id] = notes
        return notes_id, ""


def hash_id(*parts: str) -> int:
    """Return a number in [0, 2^60) that is the same for equal texts in every process."""
    text = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 4


def evaluator_columns(evaluator: Evaluator) -> Columns:
    """Return the table row of an evaluator."""
    scales = [None if scale is None else asdict(scale) for scale in evaluator.scales]
    texts = {name: str(getattr(evaluator, name)) for name in TEXT_COLUMNS}
    scores = _ENCODER.encode(list(zip(evaluator.parts, scales, strict=True)))
    return {"id": hash_id(*texts.values(), scores), **texts, "scores": scores}


def evaluator_from(columns: RowMapping) -> Evaluator:
    """Convert a table row to an ``Evaluator``."""
    scores = json.loads(columns["scores"])
    return Evaluator(
        **{name: columns[name] for name in TEXT_COLUMNS},
        parts=tuple(part for part, _ in scores),
        scales=tuple(scale and _scale(**scale) for _, scale in scores),
    )


def notes_from(text: str, count: int) -> list[Note]:
    """Return the notes of an evaluation."""
    notes = json.loads(text) if text else []
    return [tuple(note) if note else NO_NOTE for note in notes] + [NO_NOTE] * (count - len(notes))


def statuses_from(text: str, count: int) -> list[Any]:
    """Return the status of each score of an evaluation, from the stored JSON text, which may be empty."""
    return json.loads(text) if text else ["ok"] * count


def outcomes_from(evaluator: Evaluator, statuses: str, numbers: str, notes: str) -> list[Outcome]:
    """Return the scores and failures of an evaluation."""
    count = len(evaluator.parts)
    parts = zip(
        [score.base for score in evaluator.scores],
        evaluator.scales,
        statuses_from(statuses, count),
        json.loads(numbers),
        notes_from(notes, count),
        strict=True,
    )
    return [
        Score(
            name=name,
            value=number,
            signature=evaluator.signature,
            scale=scale,
            kind=evaluator.kind,
            reason=text,
            details=more or {},
        )
        if status == "ok"
        else Failure(
            name=name,
            status=status,
            message=text,
            signature=evaluator.signature,
            kind=evaluator.kind,
            raw=more or "",
        )
        for name, scale, status, number, (text, more) in parts
    ]


def rows_from(columns: RowMapping, evaluator: Evaluator, checkpoint: str) -> Iterator[Row]:
    """Yield the rows (scores and failures with the key of their answer) of an evaluation."""
    outcomes = outcomes_from(evaluator, columns["statuses"], columns["numbers"], columns["notes"])
    for score, outcome in zip(evaluator.scores, outcomes, strict=True):
        yield Row(
            run_id=columns["run_id"],
            score=score,
            checkpoint=checkpoint,
            sample_id=columns["sample_id"] or None,
            repeat=columns["repeat"] or None,
            cluster=columns["cluster"] or columns["sample_id"],
            outcome=outcome,
            item_hash=columns["item_hash"],
        )


def _status(outcome: Outcome) -> str:
    return "ok" if isinstance(outcome, Score) else outcome.status


def _number(outcome: Outcome) -> str:
    return repr(float(outcome.value)) if isinstance(outcome, Score) else "null"


def _notes_text(outcomes: Sequence[Outcome]) -> str:
    notes = [_note(outcome) for outcome in outcomes]
    while notes and not notes[-1]:
        notes.pop()
    return replace_surrogates(_ENCODER.encode(notes)) if notes else ""


def _note(outcome: Outcome) -> list[object] | int:
    text: str
    more: object
    if isinstance(outcome, Score):
        text, more = outcome.reason, dict(outcome.details)
    else:
        text, more = outcome.message, _without_nul(outcome.raw)
    return [_without_nul(text), more or 0] if text or more else 0


def _without_nul(text: str) -> str:
    return text.replace("\x00", "\ufffd") if "\x00" in text else text


def _scale(levels: list[float] | None, **values: Any) -> Scale:
    return Scale(levels=None if levels is None else tuple(levels), **values)


_ENCODER_RECORD_CODEC = json.JSONEncoder(ensure_ascii=False, default=str)
_RUN_MAPPINGS = ("versions", "reducers", "facts")
USAGE_FIELDS = tuple(Usage.__dataclass_fields__)
_ATTEMPT_FIELDS = tuple(name for name in Attempt.__dataclass_fields__ if name != "usage")
_attempt_values = attrgetter(*_ATTEMPT_FIELDS)


def to_json(value: object) -> str:
    """Return the value as JSON text that every database can store."""
    if not value and isinstance(value, (dict, list, tuple)):
        return "{}" if isinstance(value, dict) else "[]"
    return storable_text(_ENCODER_RECORD_CODEC.encode(value))


def storable_text(text: str) -> str:
    """Return text that every database can store: lone surrogates and NUL become U+FFFD."""
    return replace_surrogates(text).replace("\x00", "\ufffd")


def run_columns(run: Run) -> dict[str, Any]:
    """Return the columns of a run."""
    columns = asdict(run)
    columns["position"] = columns.pop("order")
    columns["layout"] = to_json(columns.pop("score_order"))
    return columns | {name: to_json(dict(getattr(run, name))) for name in _RUN_MAPPINGS}


def run_from(columns: RowMapping) -> Run:
    """Convert a table row to a ``Run`` record."""
    values = dict(columns)
    values["order"] = values.pop("position")
    values["step"] = None if values["step"] is None else without_fraction(values["step"])
    values["score_order"] = tuple(json.loads(values.pop("layout")))
    return Run(**values | {name: json.loads(values[name]) for name in _RUN_MAPPINGS})


def sample_columns(sample: Sample) -> dict[str, Any]:
    """Return the columns of a sample."""
    return {
        "hash": sample.hash,
        "sample_id": sample.id,
        "input": to_json(sample.input),
        "references": to_json(sample.references),
        "metadata": to_json(dict(sample.metadata)),
    }


def sample_from(columns: RowMapping) -> Sample:
    """Convert an answer's table row, joined with that of its sample, to a ``Sample`` record."""
    sample_input = json.loads(columns["input"])
    if not isinstance(sample_input, str):
        sample_input = tuple((role, content) for role, content in sample_input)
    return Sample(
        id=columns["sample_id"],
        input=sample_input,
        references=tuple(json.loads(columns["references"])),
        metadata=json.loads(columns["sample_metadata"]),
        task=columns["task"],
    )


def response_columns(run_id: str, sample: Sample, response: Response) -> dict[str, Any]:
    """Return the columns of an answer."""
    return {
        "run_id": run_id,
        "task": response.task,
        "sample_id": response.sample_id,
        "repeat": response.repeat,
        "sample_hash": sample.hash,
        "text": storable_text(response.text),
        "metadata": to_json(dict(response.metadata)),
    }


def attempt_columns(attempt: Attempt, encoder: PromptEncoder) -> dict[str, Any]:
    """Return the columns of an attempt (a sent call)."""
    columns: dict[str, Any] = dict(zip(_ATTEMPT_FIELDS, _attempt_values(attempt), strict=True))
    messages = [
        (role, encoder.encode(storable_text(content))) for role, content in attempt.request["messages"]
    ]
    columns["request"] = to_json({**attempt.request, "messages": messages})
    columns["raw"] = storable_text(attempt.raw)
    columns["extras"] = to_json(dict(attempt.extras)) if attempt.extras else ""
    return columns | {name: getattr(attempt.usage, name) for name in USAGE_FIELDS}


def attempt_from(columns: RowMapping, prompts: Mapping[str, str]) -> Attempt:
    """Convert a table row to an ``Attempt`` record (a sent call) with the prompts of ``prompt_keys``."""
    values = dict(columns)
    usage = Usage(**{name: values.pop(name) for name in USAGE_FIELDS})
    request = json.loads(values["request"])
    messages = [
        (role, prompts[content["begins"]][: content["length"]] + str(content["rest"]))
        if isinstance(content, dict)
        else (role, content)
        for role, content in request["messages"]
    ]
    values["request"] = {**request, "messages": messages}
    values["extras"] = json.loads(values["extras"]) if values["extras"] else {}
    return Attempt(**values, usage=usage)


def prompt_keys(columns: RowMapping) -> set[str]:
    """Return the keys in the table ``prompt`` of the texts to which a stored attempt (a sent call) refers."""
    messages = json.loads(columns["request"])["messages"]
    return {content["begins"] for _, content in messages if isinstance(content, dict)}


MIN_LENGTH = 400
"""Minimum number of leading characters that two texts must share for one to refer to the other."""
MAX_RECENT = 32
"""Number of texts that are kept in memory to be referred to."""


class PromptEncoder:
    """Encode a text as a reference to the first text that begins like it, as all prompts of a judge do.

    What is not shared stays readable for SQL: the viewer finds the calls about an answer by its text.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._new: dict[str, str] = {}

    def encode(self, text: str) -> str | dict[str, Any]:
        """Return the key of a text, the number of characters to take from it, and those that follow."""
        beginning = text[:MIN_LENGTH]
        if len(beginning) < MIN_LENGTH:
            return text
        first = self._first.pop(beginning, "")
        length = _shared_length(first, text)
        if length < len(text) // 2:
            self._first[beginning] = text
            self._keys.pop(beginning, None)
            if len(self._first) > MAX_RECENT:
                oldest = next(iter(self._first))
                del self._first[oldest]
                self._keys.pop(oldest, None)
            return text
        self._first[beginning] = first  # now the last one to be forgotten
        key = self._keys.get(beginning)
        if key is None:
            key = self._keys[beginning] = digest(first)
            self._new[key] = first
        return {"begins": key, "length": length, "rest": text[length:]}

    def drain(self) -> dict[str, str]:
        """Return, by key, the texts that were first referred to since the last call of ``drain``."""
        new, self._new = self._new, {}
        return new


def _shared_length(first: str, text: str) -> int:
    """Return the number of leading characters that two texts share, by bisection."""
    low, high = 0, min(len(first), len(text)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == text[low:middle]:
            low = middle
        else:
            high = middle
    return low
