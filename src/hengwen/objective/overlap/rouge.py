"""Compute ROUGE: ROUGE-N counts shared n-grams, ROUGE-L and ROUGE-Lsum use longest common subsequences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import fsum
from typing import Literal, NamedTuple, get_args

from hengwen.objective.checks import build_signature, check_choice, check_flag
from hengwen.objective.overlap.bleu import References
from hengwen.objective.text import TOKEN_SPLITS, TokenSplit, Width, fold_width, lcs_length, split_tokens

MAX_CELLS = 2_000_000_000
"""Maximum product of the numbers of tokens of two compared sentences: 250 MB of bits."""
MAX_STEPS = 200_000_000
"""Maximum work for all pairs of different sentences, in steps of about 10 ns (see ``_steps``)."""
_STEPS_PER_TOKEN, _STEPS_PER_PAIR = 30, 60


def union_hits(reference: Sequence[Sequence[str]], hypothesis: Sequence[Sequence[str]]) -> int:
    """Return the number of matched tokens of the reference sentences; each token counts at most once."""
    if len(reference) == len(hypothesis) == 1:
        return lcs_length(reference[0], hypothesis[0])
    left, right = Counter(t for s in reference for t in s), Counter(t for s in hypothesis for t in s)
    matched = _matched_indices(reference, hypothesis)
    hits = 0
    for sentence in map(tuple, reference):
        for index in matched[sentence]:
            token = sentence[index]
            if left[token] > 0 and right[token] > 0:
                hits += 1
                left[token] -= 1
                right[token] -= 1
    return hits


def _matched_indices(
    reference: Sequence[Sequence[str]], hypothesis: Sequence[Sequence[str]]
) -> dict[tuple[str, ...], list[int]]:
    """Return, for each distinct reference sentence, the token indices that are part of an LCS."""
    others = list(dict.fromkeys(map(tuple, hypothesis)))
    with_token: dict[str, list[int]] = {}
    for number, other in enumerate(others):
        for token in dict.fromkeys(other):
            with_token.setdefault(token, []).append(number)
    steps = 0
    partners: dict[tuple[str, ...], set[int]] = {}
    for sentence in dict.fromkeys(map(tuple, reference)):
        numbers = partners[sentence] = set()
        for token in dict.fromkeys(sentence):
            steps += len(with_token.get(token, ()))
            numbers.update(with_token.get(token, ()))
        steps += sum(_steps(len(sentence), len(others[number])) for number in numbers)
        if steps > MAX_STEPS:
            sizes = f"{sum(map(len, reference))} and {sum(map(len, hypothesis))} tokens"
            raise ValueError(f"texts of {sizes} are too long for rougeLsum, use rougeL")
    return {
        sentence: sorted(set().union(*(lcs_indices(sentence, others[number]) for number in numbers)))
        for sentence, numbers in partners.items()
    }


def _steps(a: int, b: int) -> int:
    """Return the work of ``lcs_indices`` for two lengths, in units of about 10 ns."""
    return a * b // 32 + _STEPS_PER_TOKEN * (a + b) + _STEPS_PER_PAIR


def lcs_indices(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Return the indices in ``a`` of one longest common subsequence with ``b``, in descending order."""
    if len(a) * len(b) > MAX_CELLS:
        raise ValueError(
            f"sentences of {len(a)} and {len(b)} tokens are too long for rougeLsum, "
            "split them into lines or use rougeL"
        )
    rows = _rows(a, b)
    indices = []
    i, j = len(a), len(b)
    while i and j:
        if a[i - 1] == b[j - 1]:
            indices.append(i - 1)
            i -= 1
            j -= 1
        elif _is_longer(rows[i - 1], rows[i], j):
            j -= 1
        else:
            i -= 1
    return indices


def _rows(a: Sequence[str], b: Sequence[str]) -> list[int]:
    """Return rows of bits; bit j of row i is set if b[:j + 1] has a longer LCS with a[:i] than b[:j] has."""
    positions: dict[str, int] = {}
    for index, token in enumerate(b):
        positions[token] = positions.get(token, 0) | 1 << index
    full = (1 << len(b)) - 1
    complement = full  # complement of the row, as in Hyyrö's recurrence
    rows = [0]
    for token in a:
        matches = complement & positions.get(token, 0)
        complement = ((complement + matches) | (complement - matches)) & full
        rows.append(full ^ complement)
    return rows


