"""Measure the diversity of texts: distinct n-grams, entropy, repetition within a text, compression."""

from __future__ import annotations

import zlib
from collections import Counter
from itertools import chain, repeat
from math import fsum, log2
from typing import TYPE_CHECKING, Any

from hengwen._internal.checks import check_texts, whole_number
from hengwen.objective.diversity.packed_ngrams import GramTable, TokenChunk, summed
from hengwen.objective.text import mixed_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


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
