"""Compute BLEU with sacrebleu and with a tokenizer that fits the script of the references.

BLEU measures which share of the n-grams of the hypothesis (the text to score) occur in the references.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple, get_args

from hengwen._internal.plugins import check_texts
from hengwen.objective.checks import check_choice, check_flag
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap.sacre import check_installed
from hengwen.objective.text import (
    BLEU_TOKENIZERS,
    BleuTokenizer,
    Width,
    choose_bleu_tokenizer,
    fold_width,
    jieba_words,
)

References = str | Sequence[str | None]
"""The references of one text, or its only reference."""


class UsableCorpus(NamedTuple):
    """The texts of a corpus that have a reference."""

    hypotheses: list[str]
    references: list[tuple[str, ...]]
    kept: list[int]
    """Index of each text in the whole corpus."""
    failures: int
    """Number of texts that were left out because they have no reference."""
    first_failure: str
    """Reason why the first of the left-out texts was left out; empty if no text was left out."""


def as_references(references: References) -> tuple[str, ...]:
    """Return the references of one text that are not missing; a string is one reference."""
    texts = (references,) if isinstance(references, str) else tuple(references)
    present = tuple(text for text in texts if text and not text.isspace())
    if present:
        return present
    if not texts:
        raise ValueError("there is no reference to compare with")
    raise ValueError(
        "the reference is empty" if len(texts) == 1 else f"all {len(texts)} references are empty"
    )


def check_hypothesis(hypothesis: str) -> None:
    """Raise an error unless the hypothesis has text to compare."""
    if not hypothesis or hypothesis.isspace():
        raise ValueError("the hypothesis is empty: no overlap is defined")


def as_corpus(hypotheses: Sequence[str], references: Sequence[References]) -> list[tuple[str, ...]]:
    """Return the references of each hypothesis."""
    corpus = usable_corpus(hypotheses, references)
    if corpus.failures:
        raise ValueError(corpus.first_failure)
    return corpus.references


def usable_corpus(
    hypotheses: Sequence[str], references: Sequence[References], names: Sequence[str] | None = None
) -> UsableCorpus:
    """Return the texts of a corpus that have a reference, and the number of texts that have none."""
    check_texts("hypotheses", hypotheses)
    check_texts("references", references)
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} hypotheses but {len(references)} references; give each hypothesis its "
            "references (sacrebleu takes one list for each set of references instead)"
        )
    if not hypotheses:
        raise ValueError("there is no hypothesis")
    kept: list[int] = []
    reference_sets, first_failure = [], ""
    for index, texts in enumerate(references):
        try:
            reference_sets.append(as_references(texts))
        except ValueError as error:
            name = names[index] if names else f"text {index + 1}"
            first_failure = first_failure or f"{name}: {error}"
        else:
            kept.append(index)
    if not kept:
        raise ValueError(first_failure)
    texts_with_reference = [hypotheses[index] for index in kept]
    if not any(text.strip() for text in texts_with_reference):
        raise ValueError("every hypothesis is empty: no overlap is defined")
    failures = len(hypotheses) - len(kept)
    return UsableCorpus(texts_with_reference, reference_sets, kept, failures, first_failure)


MAX_ORDER = 4
"""Length of the longest n-grams that BLEU counts."""


def bleu_counts(tokens: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return the counts of a text from which BLEU is computed."""
    limits = all_ngrams(references[0])
    for reference in references[1:]:
        limits |= all_ngrams(reference)
    correct = [0] * MAX_ORDER
    for gram, count in all_ngrams(tokens).items():
        if gram in limits:
            limit = limits[gram]
            correct[len(gram) - 1] += count if count < limit else limit
    length = len(tokens)
    total = [max(length - n, 0) for n in range(MAX_ORDER)]
    return [length, closest_length(map(len, references), length), *correct, *total]


def closest_length(lengths: Iterable[int], length: int) -> int:
    """Return the length that is closest to ``length``; of two equally close lengths, the shorter."""
    return min(lengths, key=lambda other: (abs(other - length), other))


def all_ngrams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return the count of each n-gram, for n from 1 to 4."""
    second, third, fourth = tokens[1:], tokens[2:], tokens[3:]
    return Counter(
        chain(
            zip(tokens),  # 1-grams as tuples of one token
            zip(tokens, second, strict=False),
            zip(tokens, second, third, strict=False),
            zip(tokens, second, third, fourth, strict=False),
        )
    )


Smooth = Literal["exp", "floor", "add-k", "none"]
Tokenize = Literal["auto"] | BleuTokenizer
_ZH_CHARACTERS_ONLY = re.compile(
    r"[\s\u3001-\u303f\u3400-\u4db5\u4e00-\u9fbb\uff01-\uff20\uff3b-\uff40\uff5b-\uffef]*"
)
"""Pattern of texts in which sacrebleu's ``zh`` makes every character a token. This module splits such texts
itself, which is faster."""


@dataclass(frozen=True, slots=True)
class Bleu:
    """BLEU of a text or of a corpus, with the numbers from which the score is computed."""

    score: float
    """BLEU in 0..100."""
    precisions: tuple[float, ...]
    """Precisions of 1-grams to 4-grams after clipping and smoothing, in 0..100."""
    brevity_penalty: float
    """Factor in 0..1; it is 1 unless the hypothesis is shorter than the reference closest to it in length."""
    hypothesis_length: int
    """Length of the hypothesis in tokens."""
    reference_length: int
    """Number of tokens of the reference whose length is closest to the length of the hypothesis; the smaller
    number if two references are equally close. For a corpus, the sum of this number over all texts."""
    tokenizer: BleuTokenizer
    signature: str
    """Text with all settings that can change the value; it ends with sacrebleu's own signature."""


