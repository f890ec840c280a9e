"""Measure the diversity of texts: distinct n-grams, entropy, repetition within a text, compression."""

from __future__ import annotations

import tempfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, repeat
from math import fsum, log2
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from hengwen._internal.plugins import check_texts, whole_number
from hengwen.objective.text import mixed_tokens

if TYPE_CHECKING:
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


class NgramCounts:
    """Counts of the n-grams of a set of texts."""

    def __init__(self) -> None:
        self.distinct = 0
        self.frequencies: Counter[int] = Counter()
        """Number of different n-grams, by how often they occur."""

    @property
    def total(self) -> int:
        """Number of n-grams, including repeated ones."""
        return sum(count * number for count, number in self.frequencies.items())

    def add(self, counts: NDArray[Any]) -> None:
        """Add the counts of further n-grams; none of them may have been added before."""
        import numpy as np

        self.distinct += len(counts)
        for count, number in zip(*np.unique(counts, return_counts=True), strict=True):
            self.frequencies[int(count)] += int(number)


def count_ngrams(texts: Iterable[str], n: int) -> NgramCounts:
    """Count the n-grams of texts."""
    chunk = TokenChunk()
    counts = NgramCounts()
    with GramTable(n) as table:
        for text in texts:
            chunk.add(mixed_tokens(text))
            if chunk.is_full:
                ((grams, _),) = chunk.take([n])
                table.add(*summed(grams))
        if len(chunk):
            ((grams, _),) = chunk.take([n])
            table.add(*summed(grams))
        for group in table.groups():
            counts.add(summed(*group)[1])
    return counts


def distinct_n(texts: Iterable[str], n: int = 2) -> float:
    """Return the share of distinct n-grams among all n-grams of a set of texts.

    Args:
        texts: The texts; no n-gram spans two of them. ``tokenize.mixed_tokens`` splits each text into tokens.
        n: Length of the n-grams, >= 1.

    Returns:
        A share in (0, 1]; 1 if no n-gram repeats. The share falls with the amount of text, so compare only
        sets of equal size.

    Raises:
        ValueError: There is no n-gram, or n < 1.

    Notes:
        Li et al., A Diversity-Promoting Objective Function for Neural Conversation Models, NAACL 2016.

    Examples:
        >>> distinct_n(["风吹过", "风吹来"], n=2)  # 风吹 twice, 吹过, 吹来
        0.75
    """
    counts = count_some(texts, n)
    return counts.distinct / counts.total


def ngram_entropy(texts: Iterable[str], n: int = 2, *, normalize: bool = False) -> float:
    """Return the Shannon entropy of the n-grams of a set of texts.

    Args:
        texts: The texts; no n-gram spans two of them. ``tokenize.mixed_tokens`` splits each text into tokens.
        n: Length of the n-grams, >= 1.
        normalize: Whether to divide the entropy by its largest possible value, log2 of the number of n-grams.

    Returns:
        The entropy in bits, >= 0; a single n-gram has 0 bits. With ``normalize``, the result is a value in
        0..1; it is 1 if all n-grams differ.

    Raises:
        ValueError: There is no n-gram, or ``normalize`` is true and there is only one n-gram (the result
            would be 0/0).

    Notes:
        Zhang et al., Generating Informative and Diverse Conversational Responses, NeurIPS 2018 (Ent-n).

    Examples:
        >>> ngram_entropy(["风吹风来"], n=1), ngram_entropy(["风吹风来"], n=1, normalize=True)
        (1.5, 0.75)
    """
    bits, normalized = entropies(count_some(texts, n))
    return defined_entropy(normalized, n) if normalize else bits


def repetition_rate(text: str, n: int = 4) -> float:
    """Return the share of a text's n-grams that repeat an earlier n-gram of the text.

    Args:
        text: Any text; ``tokenize.mixed_tokens`` splits it into tokens.
        n: Length of the n-grams, >= 1.

    Returns:
        A share in [0, 1); 0 if no n-gram repeats.

    Raises:
        ValueError: The text is too short for an n-gram.

    Notes:
        The metric is called seq-rep-n in Welleck et al., Neural Text Generation with Unlikelihood Training,
        ICLR 2020.

    Examples:
        >>> repetition_rate("哈哈哈哈哈", n=2)  # 哈哈 four times
        0.75
    """
    return 1 - _distinct_share(text, n)


