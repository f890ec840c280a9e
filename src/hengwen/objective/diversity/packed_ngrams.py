"""N-grams as rows of numbers: in arrays while they are few, in temporary files when they are many.

Each token has a number; two tokens make one 64-bit number, so an n-gram is a row of (n + 1) // 2 numbers.
Equal n-grams have equal rows, and different n-grams have different rows.
"""

from __future__ import annotations

import tempfile
from array import array
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Rows = NDArray[Any]

CHUNK_TOKENS = 500_000
"""Number of tokens whose n-grams are formed at a time."""
MAX_ROWS = 1_000_000
"""Maximum number of rows (n-grams) that a ``GramTable`` keeps in memory; if there are more, all rows are
written to temporary files."""
FILES = 64
"""Number of temporary files of a large ``GramTable``; the rows of one file must fit into memory."""
_BREAK = 0xFFFFFFFF
"""Number that marks the end of each text, so that no n-gram spans two texts."""


class TokenChunk:
    """The tokens of some texts as numbers; equal tokens have equal numbers in all chunks."""

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._clear()

    def _clear(self) -> None:
        self._tokens = array("I")
        self._owners = array("I")

    def __len__(self) -> int:
        return len(self._tokens)

    @property
    def is_full(self) -> bool:
        """Whether the chunk has at least 500,000 tokens, so that ``take`` should be called."""
        return len(self._tokens) >= CHUNK_TOKENS

    def add(self, tokens: Sequence[str], owner: int = 0) -> None:
        """Add the tokens of a text; ``owner`` is the number of the text."""
        self._tokens.extend(map(self._numbers.__getitem__, tokens))
        self._tokens.append(_BREAK)
        self._owners.extend([owner] * (len(tokens) + 1))

    def take(self, orders: Sequence[int]) -> list[tuple[Rows, Rows]]:
        """Return the n-grams of the added tokens, and remove these tokens."""
        import numpy as np

        tokens, owners = np.frombuffer(self._tokens, np.uint32), np.frombuffer(self._owners, np.uint32)
        self._clear()
        return [_grams(tokens, owners, order) for order in orders]


class _Numbers(dict[str, int]):
    """The number of each token."""

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self)
        return number


def _grams(tokens: Rows, owners: Rows, order: int) -> tuple[Rows, Rows]:
    import numpy as np

    size = max(len(tokens) - order + 1, 0)
    columns = [tokens[start : start + size] for start in range(order)]
    is_whole = np.ones(size, bool)
    for column in columns:
        is_whole &= column != _BREAK
    columns = [column[is_whole].astype(np.uint64) for column in columns]
    pairs = [
        columns[start] << np.uint64(32) | columns[start + 1] if start + 1 < order else columns[start]
        for start in range(0, order, 2)
    ]
    return np.stack(pairs, axis=1), owners[:size][is_whole].astype(np.uint64)


class GramTable(ExitStack):
    """Table in which each row is an n-gram and a number, such as its count or the number of its text."""

    def __init__(self, order: int) -> None:
        super().__init__()
        self._width = (order + 1) // 2
        self._parts: list[tuple[Rows, Rows]] = []
        self._size = 0
        self._files: list[BinaryIO] = []

    def add(self, grams: Rows, values: Rows) -> None:
        """Add rows."""
        self._parts.append((grams, values))
        self._size += len(grams)
        if self._files or self._size > MAX_ROWS:
            if not self._files:
                self._files = [self._new_file() for _ in range(FILES)]
            for part in self._parts:
                self._write(*part)
            self._parts = []

    def groups(self) -> Iterator[tuple[Rows, Rows]]:
        """Yield all rows in groups; equal n-grams are in the same group."""
        import numpy as np

        if self._parts:
            grams, values = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
            yield grams, values
        for file in self._files:
            file.seek(0)
            rows = np.frombuffer(file.read(), np.uint64).reshape(-1, self._width + 1)
            if len(rows):
                yield rows[:, :-1], rows[:, -1]

    def _new_file(self) -> BinaryIO:
        return cast("BinaryIO", self.enter_context(tempfile.TemporaryFile()))

    def _write(self, grams: Rows, values: Rows) -> None:
        import numpy as np

        mixed = grams.sum(axis=1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        numbers = mixed >> np.uint64(58)  # 0..63, as many as FILES
        rows = np.column_stack([grams, values])
        for number, file in enumerate(self._files):
            file.write(rows[numbers == number].tobytes())


def summed(grams: Rows, counts: Rows | None = None) -> tuple[Rows, Rows]:
    """Return the different n-grams, sorted, and the sum of the counts of each n-gram."""
    import numpy as np

    if counts is None and grams.shape[1] == 1:
        grams = np.sort(grams, axis=0)
    else:
        order = np.lexsort(grams.T)
        grams, counts = grams[order], None if counts is None else counts[order]
    starts = first_rows(grams)
    if counts is None:
        return grams[starts], np.diff(starts, append=len(grams)).astype(np.uint64)
    return grams[starts], np.add.reduceat(counts, starts) if len(starts) else counts


def first_rows(rows: Rows) -> Rows:
    """Return the indices of the rows that differ from the row before them; the first row is among them."""
    import numpy as np

    is_first = np.ones(len(rows), bool)
    is_first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.flatnonzero(is_first)
