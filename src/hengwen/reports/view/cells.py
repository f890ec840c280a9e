"""Table cells of a report: one score at one checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hengwen.results.comparability import UNKNOWN, ComparabilityKey
from hengwen.text.numbers import count, failure_text, percent
from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.results.aggregate import Summary
    from hengwen.text.language import Language

MAX_REASON = 160
"""Maximum number of characters of a failure's message that reports show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCell:
    """The mean of one score at one checkpoint, with its interval, counts and signatures."""

    mean: float | None
    interval: tuple[float, float] | None
    confidence: float
    """Confidence level of the interval, 0 to 1."""
    n: int
    """Number of scored answers."""
    prompts: int
    """Number of prompts with a scored answer."""
    coverage: float | None
    """Share of answers that have a score."""
    prompts_expected: int | None = None
    """Number of prompts that could have a score; None if it is unknown."""
    prompt_coverage: float | None = None
    """Share of prompts that have a score."""
    failures: Mapping[str, int] = field(default_factory=dict)
    first_messages: Mapping[str, str] = field(default_factory=dict)
    """Message of the first failure of each status, shortened to one line without control characters."""
    not_applicable: int = 0
    signatures: tuple[str, ...] = ()
    method: Literal["t", "scorer", "none"] = "none"
    comparability: ComparabilityKey = UNKNOWN
    """Comparability key: description of the data behind the score, such as prompts and references. Means with
    different keys are not compared."""
    judged_by_rules: bool = False
    """Whether a rules judge (fixed rules, no model) gave the score."""

    @property
    def failed(self) -> int:
        """Number of failures of any status."""
        return sum(self.failures.values())

    @property
    def reasons(self) -> str:
        """Number of failures of each status, the most frequent first, with an example message of each."""
        return failure_text(self.failures, self.first_messages)

    @property
    def complete(self) -> bool:
        """Whether all prompts and answers have a score, as far as the numbers are known."""
        return self.coverage in (None, 1.0) and self.prompt_coverage in (None, 1.0)

    def counts(self, language: Language) -> str:
        """Return the numbers of scored prompts and answers, with their shares if some have no score."""
        if self.has_no_prompts:
            return f"n {count(self.n)}"
        total = "" if self.prompt_coverage in (None, 1.0) else f"/{count(self.prompts_expected or 0)}"
        if language == "zh":
            prompts, answers = f"{count(self.prompts)}{total} 题", f"{count(self.n)} 答"
        else:
            prompts = (
                f"{count(self.prompts)}{total} {'prompt' if self.prompts == 1 and not total else 'prompts'}"
            )
            answers = f"{count(self.n)} {'answer' if self.n == 1 else 'answers'}"
        if total:
            prompts += f" ({percent(self.prompt_coverage)})"
        if self.coverage not in (None, 1.0):
            answers += f" ({percent(self.coverage)})"
        return f"{prompts} · {answers}"

    def counts_in_words(self, language: Language) -> str:
        """Return the numbers of scored prompts and answers as a sentence."""
        if self.has_no_prompts:
            return "整组回答的一个数值" if language == "zh" else "one value for a group of answers"
        expected = self.prompts if self.prompts_expected is None else self.prompts_expected
        if language == "zh":
            answers = f"{count(self.n)} 个回答有得分"
            if self.coverage not in (None, 1.0):
                answers += f"（占应得分的 {percent(self.coverage)}）"
            return f"{count(expected)} 题中 {count(self.prompts)} 题有得分，{answers}"
        answers = f"{count(self.n)} answers"
        if self.coverage not in (None, 1.0):
            answers += f" ({percent(self.coverage)} of those to score)"
        return f"{count(self.prompts)} of {count(expected)} prompts, {answers}"

    @property
    def has_no_prompts(self) -> bool:
        """Whether the mean is a score of a group of answers, and the number of their prompts is unknown."""
        return self.n > 0 and self.prompts == 0


def cell_of(summary: Summary, comparability: ComparabilityKey = UNKNOWN) -> ScoreCell:
    """Return the table cell for the summary of one score in one run; a negative zero becomes 0."""
    return ScoreCell(
        mean=None if summary.mean is None else summary.mean + 0.0,
        interval=None if summary.interval is None else (summary.interval[0] + 0.0, summary.interval[1] + 0.0),
        confidence=summary.confidence,
        n=summary.n,
        prompts=summary.prompts,
        coverage=summary.coverage,
        prompts_expected=summary.prompts_expected,
        prompt_coverage=summary.prompt_coverage,
        failures=dict(summary.failures),
        first_messages={
            status: one_line(message, MAX_REASON) for status, message in summary.first_messages.items()
        },
        not_applicable=summary.not_applicable,
        signatures=summary.signatures,
        method=summary.method,
        comparability=comparability,
        judged_by_rules=summary.judged_by_rules,
    )
