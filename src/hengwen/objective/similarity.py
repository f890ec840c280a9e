"""How alike two texts are, character by character, and which answers repeat an earlier one."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import Indel

if TYPE_CHECKING:
    from collections.abc import Sequence

THRESHOLD = 0.85
"""From here on an answer counts as a repeat of an earlier one."""

_FINAL_PARTICLES = re.compile(r"(?:的说|[啊呀呢嘛吧哦喵])+(?=\0|$)")
_EMOJI_PARTS = re.compile(r"[\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]")


class Duplicate(NamedTuple):
    """The index of the earlier text that a text repeats, and how alike the two are."""

    of: int
    similarity: float


def normalize_text(text: str) -> str:
    """Return what two texts must share to be the same answer.

    NFKC; only letters, marks and digits stay (no whitespace, punctuation, symbols or emoji); particles at
    the end of a phrase (啊呀呢嘛吧哦喵的说) go.

    Args:
        text: Any text.

    Returns:
        The normalised text; empty where the text has neither letters nor digits.

    Examples:
        >>> normalize_text("好的呀~ 我们走吧！😊")
        '好的我们走'
        >>> normalize_text("ＡＢＣ １２，酒吧里呢")
        'ABC12酒吧里'
    """
    marked = "".join(map(_kept, unicodedata.normalize("NFKC", _EMOJI_PARTS.sub("", text))))
    return _FINAL_PARTICLES.sub("", marked).replace("\0", "")


@lru_cache(maxsize=20_000)
def _kept(character: str) -> str:
    return character if unicodedata.category(character)[0] in "LMN" else "\0"


def similarity(a: str, b: str) -> float:
    """Return how alike two texts are after :func:`normalize_text`.

    The larger of two measures: the character ratio (1 - insertions and deletions / total length) and the
    Jaccard index of the sets of character bigrams.

    Args:
        a: A text.
        b: Another; the order does not matter.

    Returns:
        0 (nothing in common) to 1 (equal). Texts without any letter or digit are equal (1) only where
        they are so without whitespace, else 0.

    Examples:
        >>> similarity("abcd", "abxd")
        0.75
        >>> similarity("今天真好呀！", "今天 真好~")
        1.0
        >>> similarity("！！", "？？")
        0.0
    """
    return _compare(_prepare(a), _prepare(b))


def near_duplicates(texts: Sequence[str], threshold: float = THRESHOLD) -> list[Duplicate | None]:
    """Return for each text the first earlier one that it repeats.

    Every earlier text counts, also one that is itself a repeat: else A, A', A'' would depend on the chain.

    Args:
        texts: Answers in their order, any number.
        threshold: The least :func:`similarity` of a repeat, in (0, 1].

    Returns:
        For each text a :class:`Duplicate` (index of the earlier text, similarity) or None.

    Raises:
        ValueError: The threshold is not in (0, 1].

    Notes:
        The threshold is this project's own and should be published with the result.

    Examples:
        >>> near_duplicates(["晚上好，主人", "我想吃鱼", "晚上好呀，主人~"])
        [None, None, Duplicate(of=0, similarity=1.0)]
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
    prepared = [_prepare(text) for text in texts]
    return [_first_like(prepared, index, threshold) for index in range(len(prepared))]


class _Prepared(NamedTuple):
    bare: str
    """Without whitespace: for texts of punctuation alone."""
    text: str
    bigrams: frozenset[str]


def _prepare(raw: str) -> _Prepared:
    text = normalize_text(raw)
    bigrams = frozenset(text[i : i + 2] for i in range(max(len(text) - 1, 1)))
    return _Prepared("".join(raw.split()), text, bigrams)


def _compare(a: _Prepared, b: _Prepared) -> float:
    if not a.text and not b.text:
        return float(a.bare == b.bare)
    ratio = Indel.normalized_similarity(a.text, b.text)
    return max(ratio, len(a.bigrams & b.bigrams) / len(a.bigrams | b.bigrams))


def _first_like(prepared: Sequence[_Prepared], index: int, threshold: float) -> Duplicate | None:
    for earlier in range(index):
        alike = _compare(prepared[earlier], prepared[index])
        if alike >= threshold:
            return Duplicate(earlier, alike)
    return None
