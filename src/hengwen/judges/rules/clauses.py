"""The clauses of the rules judge: each looks at one thing and says what it found; None: it cannot look."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hengwen.objective.detectors.breakage import find_breakage, repeated_share
from hengwen.objective.detectors.markup import find_markup
from hengwen.objective.detectors.numbers import as_number, find_numbers, number_verdict
from hengwen.objective.detectors.thinking import strip_thinking
from hengwen.objective.duplicates.similarity import THRESHOLD, normalize_text, similarity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from decimal import Decimal

    from hengwen.prompts.rubric import ClauseName, RubricRules
    from hengwen.records import Response, Sample

Cap = Literal["worst", "second_worst", "middle", "second_best"]
CAPS: tuple[Cap, ...] = ("worst", "second_worst", "middle", "second_best")
"""From the strictest on."""

ALIKE = 0.3
"""Similarity to a reference that speaks for an answer."""
UNLIKE = 0.1
"""Similarity to every reference that speaks against it."""
REPEATED = 0.7
"""Share of repeated lines that speaks against it; choruses stay below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseResult:
    """What one clause found."""

    en: str
    zh: str
    cap: Cap | None = None
    """The best level that is still possible; None: no objection."""
    credit: bool = False
    """Whether this speaks for the best level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseInput:
    """All that the clauses look at."""

    sample: Sample
    response: Response
    earlier: Sequence[Response]
    rules: RubricRules
    names: str = ""
    """Text in which the persona's name occurs."""

    @property
    def answer(self) -> str:
        """The answer without a leading ``<think>`` block."""
        return _spoken(self.response)


def empty_or_broken(case: ClauseInput) -> ClauseResult | None:
    """Empty, garbled, cut off in thought, looping: the worst level; a lost character or two: the middle."""
    found = find_breakage(case.response.text)
    if found is None:
        return ClauseResult(en="readable", zh="可读")
    return ClauseResult(en=found.en, zh=found.zh, cap="middle" if found.slight else "worst")


def near_duplicate(case: ClauseInput) -> ClauseResult | None:
    """Repeats an earlier answer to the same sample: the worst level.

    ``near_duplicate`` in ``metadata.exempt`` (or ``metadata.exempt_duplicate``) exempts a sample.
    """
    exempt = case.sample.metadata.get("exempt_duplicate") is True or "near_duplicate" in _exempt(case.sample)
    if not case.earlier or exempt:
        return None
    for other in case.earlier:
        alike = similarity(_spoken(other), case.answer)
        if alike >= THRESHOLD:
            return ClauseResult(
                en=f"similarity {alike:.2f} to repeat {other.repeat}",
                zh=f"与第 {other.repeat} 次回答相似度 {alike:.2f}",
                cap="worst",
            )
    return ClauseResult(en="unlike earlier answers", zh="与先前回答不同")


def wrong_number(case: ClauseInput) -> ClauseResult | None:
    """Gives another number than ``metadata.number`` (or ``answer``): the second worst level.

    Gives none: the middle.
    """
    want = _wanted(case.sample)
    if want is None or (verdict := number_verdict(case.answer, want)) == "unclear":
        return None
    if verdict == "right":
        return ClauseResult(en="no wrong number", zh="数字无误")
    if verdict == "none":
        return ClauseResult(en=f"no number, expected {want}", zh=f"没有数字，应为 {want}", cap="middle")
    given = ", ".join(str(number) for number in find_numbers(case.answer)[:4]) or "another"
    return ClauseResult(en=f"{given} instead of {want}", zh=f"得 {given}，应为 {want}", cap="second_worst")


def right_number(case: ClauseInput) -> ClauseResult | None:
    """Gives the number in ``metadata.number`` (or ``answer``): a credit."""
    want = _wanted(case.sample)
    if want is None or (verdict := number_verdict(case.answer, want)) == "unclear":
        return None
    if verdict == "right":
        return ClauseResult(en=f"{want} as expected", zh=f"数字 {want} 正确", credit=True)
    return ClauseResult(en="not the right number", zh="数字不对")


