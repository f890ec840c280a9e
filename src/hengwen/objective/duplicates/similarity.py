"""How alike two texts are, character by character, and which answers repeat an earlier one."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import Indel

from hengwen.objective.duplicates import exact_index

if TYPE_CHECKING:
    from collections.abc import Sequence

THRESHOLD = 0.85
"""From here on an answer counts as a repeat of an earlier one."""

EXACT_UP_TO = 10_000
LSH_FROM = 0.8
"""Below this threshold texts that are alike may share too little for MinHash."""

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


def near_duplicates(
    texts: Sequence[str], threshold: float = THRESHOLD, *, exact: bool | None = None
) -> list[Duplicate | None]:
    """Return for each text the first earlier one that it repeats.

    Every earlier text counts, also one that is itself a repeat: else A, A', A'' would depend on the chain.

    Args:
        texts: Answers in their order, any number.
        threshold: The least :func:`similarity` of a repeat, in (0, 1].
        exact: True compares all that can be alike; False only what MinHash finds, in linear time: every
            repeat that is reported is one; one at the threshold whose edits are spread as widely as can be
            is missed one time in twenty (none of 5,400 in our measurements). None is exact up to 10,000
            different texts, and below a threshold of 0.8 always.

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
    # equal texts have one entry; texts without a letter are equal only as they are
    firsts: dict[str, int] = {}
    for place, one in enumerate(prepared):
        firsts.setdefault(one.key, place)
    places = [place for place in firsts.values() if prepared[place].text]
    repeats = _among([prepared[place] for place in places], threshold, exact)
    known = {
        place: found and Duplicate(places[found.of], found.similarity)
        for place, found in zip(places, repeats, strict=True)
    }
    found = []
    for place, one in enumerate(prepared):
        first = firsts[one.key]
        found.append(known.get(first) or (Duplicate(first, 1.0) if first < place else None))
    return found


class _Prepared(NamedTuple):
    bare: str
    """Without whitespace: for texts of punctuation alone."""
    text: str
    bigrams: frozenset[str]

    @property
    def key(self) -> str:
        """Equal for texts that nothing here tells apart."""
        return self.text or f"\0{self.bare}"


def _prepare(raw: str) -> _Prepared:
    text = normalize_text(raw)
    return _Prepared("".join(raw.split()), text, frozenset(exact_index.bigrams(text)))


def _compare(a: _Prepared, b: _Prepared) -> float:
    if not a.text and not b.text:
        return float(a.bare == b.bare)
    ratio = Indel.normalized_similarity(a.text, b.text)
    return max(ratio, len(a.bigrams & b.bigrams) / len(a.bigrams | b.bigrams))


def _among(different: Sequence[_Prepared], threshold: float, exact: bool | None) -> list[Duplicate | None]:
    texts = [one.text for one in different]
    if exact or (exact is None and len(texts) <= EXACT_UP_TO) or threshold < LSH_FROM or not texts:
        lists = exact_index.candidates(texts, threshold)
    else:
        from hengwen.objective.duplicates import minhash_index

        lists = minhash_index.candidates(texts, threshold)
    found: list[Duplicate | None] = []
    for one, candidates in zip(different, lists, strict=True):
        alike = partial(_alike, different, one, threshold)
        of = exact_index.first_match(candidates, alike)
        found.append(None if of is None else Duplicate(of, _compare(different[of], one)))
    return found


def _alike(different: Sequence[_Prepared], b: _Prepared, threshold: float, place: int) -> bool:
    """Whether ``_compare`` reaches the threshold; the cheap bounds come first, with room for rounding."""
    a, bound = different[place], threshold - 1e-4
    x, y = len(a.text), len(b.text)
    if 2 * min(x, y) >= bound * (x + y) and (
        Indel.normalized_similarity(a.text, b.text, score_cutoff=bound) >= threshold
    ):
        return True
    few, many = len(a.bigrams), len(b.bigrams)
    if few < bound * many or many < bound * few:
        return False
    shared = len(a.bigrams & b.bigrams)
    return shared / (few + many - shared) >= threshold
