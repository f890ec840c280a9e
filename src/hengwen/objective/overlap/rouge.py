"""ROUGE-N, ROUGE-L and ROUGE-Lsum: shared n-grams and longest common subsequences."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, get_args

from rapidfuzz.distance import LCSseq

from hengwen.objective.signature import build_signature
from hengwen.objective.text.tokenize import TOKEN_SPLITS, TokenSplit, Width, fold_width, split_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Kind = str
"""``rouge1`` to ``rouge9``, ``rougeL``, ``rougeLsum``."""
Several = Literal["best", "mean"]
Sentences = Literal["newline", "punctuation"]
_KIND = re.compile(r"rouge([1-9]|L|Lsum)")
_SENTENCE_END = re.compile(r"\n|(?<=[。！？!?…])(?![。！？!?…”’」』\")])|(?<=[。！？!?…][”’」』\")])")


class Rouge(NamedTuple):
    """Overlap of two texts, each in 0..1."""

    precision: float
    """Of the hypothesis' tokens (or n-grams), the share that is matched."""
    recall: float
    """Of the reference's."""
    f: float
    """Their weighted harmonic mean."""


@dataclass(frozen=True, slots=True)
class RougeOptions:
    """What may move a ROUGE score besides the texts."""

    kind: Kind = "rougeL"
    tokenize: Literal["auto"] | TokenSplit = "auto"
    beta: float = 1.0
    several: Several = "best"
    stem: bool = False
    width: Width = "keep"
    sentences: Sentences = "newline"
    read: Callable[[str], Sequence[Sequence[str]]] = field(init=False, repr=False, compare=False)
    """What a text is compared by: one sequence of tokens, or for ``rougeLsum`` one for each sentence."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "read", _reader(self))

    @property
    def split(self) -> TokenSplit:
        """The tokenizer; ``auto`` is ``mixed``, which goes by the script of each character."""
        return "mixed" if self.tokenize == "auto" else self.tokenize

    @property
    def signature(self) -> str:
        """Every option, in a fixed order."""
        parts: list[object] = ["rouge", ("kind", self.kind), ("tok", self.split), ("beta", float(self.beta))]
        parts += [("refs", self.several), ("stem", self.stem), ("width", self.width)]
        if self.kind == "rougeLsum":
            parts.append(("sent", self.sentences))
        return build_signature(*parts, ("v", 1))


@lru_cache(maxsize=128)
def check_options(
    kind: str = "rougeL",
    tokenize: str = "auto",
    beta: float = 1.0,
    several: str = "best",
    stem: bool = False,
    width: str = "keep",
    sentences: str = "newline",
) -> RougeOptions:
    """Return the options, or raise.

    Raises:
        ValueError: An option has no allowed value.

    Examples:
        >>> check_options("rouge2").signature
        'rouge|kind:rouge2|tok:mixed|beta:1|refs:best|stem:no|width:keep|v:1'
    """
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise ValueError(f"kind must be rouge1 to rouge9, rougeL or rougeLsum, got {kind!r}")
    if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not 0 < beta < float("inf"):
        raise ValueError(f"beta must be a number above 0, got {beta!r}")
    if not isinstance(stem, bool):
        raise ValueError(f"stem must be true or false, got {stem!r}")
    choices = (
        ("tokenize", tokenize, ("auto", *TOKEN_SPLITS)),
        ("several", several, get_args(Several)),
        ("width", width, get_args(Width)),
        ("sentences", sentences, get_args(Sentences)),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise ValueError(f"{name} must be {' or '.join(allowed)}, got {value!r}")
    return RougeOptions(kind, tokenize, beta, several, stem, width, sentences)  # type: ignore[arg-type]


def rouge(
    hypothesis: str,
    references: str | Sequence[str],
    kind: Kind = "rougeL",
    *,
    tokenize: Literal["auto"] | TokenSplit = "auto",
    beta: float = 1.0,
    several: Several = "best",
    stem: bool = False,
    width: Width = "keep",
    sentences: Sentences = "newline",
) -> Rouge:
    """Return the overlap of a text with its references.

    Args:
        hypothesis: The text to score.
        references: One or more; a string is one.
        kind: ``rouge1`` .. ``rouge9`` count shared n-grams, each at most as often as both texts have it;
            ``rougeL`` takes the longest common subsequence; ``rougeLsum`` the union of those of each
            reference sentence with all sentences of the hypothesis, each token counted once.
        tokenize: ``auto`` and ``mixed``: CJK characters and lower-case words, no punctuation
            (``tokenize.mixed_tokens``); ``char``: all characters; ``jieba``: Chinese words; ``whitespace``.
        beta: Weight of recall: F = (1 + beta^2) P R / (R + beta^2 P).
        several: Several references: the one with the best F (the first of equals), or the mean of all.
        stem: Porter stems of ASCII words of more than three letters, as rouge-score does; needs nltk.
        width: ``fold`` compares after NFKC.
        sentences: For ``rougeLsum``: one a line, or also split after 。！？!?…

    Returns:
        Precision, recall and F, each in 0..1.

    Raises:
        ValueError: A text has no token (or is too short for the n-grams), there is no reference, an option is
            wrong: nothing is 0 because it was not read.
        PluginError: ``stem`` without nltk.

    Notes:
        Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004. English agrees with rouge-score.

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
    return score_checked(
        hypothesis, references, check_options(kind, tokenize, beta, several, stem, width, sentences)
    )


