"""Which column of a file has which field of a score: as the user says, otherwise by the names of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hengwen.errors import ConfigError, did_you_mean

ALIASES: dict[str, tuple[str, ...]] = {
    "score": ("judge_score", "rating", "grade", "value", "points", "mark", "verdict"),
    "id": (
        *("sample_id", "prompt_id", "question_id", "item_id", "example_id", "instance_id", "doc_id"),
        *("instruction_id", "session_id", "session", "qid", "uid", "idx", "instruction"),
    ),
    "checkpoint": ("ckpt", "model", "model_name", "model_id", "generator", "system"),
    "step": ("global_step", "training_step", "iteration"),
    "task": ("dataset", "benchmark", "subset"),
    "judge": ("judge_name", "judge_model", "annotator", "grader", "evaluator"),
    "name": ("metric", "criterion", "dimension", "aspect", "score_name"),
    "rater": ("rater_id", "labeler", "labeller", "human", "worker_id"),
    "repeat": ("trial", "attempt", "sample_index", "repetition"),
    "cluster": ("group", "user_id", "song_id"),
    "failure": ("error", "error_message", "status"),
    "reason": ("explanation", "rationale", "comment"),
    "stderr": ("se", "std_err", "standard_error", "score_stderr"),
    "n": ("count", "n_samples", "num_samples", "n_total"),
    "prompt": ("input", "question"),
    "answer": ("output", "response", "completion", "generation"),
    "version": ("judge_version",),
}
"""Names of the fields of scores, with other names by which a column is recognized."""
VERDICTS: dict[str, tuple[str, ...]] = {
    "winner": ("verdict",),
    "model_a": ("model_1", "generator_1"),
    "model_b": ("model_2", "generator_2"),
    "question": ("question_id", "id", *ALIASES["id"]),
    "judge": ALIASES["judge"],
    "rater": ALIASES["rater"],
    "turn": (),
    "first": ("shown_first",),
    "preference": (),
    "length_a": (),
    "length_b": (),
    "prompt": ALIASES["prompt"],
    "answer_a": ("response_a", "output_1"),
    "answer_b": ("response_b", "output_2"),
}
"""The same for verdicts on pairs of answers."""
MAX_LISTED = 12
"""Maximum number of columns that an error message lists."""
JOIN = "+"
"""Joins the names of columns whose values together are a field, such as ``task=task+shots``."""


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of each field; a field may be several columns, whose values are joined."""

    fields: Mapping[str, tuple[str, ...]]
    scores: tuple[str, ...]
    """Columns with scores; of several, each is a score with the name of its column."""
    errors: tuple[str, ...]
    """For each column with scores, the column with the standard errors, or an empty text."""
    unused: tuple[str, ...] = ()

    def has(self, field: str) -> bool:
        """Return whether the file has a field."""
        return field in self.fields

    def value(self, values: Mapping[str, Any], field: str) -> Any:
        """Return the value of a field in a row; None if the file does not have the field."""
        columns = self.fields.get(field, ())
        if len(columns) == 1:
            return values.get(columns[0])
        parts = [str(values.get(column, "")) for column in columns]
        return ":".join(part for part in parts if part) if columns else None

    @property
    def described(self) -> list[str]:
        """Each field with its columns, as the user could name them."""
        pairs = [f"score={column}" for column in self.scores]
        pairs += [f"stderr={column}" for column in self.errors if column]
        return pairs + [f"{field}={JOIN.join(columns)}" for field, columns in self.fields.items()]


def map_columns(header: Sequence[str], named: Iterable[tuple[str, str]], where: str) -> ColumnMap:
    """Return the columns of each field of scores."""
    fields = _fields(header, named, where, ALIASES)
    scores = fields.pop("score", ())
    if not scores:
        listed = ", ".join(header[:MAX_LISTED])
        raise ConfigError(
            f"{where}: no column of scores; name it: --columns score=COLUMN "
            f"(repeat it for several: --columns score=A --columns score=B); the file has: {listed}"
        )
    errors = _error_columns(scores, fields.pop("stderr", ()), header)
    used = {*scores, *errors, *(column for columns in fields.values() for column in columns)}
    unused = tuple(name for name in header if name not in used)
    return ColumnMap(fields, scores, errors, unused)


def map_verdicts(header: Sequence[str], named: Iterable[tuple[str, str]], where: str) -> ColumnMap:
    """Return the columns of each field of verdicts on pairs."""
    fields = _fields(header, named, where, VERDICTS)
    for field in ("model_a", "model_b", "winner", "question"):
        if field not in fields and not (field == "winner" and "preference" in fields):
            hint = did_you_mean(field, header)
            raise ConfigError(f"{where}: no column of {field}{hint}; name it: --columns {field}=COLUMN")
    used = {column for columns in fields.values() for column in columns}
    return ColumnMap(fields, (), (), tuple(name for name in header if name not in used))


def _fields(
    header: Sequence[str],
    named: Iterable[tuple[str, str]],
    where: str,
    aliases: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[str, ...]]:
    fields = _named_columns(header, named, where, aliases)
    taken = {column for columns in fields.values() for column in columns}
    by_name = {_plain(column): column for column in reversed(header) if column not in taken}
    for field, others in aliases.items():
        guess = next((name for name in (field, *others) if name in by_name), None)
        if field not in fields and guess is not None:
            fields[field] = (by_name.pop(guess),)
    return fields


def _named_columns(
    header: Sequence[str],
    named: Iterable[tuple[str, str]],
    where: str,
    aliases: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[str, ...]]:
    """Return the columns of the fields that the user names; only scores may have several."""
    fields: dict[str, tuple[str, ...]] = {}
    for field, text in named:
        if field not in aliases:
            raise ConfigError(
                f"no field {field!r}{did_you_mean(field, aliases)}; known: {', '.join(aliases)}"
            )
        columns = (text,) if text in header else tuple(text.split(JOIN))
        for column in columns:
            if column not in header:
                raise ConfigError(f"{where}: no column {column!r}{did_you_mean(column, header)}")
        if field in fields and field != "score":
            raise ConfigError(f"{field} has two columns: {JOIN.join(fields[field])} and {text}")
        fields[field] = fields.get(field, ()) + columns
    return fields


def _error_columns(scores: Sequence[str], stated: Sequence[str], header: Sequence[str]) -> tuple[str, ...]:
    """Return the column of standard errors of each column of scores, such as ``acc_stderr`` of ``acc``."""
    if stated and len(scores) == 1:
        return (stated[0],)
    names = {_plain(column): column for column in header}
    endings = ("_stderr", "_se", "_std_err", "_standard_error")
    return tuple(
        next((names[_plain(score) + end] for end in endings if _plain(score) + end in names), "")
        for score in scores
    )


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")
