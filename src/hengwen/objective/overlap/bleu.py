"""BLEU through sacrebleu, with a tokenizer that suits the references and no silent 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from hengwen.objective.overlap import sacre
from hengwen.objective.overlap.ngram_counts import ORDER, bleu_counts
from hengwen.objective.overlap.pairs import as_corpus, as_references, check_hypothesis
from hengwen.objective.text.tokenize import (
    BLEU_TOKENIZERS,
    BleuTokenizer,
    Width,
    choose_bleu_tokenizer,
    fold_width,
    jieba_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Smooth = Literal["exp", "floor", "add-k", "none"]
Tokenize = Literal["auto"] | BleuTokenizer
_ALL_SPLIT = re.compile(
    r"[\s\u3001-\u303f\u3400-\u4db5\u4e00-\u9fbb\uff01-\uff20\uff3b-\uff40\uff5b-\uffef]*"
)
"""Texts of which sacrebleu's zh makes every character a token: no need to ask it."""


@dataclass(frozen=True, slots=True)
class Bleu:
    """BLEU of a text or a corpus, with what it is made of."""

    score: float
    """0..100."""
    precisions: tuple[float, ...]
    """Of 1-grams to 4-grams, clipped, after smoothing; 0..100."""
    brevity_penalty: float
    """In 0..1; 1 where the hypothesis is at least as long as the closest reference."""
    hypothesis_length: int
    """In tokens."""
    reference_length: int
    """Of the closest reference, ties to the shorter; over a corpus the sum."""
    tokenizer: BleuTokenizer
    """The one that was taken."""
    signature: str
    """Ours around sacrebleu's."""


@dataclass(frozen=True, slots=True)
class BleuOptions:
    """What may move BLEU besides the texts."""

    tokenize: Tokenize = "auto"
    smooth: Smooth = "exp"
    effective_order: bool = True
    lowercase: bool = False
    width: Width = "keep"

    def of(self, references: Sequence[str]) -> BleuTokenizer:
        """Return the tokenizer for references that have their final width."""
        return choose_bleu_tokenizer(references) if self.tokenize == "auto" else self.tokenize

    def for_sacrebleu(self, tokenizer: BleuTokenizer) -> sacre.Options:
        """Return the keyword arguments of sacrebleu's BLEU."""
        return _for_sacrebleu(self, tokenizer)

    def splitter(self, tokenizer: BleuTokenizer) -> Callable[[str], list[str]]:
        """Return what makes tokens of a text that has its final width: sacrebleu's tokenizer, or jieba."""
        return _splitter(self, tokenizer)

    def signature(self, tokenizer: str, references: int) -> str:
        """Ours around sacrebleu's; ``jieba`` is cut before sacrebleu sees the text."""
        options = self.for_sacrebleu("none" if tokenizer == "jieba" else tokenizer)  # type: ignore[arg-type]
        theirs = sacre.signature("BLEU", options, references)
        if tokenizer == "jieba":
            theirs = theirs.replace("tok:none", "tok:jieba")
        return f"bleu|width:{self.width}|{theirs}|v:1"

    @property
    def plan_signature(self) -> str:
        """The signature before any text is known: ``tok:auto`` is a function of the references."""
        case, order = "lc" if self.lowercase else "mixed", "yes" if self.effective_order else "no"
        return (
            f"width:{self.width}|case:{case}|eff:{order}|tok:{self.tokenize}|smooth:{self.smooth}"
            f"|sacrebleu:{sacre.version()}|v:1"
        )


@lru_cache(maxsize=64)
def _splitter(options: BleuOptions, tokenizer: BleuTokenizer) -> Callable[[str], list[str]]:
    prepare = sacre.metric("BLEU", options.for_sacrebleu(tokenizer))._preprocess_segment
    if tokenizer == "jieba":
        return lambda text: prepare(" ".join(jieba_words(text))).split()
    if tokenizer != "zh":
        return lambda text: prepare(text).split()

    def split_zh(text: str) -> list[str]:
        return list("".join(text.split())) if _ALL_SPLIT.fullmatch(text) else prepare(text).split()

    return split_zh


@lru_cache(maxsize=64)
def _for_sacrebleu(options: BleuOptions, tokenizer: BleuTokenizer) -> sacre.Options:
    return (
        ("tokenize", "none" if tokenizer == "jieba" else tokenizer),
        ("smooth_method", options.smooth),
        ("effective_order", options.effective_order),
        ("lowercase", options.lowercase),
        ("force", True),  # no advice on stderr about texts that end in " ."
    )


