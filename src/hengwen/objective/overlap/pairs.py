"""Validation of hypotheses and references."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_references(references: str | Sequence[str]) -> tuple[str, ...]:
    """Return the references of one text as a tuple; a string is one reference.

    Raises:
        ValueError: There is no reference, or one is blank.

    Examples:
        >>> as_references("你好"), as_references(["a", "b"])
        (('你好',), ('a', 'b'))
    """
    texts = (references,) if isinstance(references, str) else tuple(references)
    if not texts:
        raise ValueError("there is no reference to compare with")
    for index, text in enumerate(texts):
        if not text or text.isspace():
            raise ValueError(f"{reference_label(index, len(texts))} is empty")
    return texts


def reference_label(index: int, count: int) -> str:
    """Return how a message names a reference.

    Examples:
        >>> reference_label(0, 1), reference_label(1, 2)
        ('the reference', 'reference 2 of 2')
    """
    return f"reference {index + 1} of {count}" if count > 1 else "the reference"


def check_hypothesis(hypothesis: str) -> None:
    """Raise unless there is something to compare.

    Raises:
        ValueError: The hypothesis is empty or only whitespace.
    """
    if not hypothesis or hypothesis.isspace():
        raise ValueError("the hypothesis is empty: no overlap is defined")


def as_corpus(hypotheses: Sequence[str], references: Sequence[str | Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the references of each hypothesis.

    Args:
        hypotheses: One text each; some may be blank, but not all.
        references: The references of each hypothesis, or its one reference.

    Raises:
        ValueError: The lengths differ, the corpus is empty, all hypotheses are blank, or a reference is.
        TypeError: A string is passed where a list of strings is meant.

    Examples:
        >>> as_corpus(["a", "b"], ["c", ["d", "e"]])
        [('c',), ('d', 'e')]
    """
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise TypeError("a corpus is a list of hypotheses and a list of references, got a string")
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} hypotheses but {len(references)} references; give each hypothesis its "
            "references (sacrebleu takes one list for each set of references instead)"
        )
    if not hypotheses:
        raise ValueError("there is no hypothesis")
    if not any(hypothesis.strip() for hypothesis in hypotheses):
        raise ValueError("every hypothesis is empty: no overlap is defined")
    reference_sets = []
    for number, texts in enumerate(references, 1):
        try:
            reference_sets.append(as_references(texts))
        except ValueError as error:
            raise ValueError(f"text {number}: {error}") from None
    return reference_sets
