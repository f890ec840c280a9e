"""Which texts can be alike at all: an exact index for near duplicates.

Two texts of lengths x and y whose character ratio is at least t share L >= t (x + y) / 2 characters in
order, and leave d = x + y - 2 L over. The shared characters lie in at most d + 1 blocks, so at least L - d
- 1 bigrams are shared, counted with multiplicity. Texts whose bigram sets have a Jaccard index of at least
t share at least t of the larger set. Either way both texts have a common bigram among their rarest ones:
only these are indexed. (Chaudhuri, Ganti and Kaushik, A Primitive Operator for Similarity Joins, 2006.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Feature = tuple[str, int]
"""A bigram and which of its occurrences in the text."""
_HEAD = 8
_ROOM = 1e-9


def bigrams(text: str) -> list[str]:
    """Return the bigrams of a text; a text of one character is its own.

    Examples:
        >>> bigrams("你好呀"), bigrams("好")
        (['你好', '好呀'], ['好'])
    """
    return [text[i : i + 2] for i in range(max(len(text) - 1, 1))]


def candidates(texts: Sequence[str], threshold: float) -> Iterator[list[list[int]]]:
    """Yield for each text ascending lists of earlier ones: those not in any list cannot be alike.

    Args:
        texts: Not empty, all different.
        threshold: Of the similarity.
    """
    if threshold <= 2 / 3 + _ROOM:
        yield from ([list(range(place))] for place in range(len(texts)))
        return
    features = [_features(text) for text in texts]
    rank = _ranks(features)
    postings: dict[int, list[int]] = {}
    by_length: dict[int, list[int]] = {}
    for place, (text, own) in enumerate(zip(texts, features, strict=True)):
        keys = _keys(text, [rank[feature] for feature in own], own, threshold)
        found = [postings[key] for key in keys if key in postings]
        found += [by_length[y] for y in _bounds(len(text), threshold)[1] if y in by_length]
        yield found
        for key in keys:
            postings.setdefault(key, []).append(place)
        by_length.setdefault(len(text), []).append(place)


def first_match(lists: Sequence[Sequence[int]], alike: Callable[[int], bool]) -> int | None:
    """Return the smallest number in ascending lists that passes the test.

    The heads of the lists are tried first: what repeats often usually repeats something early.

    Examples:
        >>> first_match([[1, 4, 6], [2, 4]], lambda number: number % 2 == 0)
        2
    """
    heads = sorted({number for numbers in lists for number in numbers[:_HEAD]})
    bound = next(filter(alike, heads), None)
    rest: set[int] = set()
    for numbers in lists:
        rest.update(numbers[_HEAD : None if bound is None else bisect_left(numbers, bound)])
    return next(filter(alike, sorted(rest.difference(heads))), bound)


def _features(text: str) -> list[Feature]:
    seen: Counter[str] = Counter()
    found = []
    for gram in bigrams(text):
        found.append((gram, seen[gram]))
        seen[gram] += 1
    return found


def _ranks(features: Sequence[Sequence[Feature]]) -> dict[Feature, int]:
    """The rarest feature has rank 0."""
    counts = Counter(feature for own in features for feature in own)
    return {
        feature: place for place, (feature, _) in enumerate(sorted(counts.items(), key=lambda pair: pair[1]))
    }


def _keys(text: str, ranks: list[int], own: Sequence[Feature], threshold: float) -> set[int]:
    """The rarest features, as many as the ratio asks for; and of the first occurrences as Jaccard asks."""
    single = sorted(rank for rank, (_, occurrence) in zip(ranks, own, strict=True) if occurrence == 0)
    for_jaccard = len(single) - ceil(threshold * len(single) - _ROOM) + 1
    for_ratio = len(ranks) - _bounds(len(text), threshold)[0] + 1
    return {*single[:for_jaccard], *sorted(ranks)[:for_ratio]}


@lru_cache(maxsize=10_000)
def _bounds(x: int, threshold: float) -> tuple[int, tuple[int, ...]]:
    """The fewest bigrams that x characters share with a text alike, and lengths that may share none."""
    least, none = max(x - 1, 1), []
    reach = (2 - threshold) / threshold
    for y in range(ceil(x / reach - _ROOM), floor(x * reach + _ROOM) + 1):
        total = x + y
        shared = ceil(threshold * total / 2 - _ROOM)
        if shared > min(x, y):
            continue
        grams = shared - (total - 2 * shared) - 1 if (x, y) != (1, 1) else 1
        if grams < 1:
            none.append(y)
        else:
            least = min(least, grams)
    return least, tuple(none)
