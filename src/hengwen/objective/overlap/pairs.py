"""Hypotheses with their references, checked: what cannot be compared is said here, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_references(references: str | Sequence[str]) -> tuple[str, ...]:
    """Return the references of one text as a tuple; a string is one reference.

    Raises:
        ValueError: There is none, or one is blank.

    Examples:
        >>> as_references("你好"), as_references(["a", "b"])
        (('你好',), ('a', 'b'))
    """
    found = (references,) if isinstance(references, str) else tuple(references)
    if not found:
        raise ValueError("there is no reference to compare with")
    for place, reference in enumerate(found, 1):
        if not reference or reference.isspace():
            which = f"reference {place} of {len(found)}" if len(found) > 1 else "the reference"
            raise ValueError(f"{which} is empty")
    return found


def check_hypothesis(hypothesis: str) -> None:
    """Raise where there is nothing to compare.

    Raises:
        ValueError: The hypothesis is empty or only whitespace.
    """
    if not hypothesis or hypothesis.isspace():
        raise ValueError("the hypothesis is empty: no overlap is defined")


def as_corpus(hypotheses: Sequence[str], references: Sequence[str | Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the references of each hypothesis.

    Args:
        hypotheses: One text each; a blank one is allowed among others.
        references: For each hypothesis its references, or its one reference.

    Raises:
        ValueError: The lengths differ, there is none, all hypotheses are blank, or a reference is.
        TypeError: One string was given where a list of strings is meant.

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
    checked = []
    for place, given in enumerate(references, 1):
        try:
            checked.append(as_references(given))
        except ValueError as error:
            raise ValueError(f"text {place}: {error}") from None
    return checked
