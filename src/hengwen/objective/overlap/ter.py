"""TER through sacrebleu: edits, shifts among them, for each token of the reference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from hengwen._internal.checks import whole_number
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap.pairs import as_corpus, as_references, check_hypothesis
from hengwen.objective.text.tokenize import Width, char_tokens, choose_bleu_tokenizer, fold_width

if TYPE_CHECKING:
    from collections.abc import Sequence

Split = Literal["tercom", "char"]
MAX_CHARACTERS = 500
"""Of one text by default: two unlike texts of this length take some 15 s."""
_OPTIONS: sacre.Options = (("normalized", True), ("asian_support", True))


@dataclass(frozen=True, slots=True)
class Ter:
    """TER of a text or a corpus; less is better."""

    score: float
    """Edits for 100 tokens of reference: 0 for equal texts, no upper end."""
    edits: float
    reference_length: float
    """In tokens; several references count with their mean length."""
    tokenizer: Split
    signature: str
    """Ours around sacrebleu's."""


@dataclass(frozen=True, slots=True)
class TerOptions:
    """What may move TER besides the texts."""

    tokenize: Literal["auto"] | Split = "auto"
    case_sensitive: bool = False
    width: Width = "keep"
    max_characters: int = MAX_CHARACTERS
    """Longer texts are refused; moves no number."""

    def __post_init__(self) -> None:
        if self.tokenize not in ("auto", *get_args(Split)):
            raise ValueError(f"tokenize must be auto, tercom or char, got {self.tokenize!r}")
        if not isinstance(self.case_sensitive, bool):
            raise ValueError(f"case_sensitive must be true or false, got {self.case_sensitive!r}")
        if self.width not in ("keep", "fold"):
            raise ValueError(f"width must be keep or fold, got {self.width!r}")
        whole_number("max_characters", self.max_characters)

    def of(self, references: Sequence[str]) -> Split:
        """Return the tokenizer for references that have their final width."""
        if self.tokenize != "auto":
            return self.tokenize
        return "char" if choose_bleu_tokenizer(references) == "char" else "tercom"

    def for_sacrebleu(self, tokenizer: Split) -> sacre.Options:
        """The keyword arguments of sacrebleu's TER; ``char`` is cut before."""
        return (*(_OPTIONS if tokenizer == "tercom" else ()), ("case_sensitive", self.case_sensitive))

    def prepare(self, text: str, tokenizer: Split) -> str:
        """Return the text as sacrebleu gets it.

        Raises:
            ValueError: It is too long.
        """
        folded = fold_width(text, self.width)
        if len(folded) > self.max_characters:
            raise ValueError(
                f"a text of {len(folded)} characters is too long for ter, whose time grows with the square; "
                f"max_characters is {self.max_characters}"
            )
        return folded if tokenizer == "tercom" else " ".join(char_tokens(folded))

    def signature(self, tokenizer: Split, references: int) -> str:
        """Ours around sacrebleu's."""
        theirs = sacre.signature("TER", self.for_sacrebleu(tokenizer), references)
        return f"ter|split:{tokenizer}|width:{self.width}|{theirs}|v:1"

    @property
    def plan_signature(self) -> str:
        """The signature before any text is known: ``split:auto`` is a function of the references."""
        case = "mixed" if self.case_sensitive else "lc"
        return f"split:{self.tokenize}|width:{self.width}|case:{case}|sacrebleu:{sacre.version()}|v:1"


def ter(
    hypothesis: str,
    references: str | Sequence[str],
    *,
    tokenize: Literal["auto"] | Split = "auto",
    case_sensitive: bool = False,
    width: Width = "keep",
    max_characters: int = MAX_CHARACTERS,
) -> Ter:
    """Return the translation edit rate of one text: insertions, deletions, substitutions and shifts.

    Args:
        hypothesis: The text to score.
        references: One or more, the one with the fewest edits counts; a string is one.
        tokenize: ``tercom`` is sacrebleu's with ``normalized`` and ``asian_support``, which cuts Han
            characters; ``char`` cuts all; ``auto`` takes ``char`` for kana, Hangul and Thai, which
            ``tercom`` leaves whole.
        case_sensitive: As in sacrebleu off by default.
        width: ``fold`` compares after NFKC.
        max_characters: Longer texts are refused; the time grows with the square of the length.

    Returns:
        A :class:`Ter`; 0 is perfect, 100 as many edits as the reference has tokens, more is possible.

    Raises:
        ValueError: A text is empty or too long, there is no reference, or an option is wrong.

    Notes:
        Snover et al., A Study of Translation Edit Rate, 2006; the numbers are sacrebleu's.

    Examples:
        >>> ter("你好呀", "你好吗").score == 100 / 3
        True
        >>> ter("b c a", "a b c").edits  # one shift
        1
    """
    options = check_options(tokenize, case_sensitive, width, max_characters)
    return score_checked(hypothesis, as_references(references), options)


@lru_cache(maxsize=32)
def check_options(
    tokenize: Literal["auto"] | Split,
    case_sensitive: bool,
    width: Width,
    max_characters: int = MAX_CHARACTERS,
) -> TerOptions:
    """Return the options, or raise ValueError."""
    return TerOptions(tokenize, case_sensitive, width, max_characters)


def score_checked(hypothesis: str, references: tuple[str, ...], options: TerOptions) -> Ter:
    """Return the TER of one text under options and references that are checked."""
    check_hypothesis(hypothesis)
    tokenizer, (stats,) = corpus_statistics([hypothesis], [references], options)
    return ter_of(stats, options, tokenizer, len(references))


def corpus_ter(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    tokenize: Literal["auto"] | Split = "auto",
    case_sensitive: bool = False,
    width: Width = "keep",
    max_characters: int = MAX_CHARACTERS,
) -> Ter:
    """Return the TER of a corpus: all edits over all reference lengths; arguments as in ``corpus_bleu``.

    Raises:
        ValueError: As in :func:`ter`, or the lengths differ.

    Examples:
        >>> corpus_ter(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"]).score == 100 * 2 / 9
        True
    """
    options = check_options(tokenize, case_sensitive, width, max_characters)
    checked = as_corpus(hypotheses, references)
    tokenizer, stats = corpus_statistics(hypotheses, checked, options)
    total = [sum(column) for column in zip(*stats, strict=True)]
    return ter_of(total, options, tokenizer, sacre.reference_count(checked))


def corpus_statistics(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: TerOptions
) -> tuple[Split, list[list[float]]]:
    """Return the tokenizer for a corpus that is checked, and edits and reference length of each text."""
    tokenizer = options.of([fold_width(text, options.width) for own in references for text in own])
    ours = [options.prepare(text, tokenizer) for text in hypotheses]
    theirs = [[options.prepare(text, tokenizer) for text in own] for own in references]
    return tokenizer, sacre.statistics("TER", options.for_sacrebleu(tokenizer), ours, theirs)


def ter_of(total: Sequence[float], options: TerOptions, tokenizer: Split, references: int) -> Ter:
    """Return the TER of summed statistics."""
    edits, length = total
    if not length:
        raise ValueError("the reference has no token")
    return Ter(100 * edits / length, edits, length, tokenizer, options.signature(tokenizer, references))