def _is_longer(above: int, row: int, width: int) -> bool:
    """Return whether the LCS of the first ``width`` tokens is longer in this row than in the row above."""
    mask = (1 << width) - 1
    return (row & mask).bit_count() > (above & mask).bit_count()


RougeKind = str
"""Kind of ROUGE: ``rouge1`` to ``rouge9``, ``rougeL`` or ``rougeLsum``."""
MultiRef = Literal["best", "mean", "pooled"]
"""How several references give one value: ``best`` uses the reference with the best F, ``mean`` averages over
all references, ``pooled`` computes the ratios from counts summed over all references."""
Sentences = Literal["newline", "punctuation"]
_KIND = re.compile(r"rouge([1-9]|L|Lsum)")
_SENTENCE_END = re.compile(r"\n|(?<=[。！？!?…])(?![。！？!?…”’」』\")])|(?<=[。！？!?…][”’」』\")])")


class Rouge(NamedTuple):
    """Overlap of a text (the hypothesis) with a reference; each value is in 0..1."""

    precision: float
    """Share of the hypothesis' tokens (or n-grams) that match."""
    recall: float
    """Share of the reference's tokens (or n-grams) that match."""
    f: float
    """Weighted harmonic mean of precision and recall."""


class _Overlap(NamedTuple):
    """Numbers of tokens (or n-grams): those that match, all of the text, and all of the reference."""

    matched: int
    hypothesis_total: int
    reference_total: int


@dataclass(frozen=True, slots=True)
class RougeOptions:
    """Settings that can change a ROUGE score, validated on construction."""

    kind: RougeKind = "rougeL"
    tokenize: Literal["auto"] | TokenSplit = "auto"
    beta: float = 1.0
    multi_ref: MultiRef = "best"
    stem: bool = False
    width: Width = "keep"
    sentences: Sentences = "newline"
    tokens_of: Callable[[str], Sequence[Sequence[str]]] = field(init=False, repr=False, compare=False)
    """Function that splits a text into token sequences: a single one, or for ``rougeLsum`` one per
    sentence."""
    order: int = field(init=False, repr=False, compare=False)
    """Length of the n-grams, which is also the minimum number of tokens of a text; 1 for ``rougeL`` and
    ``rougeLsum``."""

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or not _KIND.fullmatch(self.kind):
            raise ValueError(f"kind must be rouge1 to rouge9, rougeL or rougeLsum, got {self.kind!r}")
        if (
            isinstance(self.beta, bool)
            or not isinstance(self.beta, (int, float))
            or not 0 < self.beta < float("inf")
        ):
            raise ValueError(f"beta must be a number above 0, got {self.beta!r}")
        check_flag("stem", self.stem)
        check_choice("tokenize", self.tokenize, ("auto", *TOKEN_SPLITS))
        check_choice("multi_ref", self.multi_ref, get_args(MultiRef))
        check_choice("width", self.width, get_args(Width))
        check_choice("sentences", self.sentences, get_args(Sentences))
        object.__setattr__(self, "tokens_of", _tokenizer(self))
        object.__setattr__(self, "order", int(self.kind[-1]) if self.kind[-1].isdigit() else 1)

    @property
    def split(self) -> TokenSplit:
        """Name of the tokenizer. ``auto`` means ``mixed``, which splits by the script of each character."""
        return "mixed" if self.tokenize == "auto" else self.tokenize

    @property
    def signature(self) -> str:
        """Text with every setting, in a fixed order."""
        parts: list[object] = ["rouge", ("kind", self.kind), ("tok", self.split), ("beta", float(self.beta))]
        parts += [("refs", self.multi_ref), ("stem", self.stem), ("width", self.width)]
        if self.kind == "rougeLsum":
            parts.append(("sent", self.sentences))
        return build_signature(*parts, ("v", 1))


