"""Compute chrF (character n-gram F-score) with sacrebleu; it needs no tokenizer in any script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from hengwen._internal.plugins import whole_number
from hengwen.objective.checks import check_choice, check_flag
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap.bleu import References, as_corpus, as_references, check_hypothesis
from hengwen.objective.text import Width, fold_width

MAX_CHARACTERS = 200_000
"""Maximum number of characters of a text, whose n-grams take more than a kilobyte a character."""


@dataclass(frozen=True, slots=True)
class Chrf:
    """chrF of a text or of a corpus."""

    score: float
    """chrF in 0..100."""
    signature: str
    """Text with all settings that can change the value; it ends with sacrebleu's own signature."""


@dataclass(frozen=True, slots=True)
class ChrfOptions:
    """Settings that can change a chrF score, validated on construction."""

    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    width: Width = "keep"

    def __post_init__(self) -> None:
        whole_number("word_order", self.word_order, 0)
        whole_number("beta", self.beta)
        check_flag("lowercase", self.lowercase)
        check_choice("width", self.width, get_args(Width))

    @property
    def for_sacrebleu(self) -> sacre.MetricOptions:
        """Return the keyword arguments of sacrebleu's CHRF."""
        return ("word_order", self.word_order), ("beta", self.beta), ("lowercase", self.lowercase)

    def result_signature(self, references: int) -> str:
        """Return the signature (all settings) of a computed value."""
        peer = sacre.signature("CHRF", self.for_sacrebleu, references)
        return f"chrf|width:{self.width}|beta:{self.beta}|{peer}|v:1"

    @property
    def plan_signature(self) -> str:
        """Signature of the settings; it does not contain the number of references."""
        case = "lc" if self.lowercase else "mixed"
        return (
            f"width:{self.width}|beta:{self.beta}|case:{case}|nc:6|nw:{self.word_order}"
            f"|sacrebleu:{sacre.version()}|v:1"
        )


def chrf(
    hypothesis: str,
    references: References,
    *,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
    width: Width = "keep",
) -> Chrf:
    """Return the chrF of one text.

    Args:
        hypothesis: The text to score.
        references: One or more references; the reference with the best score counts. A string is one
            reference; a reference that is None or blank is ignored.
        word_order: Length of the longest word n-grams that are counted in addition to character n-grams; 2
            gives chrF++. Words are split at blanks, so word n-grams do not suit Chinese.
        beta: Weight of recall relative to precision.
        lowercase: Whether to ignore case.
        width: ``fold`` compares the texts after Unicode normalisation (NFKC), so that ``，`` equals ``,``.

    Returns:
        A :class:`Chrf`; its ``score`` is in 0..100. Orders (n-gram lengths) for which a text is too short are
        skipped.

    Raises:
        ValueError: The text is empty, there is no reference, or an option is invalid.

    Notes:
        Popović, chrF, 2015; sacrebleu computes the numbers.

    Examples:
        >>> chrf("你好呀", "你好呀").score
        100.0
        >>> round(chrf("ab", "ac").score, 1)  # 1-grams 1 of 2, 2-grams 0 of 1: mean 0.25
        25.0
    """
    options = ChrfOptions(word_order, beta, lowercase, width)
    return score_text(hypothesis, as_references(references), options)


def score_text(hypothesis: str, references: tuple[str, ...], options: ChrfOptions) -> Chrf:
    """Return the chrF of one text with validated references."""
    check_hypothesis(hypothesis)
    (row,) = corpus_statistics([hypothesis], [references], options)
    return chrf_from_statistics(row, options, len(references))


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Sequence[References],
    *,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
    width: Width = "keep",
) -> Chrf:
    """Return the chrF of a corpus, computed from counts summed over its texts.

    Raises:
        ValueError: The numbers of texts and references differ, all texts are blank, a text has no reference,
            or an option is invalid.

    Examples:
        >>> round(corpus_chrf(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"]).score, 2)
        35.59
    """
    options = ChrfOptions(word_order, beta, lowercase, width)
    reference_sets = as_corpus(hypotheses, references)
    total = sacre.sum_statistics(corpus_statistics(hypotheses, reference_sets, options))
    return chrf_from_statistics(total, options, sacre.reference_count(reference_sets))


def corpus_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: ChrfOptions
) -> list[list[float]]:
    """Return the n-gram counts (statistics) of each text of a validated corpus."""
    longest = max(map(len, [*hypotheses, *(text for texts in references for text in texts)]), default=0)
    if longest > MAX_CHARACTERS:
        raise ValueError(f"a text of {longest:,} characters is too long for chrF: at most {MAX_CHARACTERS:,}")
    texts = [fold_width(text, options.width) for text in hypotheses]
    reference_sets = [[fold_width(text, options.width) for text in texts] for texts in references]
    return sacre.statistics("CHRF", options.for_sacrebleu, texts, reference_sets)


def chrf_from_statistics(total: Sequence[float], options: ChrfOptions, references: int) -> Chrf:
    """Return the chrF that follows from n-gram counts (statistics) summed over texts."""
    peer = sacre.score("CHRF", options.for_sacrebleu, total)
    return Chrf(min(peer.score, 100.0), options.result_signature(references))
