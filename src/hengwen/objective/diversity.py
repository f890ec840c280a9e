"""How varied a set of answers is: the share of n-grams that are distinct."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# A Han, kana or Hangul character is a token; elsewhere a run of word characters is.
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def tokens(text: str) -> list[str]:
    """Return the tokens of a text: CJK characters, and words of other scripts in lower case.

    Examples:
        >>> tokens("我爱 Rock2024，啊!")
        ['我', '爱', 'rock2024', '啊']
    """
    return _TOKEN.findall(text.lower())


def distinct_n(texts: Iterable[str], n: int = 2) -> float:
    """Return the share of distinct n-grams among all n-grams of a set of texts.

    Args:
        texts: N-grams do not cross from one to the next.
        n: >= 1.

    Returns:
        In (0, 1]; 1 where no n-gram comes twice. It falls with the amount of text: compare equal amounts.

    Raises:
        ValueError: There is no n-gram at all, or n < 1.

    Notes:
        Li et al., A Diversity-Promoting Objective Function for Neural Conversation Models, NAACL 2016.

    Examples:
        >>> distinct_n(["风吹过", "风吹来"], n=2)  # 风吹 twice, 吹过, 吹来
        0.75
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    grams = [gram for text in texts for gram in _grams(text, n)]
    if not grams:
        raise ValueError(f"no {n}-gram: every answer has fewer than {n} tokens")
    return len(set(grams)) / len(grams)


def _grams(text: str, n: int) -> Iterator[tuple[str, ...]]:
    found = tokens(text)
    return zip(*(found[start:] for start in range(n)), strict=False)


@dataclass(frozen=True, slots=True)
class DistinctN:
    """``distinct_n`` over the answers of a checkpoint to a task, or over the repeats of each sample."""

    n: int = 2
    scope: Literal["repeats", "checkpoint"] = "checkpoint"

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int) or self.n < 1:
            raise ValueError(f"n must be a whole number >= 1, got {self.n!r}")
        if self.scope not in ("repeats", "checkpoint"):
            raise ValueError(f"scope must be 'repeats' or 'checkpoint', got {self.scope!r}")

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return f"distinct_n|n:{self.n}|scope:{self.scope}|tok:cjk-char|v:1"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (f"distinct_{self.n}.{self.scope}",)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Score a set of answers."""
        value = distinct_n([response.text for _, response in items], self.n)
        return [Score(name=self.names[0], value=value, signature=self.signature, scale=Scale(low=0, high=1))]
