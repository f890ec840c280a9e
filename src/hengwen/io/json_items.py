"""Read the items of a list, or the members of an object, of a JSON file one by one, with bounded memory.

``ijson`` refuses NaN, which Python programs write, and bounds neither the size nor the depth of an item.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from hengwen.errors import DataError
from hengwen.io.row_reader import DataRow, open_data_file
from hengwen.io.untrusted_json import MAX_BRACKETS, check_size

MAX_VALUE = 16 << 20
"""Maximum number of characters of an item, as of a row of JSON Lines."""
CHUNK = 1 << 16
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def json_rows(path: Path, *keys: str) -> Iterator[DataRow]:
    """Yield a row for each object in the list or object to which ``keys`` lead from the top of the file."""
    for number, (_, item) in enumerate(json_members(path, *keys), start=1):
        if not isinstance(item, dict):
            raise DataError(f"{path}:{number}: expected an object, got {type(item).__name__}", line=number)
        yield DataRow(path, number, item)


def json_members(path: Path, *keys: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object, or the items of a list with their indices; nothing if it is neither."""
    with open_data_file(path) as file:
        text = _Text(file, path)
        for key in keys:
            for name in text.names():
                if name == key:
                    break
                text.value()
            else:
                return
        for name in text.names():
            yield name, text.value()


def first_container(path: Path) -> str:
    """Return the name of the first member of an object that is a list or an object; "" if there is none."""
    with open_data_file(path) as file:
        text = _Text(file, path)
        if text.next() == "{":
            for name in text.names():
                if text.next() in ("[", "{"):
                    return name
                text.value()
    return ""


class _Text:
    """The text of a JSON file, of which only the value that is read is in memory."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._at, self._ended = "", 0, False

    def names(self) -> Iterator[str]:
        """Enter the list or object that follows; yield the name of each value, which must be read then."""
        opening = self.next()
        if opening not in ("[", "{"):
            return
        self._at += 1
        index = 0
        while self.next() != ("]" if opening == "[" else "}"):
            if index:
                self._take(",")
            name = str(index)
            if opening == "{":
                name = str(self.value())
                self._take(":")
            yield name
            index += 1
        self._at += 1

    def value(self) -> Any:
        """Read the value that follows."""
        self.next()
        size = CHUNK
        while True:
            length = len(self._text) - self._at
            try:
                if length > MAX_BRACKETS:
                    check_size(self._text[self._at :])
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if length > MAX_VALUE:
                    self._fail(f"a value is longer than {MAX_VALUE >> 20} MiB")
                if self._ended:
                    self._fail(f"not valid JSON: {error.msg}")
            except (ValueError, RecursionError) as error:
                self._fail(str(error) if isinstance(error, ValueError) else "nested too deeply")
            else:
                if end < len(self._text) or self._ended:  # a number may go on behind the end
                    self._at = end
                    return value
            self._more(size)
            size = min(2 * size, MAX_VALUE)

    def next(self) -> str:
        """Return the next character that is no space; "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._more(CHUNK)

    def _take(self, mark: str) -> None:
        if self.next() != mark:
            self._fail(f"not valid JSON: expected {mark!r}" if self.next() else "the file ends too early")
        self._at += 1

    def _more(self, size: int) -> None:
        data = self._file.read(size)
        self._ended = not data
        try:
            self._text = self._text[self._at :] + self._bytes.decode(data, final=not data)
        except UnicodeDecodeError:
            self._fail("not UTF-8 text")
        self._at = 0

    def _fail(self, message: str) -> NoReturn:
        raise DataError(f"{self._path}: {message}")