def copy_of_reference(case: ClauseInput) -> ClauseResult | None:
    """Is a reference, but for particles and punctuation: the middle level.

    No fault where one right answer exists (``metadata.number`` or ``answer``), where ``metadata.exempt`` has
    ``target_copy``, or ``metadata.exempt_copy`` is true.
    """
    metadata = case.sample.metadata
    exempt = metadata.get("exempt_copy") is True or "target_copy" in _exempt(case.sample)
    if not case.sample.references or exempt or metadata.keys() & {"number", "answer"}:
        return None
    answer = normalize_text(case.answer)
    if answer and any(answer == normalize_text(reference) for reference in case.sample.references):
        return ClauseResult(en="the reference word for word", zh="照抄参考", cap="middle")
    return ClauseResult(en="no copy of the reference", zh="未照抄参考")


def plain_text(case: ClauseInput) -> ClauseResult | None:
    """Has labels or markup where the rubric wants plain words: the middle level; has none: a credit."""
    if not case.rules.plain_text:
        return None
    found = find_markup(case.answer, case.names)
    if not found:
        return ClauseResult(en="plain words", zh="纯文字", credit=True)
    shown = "; ".join(found)
    return ClauseResult(en=shown, zh=f"标签或标记：{shown}", cap="middle")


def taboo(case: ClauseInput) -> ClauseResult | None:
    """Has a phrase that must not occur: the second worst level."""
    found = _first_of(case.rules.taboo, case.answer)
    if not case.rules.taboo:
        return None
    if found is None:
        return ClauseResult(en="no taboo phrase", zh="无禁用语")
    return ClauseResult(en=f"says '{found}'", zh=f"说了“{found}”", cap="second_worst")


def markers(case: ClauseInput) -> ClauseResult | None:
    """Has a word that shows the persona: a credit; has none: at most the second best level."""
    if not case.rules.markers:
        return None
    found = _first_of(case.rules.markers, case.answer)
    if found is None:
        return ClauseResult(en="no persona marker", zh="无人设标志", cap="second_best")
    return ClauseResult(en=f"says '{found}'", zh=f"说了“{found}”", credit=True)


def length(case: ClauseInput) -> ClauseResult | None:
    """Is too long or too short: the middle level, by a factor above two the second worst; else a credit."""
    wanted = case.rules.length
    if wanted is None:
        return None
    size = len("".join(case.answer.split()))
    shown = f"{wanted.min}-{wanted.max if wanted.max is not None else '∞'}"
    if wanted.min <= size and (wanted.max is None or size <= wanted.max):
        return ClauseResult(en=f"{size} characters", zh=f"{size} 字", credit=True)
    far = 2 * size < wanted.min or (wanted.max is not None and size > 2 * wanted.max)
    text = (f"{size} characters, wanted {shown}", f"{size} 字，应为 {shown}")
    return ClauseResult(en=text[0], zh=text[1], cap="second_worst" if far else "middle")


def reference_similarity(case: ClauseInput) -> ClauseResult | None:
    """Shares enough with a reference (0.3): a credit; next to nothing (below 0.1): the middle level."""
    if not case.sample.references:
        return None
    alike = max(similarity(case.answer, reference) for reference in case.sample.references)
    return ClauseResult(
        en=f"similarity {alike:.2f} to the reference",
        zh=f"与参考相似度 {alike:.2f}",
        cap="middle" if alike < UNLIKE else None,
        credit=alike >= ALIKE,
    )


def repeated_lines(case: ClauseInput) -> ClauseResult | None:
    """At least 0.7 of four lines or more repeat earlier lines: the second worst level."""
    share, lines = repeated_share(case.answer)
    if lines < 4:
        return None
    return ClauseResult(
        en=f"{share:.0%} of {lines} lines repeat",
        zh=f"{lines} 行中 {share:.0%} 重复",
        cap="second_worst" if share >= REPEATED else None,
    )


FUNCTIONS: Mapping[ClauseName, Callable[[ClauseInput], ClauseResult | None]] = {
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


def _spoken(response: Response) -> str:
    return strip_thinking(response.text) or ""


def _wanted(sample: Sample) -> Decimal | None:
    return as_number(sample.metadata.get("number", sample.metadata.get("answer")))


def _exempt(sample: Sample) -> Sequence[object]:
    given = sample.metadata.get("exempt", ())
    return given if isinstance(given, (list, tuple)) else ()


def _first_of(phrases: Sequence[str], text: str) -> str | None:
    plain = _folded(text)
    return next((phrase for phrase in phrases if _folded(phrase) in plain), None)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").casefold().split())