@lru_cache(maxsize=64)
def check_options(
    tokenize: str = "auto",
    smooth: str = "exp",
    effective_order: bool = True,
    lowercase: bool = False,
    width: str = "keep",
) -> BleuOptions:
    """Return the options, or raise.

    Raises:
        ValueError: An option has no allowed value.
    """
    for name, flag in (("effective_order", effective_order), ("lowercase", lowercase)):
        if not isinstance(flag, bool):
            raise ValueError(f"{name} must be true or false, got {flag!r}")
    choices = (
        ("tokenize", tokenize, ("auto", *BLEU_TOKENIZERS)),
        ("smooth", smooth, get_args(Smooth)),
        ("width", width, get_args(Width)),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise ValueError(f"{name} must be {' or '.join(allowed)}, got {value!r}")
    return BleuOptions(tokenize, smooth, effective_order, lowercase, width)  # type: ignore[arg-type]


def bleu(
    hypothesis: str,
    references: str | Sequence[str],
    *,
    tokenize: Tokenize = "auto",
    smooth: Smooth = "exp",
    effective_order: bool = True,
    lowercase: bool = False,
    width: Width = "keep",
) -> Bleu:
    """Return the BLEU of one text.

    Args:
        hypothesis: The text to score.
        references: One or more; a string is one.
        tokenize: sacrebleu's ``13a``, ``zh``, ``char``, ``intl``, ``none``, or ``jieba`` words; ``auto``
            chooses by the script of the references (``tokenize.choose_bleu_tokenizer``).
        smooth: Of precisions that are 0; ``none`` with ``effective_order=False`` is the published formula.
        effective_order: Leave out orders of which the hypothesis has no n-gram: else no text below four
            tokens has a BLEU.
        lowercase: Compare without case.
        width: ``fold`` compares after NFKC, so that ``，`` equals ``,``.

    Returns:
        A :class:`Bleu`, its ``score`` in 0..100.

    Raises:
        ValueError: A text is empty, there is no reference, the text is too short for 4-grams without
            effective order, or an option is wrong.

    Notes:
        Papineni et al., BLEU, 2002; the numbers are sacrebleu's. BLEU is meant for a corpus
        (:func:`corpus_bleu`), and its mean over texts is something else.

    Examples:
        >>> bleu("你好呀", "你好呀").score
        100.0
        >>> found = bleu("the the the the", ["the cat is here", "the dog and the cat"], smooth="none")
        >>> found.precisions[0], found.score  # "the" counts twice of four; no 2-gram is shared
        (50.0, 0.0)
    """
    options = check_options(tokenize, smooth, effective_order, lowercase, width)
    return score_checked(hypothesis, as_references(references), options)


def score_checked(hypothesis: str, references: tuple[str, ...], options: BleuOptions) -> Bleu:
    """Return the BLEU of one text under options and references that are checked."""
    check_hypothesis(hypothesis)
    folded = tuple(fold_width(reference, options.width) for reference in references)
    tokenizer = options.of(folded)
    split = options.splitter(tokenizer)
    stats = bleu_counts(split(fold_width(hypothesis, options.width)), [split(text) for text in folded])
    return bleu_of(stats, options, tokenizer, len(references))


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    tokenize: Tokenize = "auto",
    smooth: Smooth = "exp",
    effective_order: bool = False,
    lowercase: bool = False,
    width: Width = "keep",
) -> Bleu:
    """Return the BLEU of a corpus: counts are summed over the texts first; it is no mean of sentence BLEUs.

    Args:
        hypotheses: The texts; blank ones among them count as missing length.
        references: For each text its references, or its one reference. Note that sacrebleu's own functions
            take one list for each *set* of references.
        tokenize: As in :func:`bleu`, chosen once from all references.
        smooth: See :func:`bleu`.
        effective_order: See :func:`bleu`.
        lowercase: See :func:`bleu`.
        width: See :func:`bleu`.

    Raises:
        ValueError: As in :func:`bleu`, or the lengths differ.

    Examples:
        >>> found = corpus_bleu(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"])
        >>> round(found.score, 2), found.tokenizer, found.hypothesis_length, found.reference_length
        (49.28, 'zh', 8, 9)
    """
    options = check_options(tokenize, smooth, effective_order, lowercase, width)
    checked = as_corpus(hypotheses, references)
    tokenizer, stats = corpus_statistics(hypotheses, checked, options)
    total = [sum(column) for column in zip(*stats, strict=True)]
    return bleu_of(total, options, tokenizer, sacre.reference_count(checked))


def corpus_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: BleuOptions
) -> tuple[BleuTokenizer, list[list[float]]]:
    """Return the tokenizer for a corpus that is checked, and the statistics of each text."""
    folded = [[fold_width(text, options.width) for text in own] for own in references]
    tokenizer = options.of([text for own in folded for text in own])
    split = options.splitter(tokenizer)
    texts = [fold_width(text, options.width) for text in hypotheses]
    return tokenizer, [
        bleu_counts(split(text), [split(reference) for reference in own])
        for text, own in zip(texts, folded, strict=True)
    ]


def bleu_of(total: Sequence[float], options: BleuOptions, tokenizer: BleuTokenizer, references: int) -> Bleu:
    """Return the BLEU of summed statistics.

    Raises:
        ValueError: No token, or no 4-gram without effective order.
    """
    length, longest = int(total[0]), total[2 + 2 * ORDER - 1]
    if not length:
        raise ValueError(f"the hypothesis has no token under the tokenizer {tokenizer}")
    if not longest and not options.effective_order:
        raise ValueError(
            f"too short for {ORDER}-grams: no text has {ORDER} tokens under the tokenizer {tokenizer}; "
            "effective_order=True leaves out the orders that are missing"
        )
    found: Any = sacre.score("BLEU", options.for_sacrebleu(tokenizer), total)
    return Bleu(
        score=min(found.score, 100.0),  # exp(log(100)) is 100.00000000000004
        precisions=tuple(found.precisions),
        brevity_penalty=found.bp,
        hypothesis_length=length,
        reference_length=int(total[1]),
        tokenizer=tokenizer,
        signature=options.signature(tokenizer, references),
    )
