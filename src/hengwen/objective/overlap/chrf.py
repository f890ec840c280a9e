"""chrF through sacrebleu: F of character n-grams, the same for every script."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hengwen._internal.checks import whole_number
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap.pairs import as_corpus, as_references, check_hypothesis
from hengwen.objective.text.tokenize import Width, fold_width

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Chrf:
    """chrF of a text or a corpus."""

    score: float
    """0..100."""
    signature: str
    """Ours around sacrebleu's."""


@dataclass(frozen=True, slots=True)
class ChrfOptions:
    """What may move chrF besides the texts."""

    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    width: Width = "keep"

    def __post_init__(self) -> None:
        whole_number("word_order", self.word_order, 0)
        whole_number("beta", self.beta)
        if not isinstance(self.lowercase, bool):
            raise ValueError(f"lowercase must be true or false, got {self.lowercase!r}")
        if self.width not in ("keep", "fold"):
            raise ValueError(f"width must be keep or fold, got {self.width!r}")

    @property
    def for_sacrebleu(self) -> sacre.Options:
        """The keyword arguments of sacrebleu's CHRF."""
        return ("word_order", self.word_order), ("beta", self.beta), ("lowercase", self.lowercase)

    def signature(self, references: int) -> str:
        """Ours around sacrebleu's."""
        theirs = sacre.signature("CHRF", self.for_sacrebleu, references)
        return f"chrf|width:{self.width}|beta:{self.beta}|{theirs}|v:1"

    @property
    def plan_signature(self) -> str:
        """The signature before any text is known."""
        case = "lc" if self.lowercase else "mixed"
        return (
            f"width:{self.width}|beta:{self.beta}|case:{case}|nc:6|nw:{self.word_order}"
            f"|sacrebleu:{sacre.version()}|v:1"
        )


def chrf(
    hypothesis: str,
    references: str | Sequence[str],
    *,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
    width: Width = "keep",
) -> Chrf:
    """Return the chrF of one text.

    Args:
        hypothesis: The text to score.
        references: One or more, the best counts; a string is one.
        word_order: 2 is chrF++, which counts words between blanks, too: not for Chinese.
        beta: Weight of recall.
        lowercase: Compare without case.
        width: ``fold`` compares after NFKC.

    Returns:
        A :class:`Chrf`, its ``score`` in 0..100; orders that one of the texts is too short for are left out.

    Raises:
        ValueError: A text is empty, there is no reference, or an option is wrong.

    Notes:
        Popović, chrF, 2015; the numbers are sacrebleu's.

    Examples:
        >>> chrf("你好呀", "你好呀").score
        100.0
        >>> round(chrf("ab", "ac").score, 1)  # 1-grams 1 of 2, 2-grams 0 of 1: mean 0.25
        25.0
    """
    options = check_options(word_order, beta, lowercase, width)
    return score_checked(hypothesis, as_references(references), options)


@lru_cache(maxsize=32)
def check_options(word_order: int, beta: int, lowercase: bool, width: Width) -> ChrfOptions:
    """Return the options, or raise ValueError."""
    return ChrfOptions(word_order, beta, lowercase, width)


def score_checked(hypothesis: str, references: tuple[str, ...], options: ChrfOptions) -> Chrf:
    """Return the chrF of one text under options and references that are checked."""
    check_hypothesis(hypothesis)
    (stats,) = corpus_statistics([hypothesis], [references], options)
    return chrf_of(stats, options, len(references))


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
    width: Width = "keep",
) -> Chrf:
    """Return the chrF of a corpus, from summed counts; arguments as in ``corpus_bleu`` and :func:`chrf`.

    Raises:
        ValueError: As in :func:`chrf`, or the lengths differ.

    Examples:
        >>> round(corpus_chrf(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"]).score, 2)
        35.59
    """
    options = check_options(word_order, beta, lowercase, width)
    checked = as_corpus(hypotheses, references)
    stats = corpus_statistics(hypotheses, checked, options)
    total = [sum(column) for column in zip(*stats, strict=True)]
    return chrf_of(total, options, sacre.reference_count(checked))


def corpus_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: ChrfOptions
) -> list[list[float]]:
    """Return the statistics of each text of a corpus that is checked."""
    ours = [fold_width(text, options.width) for text in hypotheses]
    theirs = [[fold_width(text, options.width) for text in own] for own in references]
    return sacre.statistics("CHRF", options.for_sacrebleu, ours, theirs)


def chrf_of(total: Sequence[float], options: ChrfOptions, references: int) -> Chrf:
    """Return the chrF of summed statistics."""
    found = sacre.score("CHRF", options.for_sacrebleu, total)
    return Chrf(min(found.score, 100.0), options.signature(references))