def score_checked(hypothesis: str, references: str | Sequence[str], options: RougeOptions) -> Rouge:
    """Return the overlap under options that are checked."""
    if isinstance(references, str):
        references = (references,)
    if not references:
        raise ValueError("there is no reference to compare with")
    ours = options.read(hypothesis)
    if not ours:
        raise ValueError(_no_token(hypothesis, "the hypothesis"))
    found = [
        _compare(ours, options.read(reference) or _absent(references, place), options)
        for place, reference in enumerate(references)
    ]
    if len(found) == 1:
        return found[0]
    if options.several == "best":
        return max(found, key=lambda one: one.f)
    return Rouge(*(sum(column) / len(found) for column in zip(*found, strict=True)))


def _reader(options: RougeOptions) -> Callable[[str], Sequence[Sequence[str]]]:
    split = _stemmed(options.split) if options.stem else split_tokens(options.split)

    def read_lines(text: str) -> Sequence[Sequence[str]]:
        lines = _sentences(fold_width(text, options.width), options.sentences)
        return [tokens for line in lines if (tokens := split(line))]

    def read_folded(text: str) -> Sequence[Sequence[str]]:
        return (tokens,) if (tokens := split(fold_width(text, "fold"))) else ()

    def read(text: str) -> Sequence[Sequence[str]]:
        return (tokens,) if (tokens := split(text)) else ()

    if options.kind == "rougeLsum":
        return read_lines
    return read_folded if options.width == "fold" else read


def _sentences(text: str, sentences: Sentences) -> Iterable[str]:
    if sentences == "newline":
        return text.split("\n")
    return (part for part in _SENTENCE_END.split(text) if part)


def _no_token(text: str, name: str) -> str:
    if not text.strip():
        return f"{name} is empty"
    return f"{name} has no token: it has no letter or digit"


def _absent(references: Sequence[str], place: int) -> NoReturn:
    which = f"reference {place + 1} of {len(references)}" if len(references) > 1 else "the reference"
    raise ValueError(_no_token(references[place], which))


def _compare(ours: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]], options: RougeOptions) -> Rouge:
    if options.kind == "rougeL":
        a, b = ours[0], theirs[0]
        return _ratio(LCSseq.similarity(a, b), len(a), len(b), options.beta)
    if options.kind == "rougeLsum":
        from hengwen.objective.overlap.union_lcs import union_hits

        return _ratio(union_hits(theirs, ours), sum(map(len, ours)), sum(map(len, theirs)), options.beta)
    n = int(options.kind[-1])
    grams, wanted = _grams(ours[0], n, "the hypothesis"), _grams(theirs[0], n, "the reference")
    shared = sum(min(count, wanted[gram]) for gram, count in grams.items() if gram in wanted)
    return _ratio(shared, grams.total(), wanted.total(), options.beta)


def _grams(tokens: Sequence[str], n: int, name: str) -> Counter[object]:
    if len(tokens) < n:
        count = "1 token" if len(tokens) == 1 else f"{len(tokens)} tokens"
        raise ValueError(f"too short for {n}-grams: {name} has {count}")
    return Counter(tokens if n == 1 else zip(*(tokens[i:] for i in range(n)), strict=False))


def _ratio(matched: int, ours: int, theirs: int, beta: float) -> Rouge:
    precision, recall = matched / ours, matched / theirs
    if not matched:
        return Rouge(0.0, 0.0, 0.0)
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


def score_prefix(kind: Kind) -> str:
    """Return how scores of a kind are named.

    Examples:
        >>> score_prefix("rougeL"), score_prefix("rougeLsum"), score_prefix("rouge2")
        ('rouge_l', 'rouge_lsum', 'rouge_2')
    """
    return f"rouge_{kind.removeprefix('rouge').lower()}"