def type_token_ratio(text: str, *, window: int | None = None) -> float:
    """Return the share of distinct tokens in a text.

    Args:
        text: Any text; ``tokenize.mixed_tokens`` splits it into tokens. In Chinese text, each character is a
            token.
        window: Number of tokens in a window. With a window, the result is the mean over all windows
            (moving-average type-token ratio, MATTR), which does not fall with the length of the text. None
            uses the whole text at once.

    Returns:
        A share in (0, 1].

    Raises:
        ValueError: The text has no token or fewer tokens than ``window``, or ``window`` is below 1.

    Notes:
        Covington and McFall, Cutting the Gordian Knot: MATTR, 2010.

    Examples:
        >>> type_token_ratio("a rose is a rose")
        0.6
        >>> type_token_ratio("a a b", window=2)  # a a: 1/2, a b: 1
        0.75
    """
    tokens = mixed_tokens(text)
    if window is None:
        return _distinct_share(text, 1)
    whole_number("window", window)
    if len(tokens) < window:
        raise ValueError(f"the text has {len(tokens)} tokens, fewer than the window of {window}")
    counts = Counter(tokens[:window])
    distinct = [len(counts)]
    for leaving, entering in zip(tokens, tokens[window:], strict=False):
        counts[entering] += 1
        counts[leaving] -= 1
        if not counts[leaving]:
            del counts[leaving]
        distinct.append(len(counts))
    return sum(distinct) / (window * len(distinct))


def compression_ratio(texts: Iterable[str]) -> float:
    """Return the ratio by which zlib compresses a set of texts; a high ratio means repetitive texts.

    Args:
        texts: The texts; they are joined by line feeds and encoded as UTF-8. Compare only texts of one
            language, because Chinese compresses better than English.

    Returns:
        Number of bytes before compression (zlib level 9) divided by the number of bytes after it. The ratio
        is below 1 for very short texts, and at most about 1030.

    Raises:
        ValueError: All texts are empty or consist of whitespace.

    Notes:
        Shaib et al., Standardizing the Measurement of Text Diversity, 2024. The third digit of the ratio can
        differ between builds of zlib, so the scorer's signature contains the zlib version.

    Examples:
        >>> compression_ratio(["风吹过" * 100]) > 20 > 2 > compression_ratio(["风吹过山岗"])
        True
    """
    check_texts("texts", texts)
    compressor = zlib.compressobj(9)
    size = compressed = 0
    is_blank = True
    for index, text in enumerate(texts):
        raw = (b"\n" if index else b"") + text.encode("utf-8", "surrogatepass")
        size += len(raw)
        is_blank = is_blank and not raw.strip()
        compressed += len(compressor.compress(raw))
    if is_blank:
        raise ValueError("every text is empty: nothing to compress")
    return size / (compressed + len(compressor.flush()))


def entropies(counts: NgramCounts) -> tuple[float, float | None]:
    """Return the entropy of n-grams in bits, and its share of the largest possible value."""
    total = counts.total
    terms = chain.from_iterable(
        repeat(count * log2(count), number) for count, number in counts.frequencies.items()
    )
    bits = max(0.0, log2(total) - fsum(terms) / total)
    return bits, None if total == 1 else min(bits / log2(total), 1.0)


def defined_entropy(normalized: float | None, n: int) -> float:
    """Return the normalised entropy of n-grams."""
    if normalized is None:
        raise ValueError(f"there is only one {n}-gram: its normalised entropy is not defined")
    return normalized


def count_some(texts: Iterable[str], n: int) -> NgramCounts:
    """Count the n-grams of texts."""
    check_texts("texts", texts)
    whole_number("n", n)
    counts = count_ngrams(texts, n)
    _check_some(counts.distinct, n)
    return counts


def _check_some(count: int, n: int) -> None:
    if not count:
        raise ValueError(f"no {n}-gram: every answer has fewer than {n} tokens")


def _distinct_share(text: str, n: int) -> float:
    """Return the share of distinct n-grams in one text; for a short text, a set is faster than arrays."""
    whole_number("n", n)
    tokens = mixed_tokens(text)
    grams = list(zip(*(tokens[start:] for start in range(n)), strict=False))
    _check_some(len(grams), n)
    return len(set(grams)) / len(grams)
