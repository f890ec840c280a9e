"""Compute the translation edit rate (TER) with sacrebleu: edits per 100 tokens of the reference.

An edit is an insertion, a deletion, a substitution or a shift of words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hengwen._internal.plugins import whole_number
from hengwen.objective.checks import check_choice, check_flag
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap.bleu import References, as_corpus, as_references, check_hypothesis
from hengwen.objective.text import Width, char_tokens, choose_bleu_tokenizer, fold_width

Split = Literal["tercom", "char", "whitespace"]
TER_TOKENIZERS: tuple[Split, ...] = get_args(Split)
MAX_CHARACTERS = 500
"""Default maximum length of a text; a comparison of two unlike texts of this length takes about 15 s."""
_TERCOM: sacre.MetricOptions = (("normalized", True), ("asian_support", True))


@dataclass(frozen=True, slots=True)
class Ter:
    """TER of a text or of a corpus; lower is better."""

    score: float
    """Edits per 100 reference tokens; 0 for equal texts. The score has no upper bound."""
    edits: float
    reference_length: float
    """Length of the reference in tokens; for several references, their mean length."""
    tokenizer: Split
    signature: str
    """Text with all settings that can change the value; it ends with sacrebleu's own signature."""


@dataclass(frozen=True, slots=True)
class TerOptions:
    """Settings that can change a TER score, validated on construction."""

    tokenize: Literal["auto"] | Split = "auto"
    case_sensitive: bool = False
    width: Width = "keep"
    max_characters: int = MAX_CHARACTERS
    """Maximum length of a text, above which an error is raised; it does not change a value."""

    def __post_init__(self) -> None:
        check_choice("tokenize", self.tokenize, ("auto", *TER_TOKENIZERS))
        check_flag("case_sensitive", self.case_sensitive)
        check_choice("width", self.width, get_args(Width))
        whole_number("max_characters", self.max_characters)

    def resolve_tokenizer(self, references: Sequence[str]) -> Split:
        """Return the tokenizer; ``auto`` chooses it by the references."""
        if self.tokenize != "auto":
            return self.tokenize
        return "char" if choose_bleu_tokenizer(references) == "char" else "tercom"

    def for_sacrebleu(self, tokenizer: Split) -> sacre.MetricOptions:
        """Return the keyword arguments of sacrebleu's TER."""
        return (*(_TERCOM if tokenizer == "tercom" else ()), ("case_sensitive", self.case_sensitive))

    def prepare(self, text: str, tokenizer: Split) -> str:
        """Return the text as it is passed to sacrebleu."""
        folded = fold_width(text, self.width)
        if len(folded) > self.max_characters:
            raise ValueError(
                f"a text of {len(folded)} characters is too long for ter, whose time grows with the square; "
                f"max_characters is {self.max_characters}"
            )
        return " ".join(char_tokens(folded)) if tokenizer == "char" else folded

    def result_signature(self, tokenizer: Split, references: int) -> str:
        """Return the signature (all settings) of a computed value."""
        peer = sacre.signature("TER", self.for_sacrebleu(tokenizer), references)
        return f"ter|split:{tokenizer}|width:{self.width}|{peer}|v:1"

    @property
    def plan_signature(self) -> str:
        """Signature of the settings; it has ``split:auto`` if the references will decide on the tokenizer."""
        case = "mixed" if self.case_sensitive else "lc"
        return f"split:{self.tokenize}|width:{self.width}|case:{case}|sacrebleu:{sacre.version()}|v:1"


def ter(
    hypothesis: str,
    references: References,
    *,
    tokenize: Literal["auto"] | Split = "auto",
    case_sensitive: bool = False,
    width: Width = "keep",
    max_characters: int = MAX_CHARACTERS,
) -> Ter:
    """Return the translation edit rate of one text: insertions, deletions, substitutions and shifts.

    Args:
        hypothesis: The text to score.
        references: One or more references; the reference with the fewest edits counts. A string is one
            reference; a reference that is None or blank is ignored.
        tokenize: ``tercom`` is sacrebleu's tokenizer with ``normalized`` and ``asian_support``, which splits
            Han characters. ``char`` splits every character. ``whitespace`` is sacrebleu's default, which
            splits at blanks only. ``auto`` is ``char`` for kana, Hangul and Thai, which ``tercom`` does not
            split, else ``tercom``.
        case_sensitive: Whether case matters; by default it does not, as in sacrebleu.
        width: ``fold`` compares the texts after Unicode normalisation (NFKC), so that ``，`` equals ``,``.
        max_characters: Maximum length of a text, above which an error is raised. The time grows with the
            square of the length.

    Returns:
        A :class:`Ter`. A score of 0 means no edits, 100 means one edit per reference token; scores above 100
        are possible.

    Raises:
        ValueError: A text is too long, the hypothesis is empty, there is no reference, or an option is
            invalid.

    Notes:
        Snover et al., A Study of Translation Edit Rate, 2006; sacrebleu computes the numbers.

    Examples:
        >>> ter("你好呀", "你好吗").score == 100 / 3
        True
        >>> ter("b c a", "a b c").edits  # one shift
        1
    """
    options = TerOptions(tokenize, case_sensitive, width, max_characters)
    return score_text(hypothesis, as_references(references), options)


def score_text(hypothesis: str, references: tuple[str, ...], options: TerOptions) -> Ter:
    """Return the TER of one text with validated references."""
    check_hypothesis(hypothesis)
    tokenizer, (row,) = corpus_statistics([hypothesis], [references], options)
    return ter_from_statistics(row, options, tokenizer, len(references))


def corpus_ter(
    hypotheses: Sequence[str],
    references: Sequence[References],
    *,
    tokenize: Literal["auto"] | Split = "auto",
    case_sensitive: bool = False,
    width: Width = "keep",
    max_characters: int = MAX_CHARACTERS,
) -> Ter:
    """Return the TER of a corpus: the edits of all texts divided by the sum of the reference lengths.

    Raises:
        ValueError: The numbers of texts and references differ, a text is too long, all texts are blank, a
            text has no reference, or an option is invalid.

    Examples:
        >>> corpus_ter(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"]).score == 100 * 2 / 9
        True
    """
    options = TerOptions(tokenize, case_sensitive, width, max_characters)
    reference_sets = as_corpus(hypotheses, references)
    tokenizer, rows = corpus_statistics(hypotheses, reference_sets, options)
    total = sacre.sum_statistics(rows)
    return ter_from_statistics(total, options, tokenizer, sacre.reference_count(reference_sets))


def corpus_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: TerOptions
) -> tuple[Split, list[list[float]]]:
    """Return the tokenizer for a validated corpus, and the edits and reference length of each text."""
    folded = [fold_width(text, options.width) for texts in references for text in texts]
    tokenizer = options.resolve_tokenizer(folded)
    prepared = [options.prepare(text, tokenizer) for text in hypotheses]
    reference_sets = [[options.prepare(text, tokenizer) for text in texts] for texts in references]
    return tokenizer, sacre.statistics("TER", options.for_sacrebleu(tokenizer), prepared, reference_sets)


def ter_from_statistics(
    total: Sequence[float], options: TerOptions, tokenizer: Split, references: int
) -> Ter:
    """Return the TER that follows from the sum of edits and the sum of reference lengths."""
    edits, length = total
    if not length:
        raise ValueError("the reference has no token")
    signature = options.result_signature(tokenizer, references)
    return Ter(100 * edits / length, edits, length, tokenizer, signature)