@dataclass(frozen=True, slots=True)
class BleuOptions:
    """Settings that can change a BLEU score, validated on construction."""

    tokenize: Tokenize = "auto"
    smooth: Smooth = "exp"
    effective_order: bool = True
    lowercase: bool = False
    width: Width = "keep"

    def __post_init__(self) -> None:
        check_flag("effective_order", self.effective_order)
        check_flag("lowercase", self.lowercase)
        check_choice("tokenize", self.tokenize, ("auto", *BLEU_TOKENIZERS))
        check_choice("smooth", self.smooth, get_args(Smooth))
        check_choice("width", self.width, get_args(Width))
        check_installed(self.tokenize)

    def resolve_tokenizer(self, references: Sequence[str]) -> BleuTokenizer:
        """Return the tokenizer; ``auto`` chooses it by the references."""
        return choose_bleu_tokenizer(references) if self.tokenize == "auto" else self.tokenize

    def for_sacrebleu(self, tokenizer: BleuTokenizer) -> sacre.MetricOptions:
        """Return the keyword arguments of sacrebleu's BLEU."""
        return _for_sacrebleu(self, tokenizer)

    def splitter(self, tokenizer: BleuTokenizer) -> Callable[[str], list[str]]:
        """Return the function that splits a text into tokens, after ``width`` was applied to the text."""
        return _splitter(self, tokenizer)

    def result_signature(self, tokenizer: BleuTokenizer, references: int) -> str:
        """Return the signature of a value; it names jieba if jieba split the text before sacrebleu."""
        peer = sacre.signature("BLEU", self.for_sacrebleu(tokenizer), references)
        if tokenizer == "jieba":
            peer = peer.replace("tok:none", "tok:jieba")
        return f"bleu|width:{self.width}|{peer}|v:1"

    @property
    def plan_signature(self) -> str:
        """Signature of the settings; it has ``tok:auto`` if the references will decide on the tokenizer."""
        case, order = "lc" if self.lowercase else "mixed", "yes" if self.effective_order else "no"
        return (
            f"width:{self.width}|case:{case}|eff:{order}|tok:{self.tokenize}|smooth:{self.smooth}"
            f"|sacrebleu:{sacre.version()}|v:1"
        )


cached_options = lru_cache(maxsize=64, typed=True)(BleuOptions)
"""Cached function that returns the options for one call; equal arguments are validated only once."""


@lru_cache(maxsize=64)
def _splitter(options: BleuOptions, tokenizer: BleuTokenizer) -> Callable[[str], list[str]]:
    prepare = sacre.metric("BLEU", options.for_sacrebleu(tokenizer))._preprocess_segment
    if tokenizer == "jieba":
        return lambda text: prepare(" ".join(jieba_words(text))).split()
    if tokenizer != "zh":
        return lambda text: prepare(text).split()

    def split_zh(text: str) -> list[str]:
        return list("".join(text.split())) if _ZH_CHARACTERS_ONLY.fullmatch(text) else prepare(text).split()

    return split_zh


@lru_cache(maxsize=64)
def _for_sacrebleu(options: BleuOptions, tokenizer: BleuTokenizer) -> sacre.MetricOptions:
    return (
        ("tokenize", "none" if tokenizer == "jieba" else tokenizer),
        ("smooth_method", options.smooth),
        ("effective_order", options.effective_order),
        ("lowercase", options.lowercase),
        ("force", True),  # suppress the advice on stderr about texts that end in " ."
    )


