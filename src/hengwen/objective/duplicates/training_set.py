"""Evidence that an answer stands in the training set: the same text, but for particles, or near."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hengwen.objective.duplicates.similarity import normalize_text

if TYPE_CHECKING:
    from collections.abc import Iterable

LeakKind = Literal["exact", "particle_only", "near", "none"]
GRAM = 5
NEAR_FROM = 0.8
"""Share of an answer's 5-grams that one turn of the training set must hold."""


@dataclass(frozen=True, slots=True)
class LeakMatch:
    """What the training set says about one answer."""

    kind: LeakKind
    of: int | None
    """The place of the closest turn, from 0; None where nothing is shared."""
    containment: float
    """Share of the answer's character 5-grams that this turn holds, 0..1; 1 for exact and particle_only."""


class TrainingSet:
    """The answers of a training set, ready to be asked.

    Args:
        turns: What the assistant says in it, in order.
        near: The least containment of a near copy, in (0, 1].

    Raises:
        ValueError: There is no turn with a letter or digit, or ``near`` is out of range.

    Examples:
        >>> train = TrainingSet(["晚上好呀，今天的月亮很圆呢", "我想吃鱼"])
        >>> train.find("晚上好呀，今天的月亮很圆呢！")
        LeakMatch(kind='exact', of=0, containment=1.0)
        >>> train.find("晚上好，今天的月亮很圆")
        LeakMatch(kind='particle_only', of=0, containment=1.0)
        >>> train.find("晚上好，今天的月亮很大")  # 5-grams 5 of 6
        LeakMatch(kind='near', of=0, containment=0.8333333333333334)
        >>> train.find("我不想吃鱼")
        LeakMatch(kind='none', of=None, containment=0.0)
    """

    def __init__(self, turns: Iterable[str], *, near: float = NEAR_FROM) -> None:
        if not 0 < near <= 1:
            raise ValueError(f"near must be above 0 and at most 1, got {near}")
        self._near = near
        self._exact: dict[str, int] = {}
        self._bare: dict[str, int] = {}
        self._postings: dict[str, list[int]] = {}
        for place, turn in enumerate(turns):
            self._add(place, turn)
        if not self._bare:
            raise ValueError("the training set has no turn with a letter or digit")

    def _add(self, place: int, turn: str) -> None:
        bare = normalize_text(turn)
        if not bare:
            return
        self._exact.setdefault(with_particles(turn), place)
        if self._bare.setdefault(bare, place) != place:
            return  # the 5-grams of an equal turn are there
        for gram in set(_grams(bare)):
            self._postings.setdefault(gram, []).append(place)

    def find(self, answer: str) -> LeakMatch:
        """Return the strongest evidence about an answer.

        Args:
            answer: Any text. Below five letters only equality is looked at.

        Raises:
            ValueError: The answer has no letter or digit: nothing can be said.
        """
        bare = normalize_text(answer)
        if not bare:
            raise ValueError("the answer has no letter or digit: leakage is not assessed")
        same = self._exact.get(with_particles(answer))
        if same is not None:
            return LeakMatch("exact", same, 1.0)
        if bare in self._bare:
            return LeakMatch("particle_only", self._bare[bare], 1.0)
        return self._closest(_grams(bare))

    def _closest(self, grams: list[str]) -> LeakMatch:
        different = set(grams)
        shared: dict[int, int] = {}
        for gram in different:
            for place in self._postings.get(gram, ()):
                shared[place] = shared.get(place, 0) + 1
        if not shared:
            return LeakMatch("none", None, 0.0)
        count, negative = max((count, -place) for place, count in shared.items())
        containment = count / len(different)
        return LeakMatch("near" if containment >= self._near else "none", -negative, containment)


def with_particles(text: str) -> str:
    """Return the letters and digits of a text after NFKC, particles kept.

    Examples:
        >>> with_particles("好的呀~ 走吧！")
        '好的呀走吧'
    """
    folded = unicodedata.normalize("NFKC", text)
    return "".join(one for one in folded if unicodedata.category(one)[0] in "LMN")


def _grams(bare: str) -> list[str]:
    return [bare[i : i + GRAM] for i in range(len(bare) - GRAM + 1)]
