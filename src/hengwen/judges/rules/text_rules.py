"""Rules about the text of an answer: broken output, labels and markup, a right or wrong number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hengwen.judges.rules.rule import FAIL_SCALE, PASS_SCALE, RuleResult, check_share, not_applicable
from hengwen.objective.detectors import MARK_WORDS, as_number
from hengwen.objective.option_checks import build_signature
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hengwen.judges.rules.input import RuleInput
    from hengwen.records import Sample, Scale


@dataclass(frozen=True, slots=True)
class Broken:
    """Cap an answer at the lowest value if it is empty, garbled, unfinished thinking or a loop.

    If only a small share of the characters is garbled (U+FFFD), the level is not capped.
    """

    name: ClassVar[str] = "broken"
    score_name: ClassVar[str] = "broken.match"
    scale: ClassVar[Scale] = FAIL_SCALE
    extra_thresholds: ClassVar[tuple[float, ...]] = ()
    evidence_signature: ClassVar[str] = "broken|v:1"

    @property
    def signature(self) -> str:
        """Signature of the rule; it never changes with a plan, because the rule has no options."""
        return build_signature("broken", ("rule", "cap"), ("v", 1))

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Check the whole answer, including its thinking block."""
        breakage = answer.breakage
        if breakage is None:
            return RuleResult(value=0, en="the output is whole", zh="输出完整")
        en, zh = breakage.unquoted
        if breakage.slight:
            return RuleResult(value=0, en=f"slightly damaged: {en}", zh=f"略有损坏：{zh}", flags=("damaged",))
        return RuleResult(
            value=1,
            en=f"the output is broken: {en}",
            zh=f"输出已坏：{zh}",
            reason=breakage.en,
            cap=0.0,
            flags=("broken",),
            details={"kind": en},
        )


@dataclass(frozen=True, slots=True)
class PlainText:
    """Cap the level of an answer that has labels, headings, lists or other markup but must be plain words."""

    cap: float = 0.5
    names: str = ""
    """Text that contains the speaker's name, such as a persona. In an answer, the name and a colon at the
    start count as markup."""
    name: ClassVar[str] = "plain_text"
    score_name: ClassVar[str] = "plain_text.match"
    scale: ClassVar[Scale] = PASS_SCALE
    extra_thresholds: ClassVar[tuple[float, ...]] = ()

    def __post_init__(self) -> None:
        check_share("cap", self.cap)
        if not isinstance(self.names, str):
            raise ValueError(f"names must be a text, got {self.names!r}")

    @property
    def evidence_signature(self) -> str:
        """Text with all that can change this rule's sentence in the judge's prompt: its option ``names``."""
        return f"plain_text|names:{self._names_digest}|v:1"

    @property
    def signature(self) -> str:
        """Text with every option that can change the result of this rule: ``names`` and ``cap``."""
        names = ("names", self._names_digest)
        return build_signature("plain_text", ("rule", "cap"), names, ("cap", self.cap), ("v", 1))

    @property
    def _names_digest(self) -> str:
        return digest(self.names)[:8] if self.names else "none"

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Check whether the answer has labels or markup; its thinking block is not checked."""
        hits = answer.markup(self.names)
        if not hits:
            return RuleResult(value=1, en="plain text, no labels or markup", zh="纯文字，没有标签或标记")
        kinds = list(dict.fromkeys(hit.kind for hit in hits))
        return RuleResult(
            value=0,
            en=f"not plain text: {', '.join(kinds)}",
            zh=f"不是纯文字：有{'、'.join(MARK_WORDS[kind] for kind in kinds)}",
            reason="; ".join(hit.evidence for hit in hits),
            cap=self.cap,
            flags=("markup",),
            details={"kinds": kinds},
        )


@dataclass(frozen=True, slots=True)
class Number:
    """Cap the level of an answer that gives another number than the right one (``metadata.number``).

    If an answer lacks the right number and all its numbers occur in the question, the answer counts as one
    without a number. For an answer without a number, the score of this rule is 0, but the judge's level is
    not capped, because there may be a good reason to give no number.
    """

    cap: float = 0.25
    name: ClassVar[str] = "number"
    score_name: ClassVar[str] = "number.match"
    scale: ClassVar[Scale] = PASS_SCALE
    extra_thresholds: ClassVar[tuple[float, ...]] = ()
    evidence_signature: ClassVar[str] = "number|v:1"

    def __post_init__(self) -> None:
        check_share("cap", self.cap)

    @property
    def signature(self) -> str:
        """Text with everything that can change the result of this rule: its option ``cap``."""
        return build_signature("number", ("rule", "cap"), ("cap", self.cap), ("v", 1))

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Check whether the answer gives the right number."""
        if answer.number is None:
            return not_applicable("the sample's metadata has no number", "此题没有唯一的正确数字")
        expected, verdict = answer.number
        if verdict == "unclear":
            return not_applicable(
                "the number occurs as a single Chinese numeral, which may be a word", "数字难以辨认"
            )
        en, zh = {
            "right": ("the answer has it", "回答里有这个数"),
            "wrong": ("the answer has other numbers", "回答里是别的数"),
            "none": ("the answer gives no number", "回答没有给出数"),
        }[verdict]
        return RuleResult(
            value=float(verdict == "right"),
            en=f"the right number is {expected}: {en}",
            zh=f"正确的数是 {expected}：{zh}",
            cap=self.cap if verdict == "wrong" else None,
            flags=("wrong_number",) if verdict == "wrong" else (),
            details={"want": str(expected), "verdict": verdict},
        )

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise an error if ``metadata.number`` is not a number."""
        value = sample.metadata.get("number")
        if value is not None and as_number(value) is None:
            raise ValueError(f"metadata.number must be one number, got {value!r}")
        return ()
