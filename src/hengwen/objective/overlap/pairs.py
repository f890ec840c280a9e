"""Validate hypotheses (texts to score) and references; a None or blank reference counts as missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hengwen._internal.checks import check_texts

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