cached_options = lru_cache(maxsize=128, typed=True)(RougeOptions)
"""Cached function that returns the options for one call; equal arguments are validated only once."""


def rouge(  # noqa: PLR0913 - keyword-only options
    hypothesis: str,
    references: References,
    kind: RougeKind = "rougeL",
    *,
    tokenize: Literal["auto"] | TokenSplit = "auto",
    beta: float = 1.0,
    multi_ref: MultiRef = "best",
    stem: bool = False,
    width: Width = "keep",
    sentences: Sentences = "newline",
) -> Rouge:
    """Return the ROUGE values of a text: precision, recall and F of its overlap with references.

    Args:
        hypothesis: The text to score.
        references: One or more references; a string is one reference. A reference that is None, blank,
            without a token or too short for the n-grams is ignored.
        kind: ``rouge1`` to ``rouge9`` count shared n-grams; if an n-gram has different counts in the two
            texts, the smaller count is used. ``rougeL`` uses the longest common subsequence of the texts.
            ``rougeLsum`` works by sentence: for each reference sentence it finds the longest common
            subsequence with each sentence of the hypothesis, and counts each matched token once.
        tokenize: ``auto`` and ``mixed`` split into CJK (Chinese, Japanese, Korean) characters and lower-case
            words without punctuation (``tokenize.mixed_tokens``); ``char`` into characters; ``jieba`` into
            Chinese words; ``whitespace`` at whitespace.
        beta: Weight of recall R against precision P: F = (1 + beta^2) P R / (R + beta^2 P).
        multi_ref: How several references give one value. ``best``: the reference with the best F (the first
            of several equally good references). ``mean``: the mean over the references. ``pooled``: matches
            and tokens are summed over the references, as ROUGE-1.5.5 does with ``-f A``.
        stem: Whether to replace ASCII words of more than three letters by their Porter stems, as rouge-score
            does; needs nltk.
        width: ``fold`` compares the texts after Unicode normalisation (NFKC), so that ``Ａ`` equals ``A``.
        sentences: How ``rougeLsum`` finds sentences: one per line, or also split after 。！？!?…

    Returns:
        Precision, recall and F, each in 0..1.

    Raises:
        ValueError: The text or every reference has no token or is too short for the n-grams, there is no
            reference, or an option is invalid. A text that cannot be compared is always an error, never a
            score of 0.
        PluginError: ``stem`` is true, but nltk is not installed.

    Notes:
        Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004. On English text the values equal
        those of rouge-score.

    Examples:
        >>> rouge("今天的月亮很圆", "今天月亮真圆")  # 今天月亮圆 is common: 5 of 7, 5 of 6
        Rouge(precision=0.7142857142857143, recall=0.8333333333333334, f=0.7692307692307692)
        >>> rouge("the the the", "the cat", "rouge1").precision  # the counts once
        0.3333333333333333
        >>> rouge("！！", "你好")
        Traceback (most recent call last):
            ...
        ValueError: the hypothesis has no token: it has no letter or digit
    """
    return score_text(
        hypothesis, references, cached_options(kind, tokenize, beta, multi_ref, stem, width, sentences)
    )


def score_text(hypothesis: str, references: References, options: RougeOptions) -> Rouge:
    """Return the ROUGE values of one text against its references; the options are already validated."""
    if isinstance(references, str):
        references = (references,)
    if not references:
        raise ValueError("there is no reference to compare with")
    hypothesis_tokens = options.tokens_of(hypothesis)
    if not hypothesis_tokens or len(hypothesis_tokens[0]) < options.order:
        raise ValueError(_unusable(hypothesis, hypothesis_tokens, "the hypothesis", options.order))
    overlaps: list[_Overlap] = []
    for reference in references:
        reference_tokens = options.tokens_of(reference or "")
        if reference_tokens and len(reference_tokens[0]) >= options.order:
            overlaps.append(_compare(hypothesis_tokens, reference_tokens, options))
    if not overlaps:
        reference = references[0] or ""
        label = f"reference 1 of {len(references)}" if len(references) > 1 else "the reference"
        raise ValueError(_unusable(reference, options.tokens_of(reference), label, options.order))
    if len(overlaps) == 1:
        return _ratio(overlaps[0], options.beta)
    if options.multi_ref == "pooled":
        return _ratio(_Overlap(*map(sum, zip(*overlaps, strict=True))), options.beta)
    scores = [_ratio(overlap, options.beta) for overlap in overlaps]
    if options.multi_ref == "best":
        return max(scores, key=lambda score: score.f)
    return Rouge(*(fsum(column) / len(scores) for column in zip(*scores, strict=True)))


