"""The clauses of the rules judge: each checks one property of an answer and gives a cap or a credit.

A cap is the best level that the answer can still get; a credit is a reason for giving the best level. A
clause returns None if it does not apply to the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from hengwen.judges.rules.input import fold_phrase
from hengwen.objective.detectors import find_numbers, repeated_share
from hengwen.objective.duplicates.similarity import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hengwen.judges.rules.input import ClauseInput
    from hengwen.prompts.rubric import ClauseName

Cap = Literal["worst", "second_worst", "middle", "second_best"]
CAPS: tuple[Cap, ...] = ("worst", "second_worst", "middle", "second_best")
"""All caps, the strictest first. A cap is the best level that an answer can still get."""

MIN_SIMILARITY_FOR_CREDIT = 0.3
"""Minimum similarity to a reference at which an answer gets a credit (a reason for the best level)."""
MIN_SIMILARITY = 0.1
"""If an answer's similarity to every reference is below this value, its level is capped."""
MAX_REPEATED_SHARE = 0.7
"""If the share of repeated lines in an answer is at least this value, its level is capped. Songs with a
chorus stay below this value."""
MIN_LINES = 4
"""Repeated lines are counted only in answers with at least this number of lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseResult:
    """Result of one clause (a single check by the rules judge) for one answer."""

    en: str
    cap: Cap | None = None
    """The best level that the answer can still get; None if the clause does not object."""
    credit: bool = False
    """Whether the clause gives a credit, which is a reason for giving the best level."""


def empty_or_broken(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the worst level if it is empty, garbled, a loop or unfinished thinking."""
    breakage = answer.breakage
    if breakage is None:
        return ClauseResult(en="readable")
    return ClauseResult(en=breakage.en, cap="middle" if breakage.slight else "worst")


def near_duplicate(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the worst level if it repeats an earlier answer to the same sample."""
    if not answer.earlier or "near_duplicate" in answer.exempt:
        return None
    repeated = next((match for match in answer.earlier_matches if match.similarity >= THRESHOLD), None)
    if repeated is None:
        return ClauseResult(en="unlike earlier answers")
    return ClauseResult(
        en=f"similarity {repeated.similarity:.2f} to repeat {repeated.repeat}",
        cap="worst",
    )


def wrong_number(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the second worst level if it gives another number than ``metadata.number``."""
    if answer.number is None or answer.number.verdict == "unclear":
        return None
    expected, verdict = answer.number
    if verdict == "right":
        return ClauseResult(en="no wrong number")
    if verdict == "none":
        return ClauseResult(en=f"no number, expected {expected}", cap="middle")
    numbers = ", ".join(str(number) for number in find_numbers(answer.text)[:4]) or "another"
    return ClauseResult(en=f"{numbers} instead of {expected}", cap="second_worst")


def right_number(answer: ClauseInput) -> ClauseResult | None:
    """Give a credit (a reason for the best level) if the answer contains the right number."""
    if answer.number is None or answer.number.verdict == "unclear":
        return None
    expected, verdict = answer.number
    if verdict == "right":
        return ClauseResult(en=f"{expected} as expected", credit=True)
    return ClauseResult(en="not the right number")


def copy_of_reference(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the middle level if it equals a reference apart from particles and punctuation."""
    references, metadata = answer.sample.references, answer.sample.metadata
    if not references or "target_copy" in answer.exempt or metadata.keys() & {"number", "answer"}:
        return None
    if answer.reference_copy is not None and answer.reference_copy.normalized:
        return ClauseResult(en="the reference word for word", cap="middle")
    return ClauseResult(en="no copy of the reference")


def plain_text(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the middle level if it has markup although the rubric requires plain text."""
    if not answer.rules.plain_text:
        return None
    hits = answer.markup(answer.names)
    if not hits:
        return ClauseResult(en="plain words", credit=True)
    evidence = "; ".join(hit.evidence for hit in hits)
    return ClauseResult(en=evidence, cap="middle")


def taboo(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the second worst level if it contains a phrase that must not occur."""
    if not answer.rules.taboo:
        return None
    phrase = _first_phrase_in(answer, answer.rules.taboo)
    if phrase is None:
        return ClauseResult(en="no taboo phrase")
    return ClauseResult(en=f"says '{phrase}'", cap="second_worst")


def markers(answer: ClauseInput) -> ClauseResult | None:
    """Give a credit (a reason for the best level) for a word typical of the persona."""
    if not answer.rules.markers:
        return None
    phrase = _first_phrase_in(answer, answer.rules.markers)
    if phrase is None:
        return ClauseResult(en="no persona marker", cap="second_best")
    return ClauseResult(en=f"says '{phrase}'", credit=True)


def length(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the middle level if it is too long or too short."""
    limits = answer.rules.length
    if limits is None:
        return None
    size = len("".join(answer.text.split()))
    if limits.min <= size and (limits.max is None or size <= limits.max):
        return ClauseResult(en=f"{size} characters", credit=True)
    bounds = f"{limits.min}-{limits.max if limits.max is not None else '∞'}"
    is_far = 2 * size < limits.min or (limits.max is not None and size > 2 * limits.max)
    return ClauseResult(
        en=f"{size} characters, wanted {bounds}",
        cap="second_worst" if is_far else "middle",
    )


def reference_similarity(answer: ClauseInput) -> ClauseResult | None:
    """Give a credit (a reason for the best level) if the similarity to a reference is at least 0.3."""
    if not answer.sample.references:
        return None
    closest = max(map(answer.similarity_to, answer.sample.references))
    return ClauseResult(
        en=f"similarity {closest:.2f} to the reference",
        cap="middle" if closest < MIN_SIMILARITY else None,
        credit=closest >= MIN_SIMILARITY_FOR_CREDIT,
    )


def repeated_lines(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the second worst level if 70 % or more of its lines repeat earlier lines."""
    share, lines = repeated_share(answer.text)
    if lines < MIN_LINES:
        return None
    return ClauseResult(
        en=f"{share:.0%} of {lines} lines repeat",
        cap="second_worst" if share >= MAX_REPEATED_SHARE else None,
    )


CLAUSES_BY_NAME: Mapping[ClauseName, Callable[[ClauseInput], ClauseResult | None]] = {
    "empty_or_broken": empty_or_broken,
    "near_duplicate": near_duplicate,
    "wrong_number": wrong_number,
    "right_number": right_number,
    "copy_of_reference": copy_of_reference,
    "plain_text": plain_text,
    "taboo": taboo,
    "markers": markers,
    "length": length,
    "reference_similarity": reference_similarity,
    "repeated_lines": repeated_lines,
}
"""All clauses by name, in the order in which results list them."""


def _first_phrase_in(answer: ClauseInput, phrases: Sequence[str]) -> str | None:
    return next((phrase for phrase in phrases if _folded_phrase(phrase) in answer.folded_text), None)


@lru_cache(maxsize=4096)
def _folded_phrase(phrase: str) -> str:
    return fold_phrase(phrase)
