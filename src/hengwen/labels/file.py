"""A file of labels that grows by one row at a time: each is on the disk before the next answer is shown."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import TYPE_CHECKING, Any

from hengwen.errors import DataError
from hengwen.io.atomic_write import atomic_write
from hengwen.io.row_writer import check_target, spreadsheet_safe
from hengwen.plans.datasets import LABEL_FIELDS, read_labels

if TYPE_CHECKING:
    from pathlib import Path

    from hengwen.records import Label

NEEDED = tuple(name for name in LABEL_FIELDS if name != "output")


class LabelFile:
    """Reads, appends and takes back. The file is read anew each time: others may write to it as well.

    Args:
        path: ``.csv`` or ``.jsonl``; made with the first label where it is not there.

    Raises:
        ConfigError: The name tells no format.
        DataError: What is there are no labels, or a column is missing; the message names file and line.
    """

    def __init__(self, path: Path) -> None:
        check_target(path)
        self.path = path
        self._is_csv = path.suffix.lower() == ".csv"
        self._columns()
        self.labels()

    def labels(self) -> list[Label]:
        """Return all labels, of all raters."""
        text = self._text()
        if not (text.partition("\n")[2] if self._is_csv else text).strip():
            return []
        return [label for _, label in read_labels(self.path)]

    def append(self, label: Label) -> bytes:
        """Write a label, and return its row, as ``take_back`` wants it.

        An answer that a CSV file cannot hold as it is (or that a spreadsheet would take for a formula) is
        left out: the label then names its place only.

        Args:
            label: Not labelled by this rater yet.
        """
        columns = self._columns()
        before = self._bytes()
        end = b"\r\n" if b"\r\n" in before.partition(b"\n")[0] + b"\n" else b"\n"
        if before and not before.endswith(b"\n"):
            before += end
        if not before and self._is_csv:
            before = _csv_row(columns) + end
        row = self._row(label, columns) + end
        self._write(before + row)
        return row

    def take_back(self, row: bytes) -> None:
        """Remove a row that ``append`` wrote: the last one like it.

        Raises:
            DataError: It is not there any more.
        """
        before, found, after = self._bytes().rpartition(row)
        if not found:
            raise DataError(f"{self.path}: the last label is not there any more: somebody changed the file")
        self._write(before + after)

    def _columns(self) -> list[str]:
        if not self._is_csv or not self._text().strip():
            return list(LABEL_FIELDS)
        header = next(csv.reader(io.StringIO(self._text(), newline="")))
        missing = [name for name in NEEDED if name not in header]
        if missing:
            raise DataError(f"{self.path}:1: columns of labels are missing: {', '.join(missing)}")
        return header

    def _row(self, label: Label, columns: list[str]) -> bytes:
        values: dict[str, Any] = {name: getattr(label, name) for name in LABEL_FIELDS}
        values["value"] = float(f"{label.value:.12g}")
        if not _holds(label.output) or (self._is_csv and spreadsheet_safe(label.output) != label.output):
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


def _csv_row(cells: list[str]) -> bytes:
    row = io.StringIO(newline="")
    csv.writer(row, lineterminator="\r\n").writerow(cells)  # it quotes only line ends that it knows
    return row.getvalue().removesuffix("\r\n").encode()


def _holds(text: str) -> bool:
    """Whether UTF-8 can hold a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