def _tokenizer(options: RougeOptions) -> Callable[[str], Sequence[Sequence[str]]]:
    split = _stemmed(options.split) if options.stem else split_tokens(options.split)

    def split_lines(text: str) -> Sequence[Sequence[str]]:
        lines = _sentences(fold_width(text, options.width), options.sentences)
        return [tokens for line in lines if (tokens := split(line))]

    def split_folded(text: str) -> Sequence[Sequence[str]]:
        return (tokens,) if (tokens := split(fold_width(text, "fold"))) else ()

    def split_text(text: str) -> Sequence[Sequence[str]]:
        return (tokens,) if (tokens := split(text)) else ()

    if options.kind == "rougeLsum":
        return split_lines
    return split_folded if options.width == "fold" else split_text


def _sentences(text: str, sentences: Sentences) -> Iterable[str]:
    if sentences == "newline":
        return text.split("\n")
    return (part for part in _SENTENCE_END.split(text) if part)


def _unusable(text: str, tokens: Sequence[Sequence[str]], name: str, order: int) -> str:
    """Return why ROUGE cannot be computed for a text: it is empty, has no token or is too short."""
    if not text.strip():
        return f"{name} is empty"
    if not tokens:
        return f"{name} has no token: it has no letter or digit"
    count = "1 token" if len(tokens[0]) == 1 else f"{len(tokens[0])} tokens"
    return f"too short for {order}-grams: {name} has {count}"


def _compare(
    hypothesis: Sequence[Sequence[str]], reference: Sequence[Sequence[str]], options: RougeOptions
) -> _Overlap:
    if options.kind == "rougeL":
        a, b = hypothesis[0], reference[0]
        return _Overlap(lcs_length(a, b), len(a), len(b))
    if options.kind == "rougeLsum":
        hits = union_hits(reference, hypothesis)
        return _Overlap(hits, sum(map(len, hypothesis)), sum(map(len, reference)))
    grams, reference_grams = _grams(hypothesis[0], options.order), _grams(reference[0], options.order)
    shared = sum(
        min(count, reference_grams[gram]) for gram, count in grams.items() if gram in reference_grams
    )
    return _Overlap(shared, grams.total(), reference_grams.total())


def _grams(tokens: Sequence[str], n: int) -> Counter[object]:
    return Counter(tokens if n == 1 else zip(*(tokens[i:] for i in range(n)), strict=False))


def _ratio(overlap: _Overlap, beta: float) -> Rouge:
    if not overlap.matched:
        return Rouge(0.0, 0.0, 0.0)
    precision, recall = overlap.matched / overlap.hypothesis_total, overlap.matched / overlap.reference_total
    if beta == 1:
        return Rouge(precision, recall, 2 * precision * recall / (precision + recall))
    weight = beta * beta
    return Rouge(precision, recall, (1 + weight) * precision * recall / (recall + weight * precision))


@lru_cache(maxsize=8)
def _stemmed(split: TokenSplit) -> Callable[[str], list[str]]:
    from hengwen.errors import PluginError

    try:
        from nltk.stem.porter import PorterStemmer  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise PluginError("stem: true needs nltk, install it with pip install 'hengwen[text]'") from error
    stem = lru_cache(maxsize=100_000)(PorterStemmer().stem)
    tokens = split_tokens(split)

    def stems(text: str) -> list[str]:
        return [stem(word) if len(word) > 3 and word.isascii() else word for word in tokens(text)]

    return stems


def score_prefix(kind: RougeKind) -> str:
    """Return the first part of the score names for a kind of ROUGE."""
    return f"rouge_{kind.removeprefix('rouge').lower()}"
