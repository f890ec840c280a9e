"""Read and write label files: each label is on disk before the next answer; pairs for preferences."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from math import fsum
from pathlib import Path
from typing import Any

from hengwen.errors import DataError
from hengwen.io.output_files import MAX_PREFIX, atomic_write, check_target, row_writer
from hengwen.labels.queue import Question
from hengwen.plans.datasets import LABEL_FIELDS, Levels, read_labels
from hengwen.records import Label
from hengwen.text.numbers import no_formula, replace_controls, same_text

OPTIONAL_COLUMNS = ("output", "drawn")
RATER = re.compile(r"[^\W_][\w .@\-]{0,79}")
"""Names of raters: nothing that a spreadsheet or a terminal takes for a command."""
LOCK_SECONDS = 10
"""How long a label waits while another program writes one."""
REQUIRED_COLUMNS = tuple(name for name in LABEL_FIELDS if name not in OPTIONAL_COLUMNS)


class LabelFile:
    """A label file; its methods read all labels, append a label, and remove an appended label."""

    # Every method reads the file again, because other programs may write to it too; a lock file beside it
    # keeps two of them from writing at once.

    def __init__(self, path: Path, levels: Levels | None = None) -> None:
        check_target(path)
        self.path = path
        self._levels = levels
        self._is_csv = path.suffix.lower() == ".csv"
        self._columns()
        self.labels()

    def labels(self) -> list[Label]:
        """Return the labels of all raters."""
        text = self._text()
        if not (text.partition("\n")[2] if self._is_csv else text).strip():
            return []
        return [label for _, label in read_labels(self.path, levels=self._levels)]

    @property
    def stores_draws(self) -> bool:
        """Whether the file has the column ``drawn`` (how an answer was selected), which older files lack."""
        return "drawn" in self._columns()

    def append(self, label: Label) -> None:
        """Write a label."""
        with self._locked():
            if any(other.key == label.key and other.rater == label.rater for other in self.labels()):
                raise DataError(
                    f"{self.path}: {label.rater} has labelled this answer already, in another window"
                )
            columns = self._columns()
            content = self._bytes()
            line_end = _line_end(content)
            if content and not content.endswith(b"\n"):
                content += line_end
            if not content and self._is_csv:
                content = _csv_row(columns) + line_end
            self._write(content + self._row(label, columns) + line_end)

    def take_back(self, label: Label) -> None:
        """Remove a label that ``append`` wrote."""
        with self._locked():
            content = self._bytes()
            row = self._row(label, self._columns()) + _line_end(content)
            before, match, after = (b"\n" + content).rpartition(b"\n" + row)
            if not match:
                raise DataError(
                    f"{self.path}: the last label is gone: the file was changed by another program"
                )
            self._write((before + b"\n" + after).removeprefix(b"\n"))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock file in the ``with`` block."""
        from filelock import FileLock, Timeout

        path = self.path.with_name(f".{self.path.name[:MAX_PREFIX]}.lock")
        lock = FileLock(path, timeout=LOCK_SECONDS)
        try:
            lock.acquire()
        except Timeout:
            raise DataError(
                f"{self.path}: another program is writing to it; try again when it is done"
            ) from None
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}; labels need this file as a lock") from None
        try:
            yield
        finally:
            with suppress(OSError):  # Windows denies it while another process waits
                path.unlink()
            lock.release()

    def _columns(self) -> list[str]:
        if not self._is_csv or not self._text().strip():
            return list(LABEL_FIELDS)
        header = next(csv.reader(io.StringIO(self._text(), newline="")))
        missing = [name for name in REQUIRED_COLUMNS if name not in header]
        if missing:
            raise DataError(f"{self.path}:1: missing columns: {', '.join(missing)}")
        return header

    def _row(self, label: Label, columns: list[str]) -> bytes:
        values: dict[str, Any] = {name: getattr(label, name) for name in LABEL_FIELDS}
        values["value"] = float(f"{label.value:.12g}")
        if self._is_csv:
            values["output"] = replace_controls(label.output)
        if not _is_utf8(label.output) or (self._is_csv and no_formula(label.output) != label.output):
            values["output"] = ""
        if not self._is_csv:
            return json.dumps(values, ensure_ascii=False).encode()
        values["value"] = f"{label.value:.12g}"
        return _csv_row([str(values.get(name, "")) for name in columns])

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror}") from None

    def _text(self) -> str:
        return self._bytes().decode("utf-8-sig", "replace")

    def _write(self, content: bytes) -> None:
        with atomic_write(self.path) as temporary, temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def _line_end(content: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in content.partition(b"\n")[0] + b"\n" else b"\n"


def _csv_row(cells: list[str]) -> bytes:
    row = io.StringIO(newline="")
    csv.writer(row, lineterminator="\r\n").writerow(cells)  # quotes only line ends in lineterminator
    return row.getvalue().removesuffix("\r\n").encode()


def _is_utf8(text: str) -> bool:
    """Return whether UTF-8 can encode a text; it cannot encode lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


PAIR_FIELDS = (
    "prompt",
    "chosen",
    "rejected",
    "task",
    "id",
    "score",
    "chosen_model",
    "rejected_model",
    "margin",
    "raters",
    "contaminated_as_test",
)


def write_pairs(target: Path, questions: Sequence[Question], labels: Iterable[Label]) -> int:
    """Write all pairs to a .csv or .jsonl file; return their number."""
    pairs = list(preference_pairs(questions, labels))
    with row_writer(target, list(PAIR_FIELDS)) as write:
        for pair in pairs:
            write(pair)
    return len(pairs)


def preference_pairs(questions: Sequence[Question], labels: Iterable[Label]) -> Iterator[dict[str, Any]]:
    """Yield a row for every two answers to one prompt that raters who labelled both value differently."""
    # `margin` is the mean difference over these raters. `contaminated_as_test` is always true, because a
    # model that is trained on the pair has seen the prompt.
    values: defaultdict[str, dict[str, float]] = defaultdict(dict)
    by_key = {question.key: question for question in questions}
    for label in labels:
        question = by_key.get(label.key)
        if question and (not label.output or same_text(label.output, question.response.text)):
            values[question.token][label.rater] = label.value
    groups: defaultdict[tuple[str, str, str], list[Question]] = defaultdict(list)
    for question in questions:
        if question.token in values:
            groups[question.response.task, question.response.sample_id, question.score.base].append(question)
    for (task, sample_id, score), group in sorted(groups.items()):
        for pair in combinations(group, 2):
            first, second = (values[question.token] for question in pair)
            raters = first.keys() & second.keys()
            total = fsum(first[rater] - second[rater] for rater in raters)
            texts = {question.response.text for question in pair}
            if not total or len(texts) < 2 or "" in texts:
                continue
            chosen, rejected = (question.response for question in (pair if total > 0 else pair[::-1]))
            yield {
                "prompt": pair[0].sample.text,
                "chosen": chosen.text,
                "rejected": rejected.text,
                "task": task,
                "id": sample_id,
                "score": score,
                "chosen_model": chosen.checkpoint,
                "rejected_model": rejected.checkpoint,
                "margin": abs(total) / len(raters),
                "raters": len(raters),
                "contaminated_as_test": True,
            }