def bleu(
    hypothesis: str,
    references: References,
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
        references: One or more references. A string is one reference; a reference that is None or blank is
            ignored.
        tokenize: sacrebleu's ``13a``, ``zh``, ``char``, ``intl`` or ``none``, or ``jieba`` for Chinese words.
            ``auto`` chooses a tokenizer by the script of the references (``tokenize.choose_bleu_tokenizer``).
            sacrebleu's ``ja-mecab``, ``ko-mecab`` and ``flores200`` need additional packages.
        smooth: Smoothing method for precisions that are 0. The published formula of BLEU uses ``none`` with
            ``effective_order=False``.
        effective_order: Whether to skip orders (n-gram lengths) for which the hypothesis has no n-gram. If
            false, a text with fewer than four tokens has no BLEU.
        lowercase: Whether to ignore case.
        width: ``fold`` compares the texts after Unicode normalisation (NFKC), so that ``，`` equals ``,``.

    Returns:
        A :class:`Bleu`; its ``score`` is in 0..100.

    Raises:
        ValueError: The text is empty, there is no reference, or an option is invalid. Without effective
            order, a text with fewer than four tokens is also an error.
        PluginError: A package of the tokenizer is not installed.

    Notes:
        Papineni et al., BLEU, 2002; sacrebleu computes the numbers. BLEU was designed for a corpus
        (:func:`corpus_bleu`); the BLEU of a corpus is not the mean over its texts.

    Examples:
        >>> bleu("你好呀", "你好呀").score
        100.0
        >>> result = bleu("the the the the", ["the cat is here", "the dog and the cat"], smooth="none")
        >>> result.precisions[0], result.score  # "the" counts twice of four; no 2-gram is shared
        (50.0, 0.0)
    """
    options = cached_options(tokenize, smooth, effective_order, lowercase, width)
    return score_text(hypothesis, as_references(references), options)


def score_text(hypothesis: str, references: tuple[str, ...], options: BleuOptions) -> Bleu:
    """Return the BLEU of one text with validated references."""
    check_hypothesis(hypothesis)
    folded = tuple(fold_width(reference, options.width) for reference in references)
    tokenizer = options.resolve_tokenizer(folded)
    split = options.splitter(tokenizer)
    counts = bleu_counts(split(fold_width(hypothesis, options.width)), [split(text) for text in folded])
    return bleu_from_statistics(counts, options, tokenizer, len(references))


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[References],
    *,
    tokenize: Tokenize = "auto",
    smooth: Smooth = "exp",
    effective_order: bool = False,
    lowercase: bool = False,
    width: Width = "keep",
) -> Bleu:
    """Return the BLEU of a corpus from counts summed over its texts; it is not the mean of sentence BLEUs.

    Args:
        hypotheses: The texts to score. A blank text adds no matches, but the length of its reference counts.
        references: For each text, its references or its only reference. sacrebleu's own functions take one
            list for each *set* of references instead.
        tokenize: As in :func:`bleu`; ``auto`` chooses a single tokenizer from all references.
        smooth: As in :func:`bleu`.
        effective_order: Whether to skip orders (n-gram lengths) for which the corpus has no n-gram.
        lowercase: As in :func:`bleu`.
        width: As in :func:`bleu`.

    Raises:
        ValueError: The numbers of texts and references differ, all texts are blank, a text has no reference,
            no text has a 4-gram (an error only without effective order), or an option is invalid.

    Examples:
        >>> result = corpus_bleu(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"])
        >>> round(result.score, 2), result.tokenizer, result.hypothesis_length, result.reference_length
        (49.28, 'zh', 8, 9)
    """
    options = cached_options(tokenize, smooth, effective_order, lowercase, width)
    reference_sets = as_corpus(hypotheses, references)
    tokenizer, rows = corpus_statistics(hypotheses, reference_sets, options)
    total = sacre.sum_statistics(rows)
    return bleu_from_statistics(total, options, tokenizer, sacre.reference_count(reference_sets))


def corpus_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: BleuOptions
) -> tuple[BleuTokenizer, list[list[float]]]:
    """Return the tokenizer for a validated corpus, and the n-gram counts (statistics) of each text."""
    folded = [[fold_width(text, options.width) for text in texts] for texts in references]
    tokenizer = options.resolve_tokenizer([text for texts in folded for text in texts])
    split = options.splitter(tokenizer)
    return tokenizer, [
        bleu_counts(split(fold_width(hypothesis, options.width)), [split(text) for text in texts])
        for hypothesis, texts in zip(hypotheses, folded, strict=True)
    ]


def bleu_from_statistics(
    total: Sequence[float], options: BleuOptions, tokenizer: BleuTokenizer, references: int
) -> Bleu:
    """Return the BLEU that follows from n-gram counts (statistics) summed over texts."""
    length, fourgrams = int(total[0]), total[2 + 2 * MAX_ORDER - 1]
    if not length:
        raise ValueError(f"the hypothesis has no token under the tokenizer {tokenizer}")
    if not fourgrams and not options.effective_order:
        raise ValueError(
            f"too short for {MAX_ORDER}-grams: no text has {MAX_ORDER} tokens under the tokenizer "
            f"{tokenizer}; effective_order=True skips the missing orders"
        )
    peer: Any = sacre.score("BLEU", options.for_sacrebleu(tokenizer), total)
    return Bleu(
        score=min(peer.score, 100.0),  # exp(log(100)) is 100.00000000000004
        precisions=tuple(peer.precisions),
        brevity_penalty=peer.bp,
        hypothesis_length=length,
        reference_length=int(total[1]),
        tokenizer=tokenizer,
        signature=options.result_signature(tokenizer, references),
    )
