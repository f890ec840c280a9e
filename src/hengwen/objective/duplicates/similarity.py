"""Measure the similarity of two texts by characters, and find answers that repeat an earlier answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rapidfuzz.distance import Indel

from hengwen._internal.plugins import check_texts
from hengwen.objective.duplicates import exact_index
from hengwen.objective.duplicates.exact_index import bigram_codes
from hengwen.objective.text import lcs_length, normal_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

THRESHOLD = 0.85
"""Minimum similarity at which an answer counts as a repeat of an earlier answer."""

MAX_EXACT_TEXTS = 10_000
"""Maximum number of different texts for which the exact index is the default."""
MIN_MINHASH_THRESHOLD = 0.8
"""Lowest threshold for which MinHash is used; below it, similar texts may share too few bigrams."""

_FINAL_PARTICLES = re.compile(r"(?<![啊呀呢嘛吧哦喵])(?<!的说)(?:的说|[啊呀呢嘛吧哦喵])++(?=\0|$)")
"""Pattern of particles at the end of a phrase. The pattern starts only at the first particle and does not
backtrack, so the search takes linear time."""
MAX_CHARACTERS = 1_000_000
"""Maximum number of letters, marks and digits of a text; a longer text is an error."""
_FEW_TEXTS = 16
"""Maximum number of texts for which all pairs are compared without an index."""
MAX_EXACT_CHARACTERS = 10_000_000
"""Maximum number of letters, marks and digits of all different texts for which the exact index is used."""
LONG_TEXT = 10_000
"""Number of letters, marks and digits from which a text counts as long."""
MAX_LONG_CHARACTERS = 2_000_000
"""Maximum number of letters, marks and digits of all different long texts; every pair of them is compared."""
_SHORT_CELLS, _MEDIUM_CELLS = 1_000_000, 100_000_000
"""Two limits of the product of two text lengths. Up to the first limit, a character ratio is computed again
for each threshold instead of being stored. Up to the second limit, the ratio is computed without comparing
bigrams first."""
_MAX_CELLS = 50_000_000_000
"""Maximum work for pairs of long texts. A pair counts as long if the product of its two lengths is above
``_MEDIUM_CELLS``. The work is the sum of these products. Pairs that share too few bigrams to be similar are
not compared in full, and are not counted."""
_MAX_BITS = 20_000
"""Maximum number of different bigrams of texts that are compared as bits of numbers."""
_SIMPLE = re.compile(r"[\0-\x7f\u3400-\u4db5\u4e00-\u9fea、。《》“”‘’…—，！？：；（）]*")
"""Pattern of texts that have only ASCII characters, common Han characters and Chinese punctuation. NFKC
(Unicode normalisation) does not change the letters and digits of such texts."""
_SIMPLE_STOPS = re.compile(r"[^A-Za-z0-9\u3400-\u9fea]+")
_EMOJI_PARTS = re.compile(r"[\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]")


class Duplicate(NamedTuple):
    """An earlier text that a text repeats."""

    of: int
    """Index of the earlier text."""
    similarity: float
    """Similarity of the two texts, in 0..1."""


def normalize_text(text: str) -> str:
    """Return a text in the form in which answers are compared."""
    if _SIMPLE.fullmatch(text):
        marked = _SIMPLE_STOPS.sub("\0", text)
    else:
        marked = "".join(map(_word_character, normal_form(_EMOJI_PARTS.sub("", text))))
    return _FINAL_PARTICLES.sub("", marked).replace("\0", "")


@lru_cache(maxsize=20_000)
def _word_character(character: str) -> str:
    return character if unicodedata.category(character)[0] in "LMN" else "\0"


def similarity(a: str, b: str) -> float:
    """Return the similarity of two texts after :func:`normalize_text`."""
    return prepared_similarity(prepare_text(a), prepare_text(b))


def near_duplicates(
    texts: Sequence[str], threshold: float = THRESHOLD, *, exact: bool | None = None
) -> list[Duplicate | None]:
    """Return, for each text, the first earlier text that it repeats.

    Each text is compared with every earlier text, even with earlier texts that are repeats themselves.
    If repeats were skipped, the result for three similar texts A, A', A'' would depend on their order.

    Args:
        texts: Any number of answers, in order.
        threshold: Minimum :func:`similarity` of a repeat, in (0, 1].
        exact: True compares all pairs that can be similar, and misses no repeat. False compares only the
            pairs that MinHash finds, in linear time; a reported repeat is always right, but repeats can be
            missed. In the worst case (similarity exactly at the threshold, edits spread over the whole text)
            about 5 % of repeats are missed; in a measurement, none of 5,400 was missed. None (the default)
            means True for up to 10,000 different texts with up to 10,000,000 letters and digits, else False.
            For a threshold below 0.8, MinHash is never used.

    Returns:
        For each text a :class:`Duplicate`, or None if the text repeats no earlier text.

    Raises:
        ValueError: The threshold is not in (0, 1], or the texts are too long to compare: at most 1,000,000
            letters and digits each, 2,000,000 in all different texts of 10,000 or more, and 10,000,000 in all
            that are compared exactly.

    Notes:
        The default threshold was chosen by this project and is no standard, so publish it with the result.

    Examples:
        >>> near_duplicates(["晚上好，主人", "我想吃鱼", "晚上好呀，主人~"])
        [None, None, Duplicate(of=0, similarity=1.0)]
    """
    check_texts("texts", texts)
    return AnswerSet(texts).duplicates(threshold, exact=exact)


def check_threshold(threshold: float) -> None:
    """Raise ValueError unless a threshold of similarity is in (0, 1]."""
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")


class PreparedText(NamedTuple):
    """A text in the forms that are compared, so that it is normalised only once for all comparisons."""

    bare: str
    """The text without whitespace; it is compared if the text has neither letters nor digits."""
    text: str
    bigrams: frozenset[str]


def prepare_text(raw: str) -> PreparedText:
    """Return a text in the form that ``prepared_similarity`` compares."""
    text = _normalized(raw)
    return PreparedText("".join(raw.split()), text, frozenset(exact_index.bigrams(text)))


def _normalized(raw: str) -> str:
    text = normalize_text(raw)
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"a text of {len(text)} letters and digits is too long to compare")
    return text


def prepared_similarity(a: PreparedText, b: PreparedText) -> float:
    """Return the :func:`similarity` of two prepared texts."""
    if not a.text and not b.text:
        return float(a.bare == b.bare)
    return max(_ratio(a.text, b.text), _jaccard(a.bigrams, b.bigrams))


def _compare(a: str, b: str, known_ratio: float) -> float:
    """Return the similarity of two normalised texts; ``known_ratio`` is the character ratio, 0 if unknown."""
    jaccard = _jaccard(_bigrams(a), _bigrams(b))
    return jaccard if jaccard == 1 else max(jaccard, known_ratio or _ratio(a, b))


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)


@lru_cache(maxsize=512)
def _bigrams(text: str) -> frozenset[str]:
    """Return the set of bigrams of a text; few sets are cached, because all would take much memory."""
    return frozenset(exact_index.bigrams(text))


def _ratio(a: str, b: str) -> float:
    total = len(a) + len(b)
    return 1.0 - (total - 2 * lcs_length(a, b)) / total


class AnswerSet:
    """Find repeats among texts at several thresholds; each text is normalised only once."""

    def __init__(self, texts: Sequence[str]) -> None:
        normalized = [_normalized(text) for text in texts]
        self._keys = [
            text or f"\0{''.join(raw.split())}" for text, raw in zip(normalized, texts, strict=True)
        ]
        self._first_index: dict[str, int] = {}
        for index, key in enumerate(self._keys):
            self._first_index.setdefault(key, index)
        self._distinct = [index for index in self._first_index.values() if normalized[index]]
        self._texts = [normalized[index] for index in self._distinct]
        long = [len(text) for text in self._texts if len(text) >= LONG_TEXT]
        _check_total(sum(long), MAX_LONG_CHARACTERS, f"different answers of {LONG_TEXT:,} or more")
        self._ratios: dict[tuple[int, int], tuple[float, float]] = {}
        """Computed character ratios of pairs of long texts, as (bound, ratio). A ratio of 0 means that the
        real ratio is below the bound."""
        self._cells = 0

    def duplicates(self, threshold: float, *, exact: bool | None = None) -> list[Duplicate | None]:
        """For each text, the first earlier text that it repeats; None if it repeats no earlier text."""
        check_threshold(threshold)
        distinct = self._distinct
        matches = {
            index: match and Duplicate(distinct[match.of], match.similarity)
            for index, match in zip(distinct, self._matches(threshold, exact), strict=True)
        }
        first_indexes = [self._first_index[key] for key in self._keys]
        return [
            matches.get(first) or (Duplicate(first, 1.0) if first < index else None)
            for index, first in enumerate(first_indexes)
        ]

    def _matches(self, threshold: float, exact: bool | None) -> list[Duplicate | None]:
        """Return, for each distinct text, the first earlier text that it repeats."""
        matches: list[Duplicate | None] = []
        for j, lists in enumerate(self._candidates(threshold, exact)):
            i = exact_index.first_match(lists, partial(self._is_similar, threshold, j))
            matches.append(None if i is None else Duplicate(i, self._similarity(i, j)))
        return matches

    def _candidates(self, threshold: float, exact: bool | None) -> Iterable[list[list[int]]]:
        texts = self._texts
        total = sum(map(len, texts))
        if exact is None:
            exact = len(texts) <= MAX_EXACT_TEXTS and total <= MAX_EXACT_CHARACTERS
        if exact and len(texts) <= _FEW_TEXTS:
            return ([list(range(index))] for index in range(len(texts)))
        if exact or threshold < MIN_MINHASH_THRESHOLD or not texts:
            _check_total(total, MAX_EXACT_CHARACTERS, "different answers")
            return exact_index.candidates(texts, threshold)
        from hengwen.objective.duplicates import minhash_index

        return minhash_index.candidates(texts, threshold)

    def _similarity(self, i: int, j: int) -> float:
        _, known = self._ratios.get((i, j), (0.0, 0.0))
        return _compare(self._texts[i], self._texts[j], known)

    def _is_similar(self, threshold: float, j: int, i: int) -> bool:
        """Return whether the similarity of two texts reaches the threshold; fast tests come first."""
        a, b, bound = self._texts[i], self._texts[j], threshold - 1e-4
        x, y = len(a), len(b)
        if self._masks:
            a_count, b_count, shared = _counts(self._masks[i], self._masks[j])
            if shared / (a_count + b_count - shared) >= threshold:
                return True
        if 2 * min(x, y) >= bound * (x + y) and self._ratio_reaches(threshold, bound, i, j):
            return True
        if self._masks:
            return False
        a_bigrams, b_bigrams = _bigrams(a), _bigrams(b)
        a_count, b_count = len(a_bigrams), len(b_bigrams)
        if a_count < bound * b_count or b_count < bound * a_count:
            return False
        shared = len(a_bigrams & b_bigrams)
        return shared / (a_count + b_count - shared) >= threshold

    @cached_property
    def _masks(self) -> list[int]:
        """The bigrams of each text as bits of a number; empty if the texts have many different bigrams."""
        # If texts share a small alphabet, all pairs may be similar, and numbers are compared fastest.
        bits: dict[str, int] = {}
        masks = []
        for text in self._texts:
            grams = set(exact_index.bigrams(text))
            masks.append(sum(bits.setdefault(gram, 1 << len(bits)) for gram in grams))
            if len(bits) > _MAX_BITS:
                return []
        return masks

    def _ratio_reaches(self, threshold: float, bound: float, i: int, j: int) -> bool:
        a, b = self._texts[i], self._texts[j]
        if len(a) * len(b) <= _SHORT_CELLS:
            return Indel.normalized_similarity(a, b, score_cutoff=bound) >= threshold
        known_from, ratio = self._ratios.get((i, j), (2.0, 0.0))
        if not ratio and bound < known_from:
            ratio = self._long_ratio(a, b, bound)
            self._ratios[i, j] = bound, ratio
        return ratio >= threshold

    def _long_ratio(self, a: str, b: str, bound: float) -> float:
        """Return the character ratio, or 0 if it is below the bound."""
        cells = len(a) * len(b)
        if cells <= _MEDIUM_CELLS:
            return Indel.normalized_similarity(a, b, score_cutoff=bound)
        fewest = exact_index.fewest_shared_bigrams(len(a) + len(b), bound)
        if _most_shared_bigrams(a, b) < fewest:
            return 0.0
        self._cells += cells
        if self._cells > _MAX_CELLS:
            raise ValueError(f"{len(self._keys)} answers are too long to compare in pairs; {_REMEDY}")
        return _ratio(a, b)


_REMEDY = "compare fewer or shorter answers"


def _check_total(characters: int, limit: int, kind: str) -> None:
    if characters > limit:
        raise ValueError(
            f"{kind} have {characters:,} letters and digits in all, at most {limit:,} are compared; {_REMEDY}"
        )


def _counts(a: int, b: int) -> tuple[int, int, int]:
    return a.bit_count(), b.bit_count(), (a & b).bit_count()


def _most_shared_bigrams(a: str, b: str) -> int:
    """Return at least the number of bigrams that two texts share, counted with multiplicity."""
    return int(np.minimum(_bucket_sizes(a), _bucket_sizes(b)).sum())


@lru_cache(maxsize=MAX_LONG_CHARACTERS // LONG_TEXT)
def _bucket_sizes(text: str) -> NDArray[np.uint32]:
    """Return how many bigrams of a text fall into each of 65,536 buckets."""
    buckets = bigram_codes([text])[0] * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(48)
    return np.bincount(buckets.astype(np.intp), minlength=1 << 16).astype(np.uint32)
