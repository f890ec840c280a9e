"""Which column of a file has which field of a score: as the user says, otherwise by the names of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
"""Other names by which a column is recognized as a field."""
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
    guessed: tuple[str, ...] = ()
    """Fields whose column was chosen by its name."""
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
    """Return the columns of each field.

    Args:
        header: Names of the columns of the file.
        named: Pairs (field, column) of the user.
        where: The file, with which error messages begin.
    """
    fields, scores = _named_columns(header, named, where)
    taken = {column for columns in fields.values() for column in columns} | set(scores)
    by_name = {_plain(column): column for column in reversed(header) if column not in taken}
    guessed = []
    for field, aliases in ALIASES.items():
        if field in fields or (field == "score" and scores):
            continue
        guess = next((by_name.pop(name) for name in (field, *aliases) if name in by_name), "")
        if guess:
            guessed.append(field)
            fields[field] = (guess,)
    scores = scores or list(fields.pop("score", ()))
    if not scores:
        listed = ", ".join(header[:MAX_LISTED])
        raise ConfigError(
            f"{where}: no column of scores; name it: --columns score=COLUMN; the file has: {listed}"
        )
    stated = fields.pop("stderr", ())
    errors = _error_columns(scores, stated, header)
    used = {*scores, *errors, *(column for columns in fields.values() for column in columns)}
    return ColumnMap(
        fields, tuple(scores), errors, tuple(guessed), tuple(name for name in header if name not in used)
    )


def _named_columns(
    header: Sequence[str], named: Iterable[tuple[str, str]], where: str
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the columns of the fields that the user names, and the columns of scores."""
    fields: dict[str, tuple[str, ...]] = {}
    scores: list[str] = []
    for field, text in named:
        if field not in ALIASES:
            raise ConfigError(
                f"no field {field!r}{did_you_mean(field, ALIASES)}; known: {', '.join(ALIASES)}"
            )
        columns = (text,) if text in header else tuple(text.split(JOIN))
        for column in columns:
            if column not in header:
                raise ConfigError(f"{where}: no column {column!r}{did_you_mean(column, header)}")
        if field == "score":
            scores += columns
        elif field in fields:
            raise ConfigError(f"{field} has two columns: {JOIN.join(fields[field])} and {text}")
        else:
            fields[field] = columns
    return fields, scores


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
