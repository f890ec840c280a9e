"""Rules about the text of an answer alone: broken output, labels and markup, a right or wrong number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hengwen.judges.caps.rule import YES_IS_BAD, YES_IS_GOOD, RuleResult, check_share, not_applicable
from hengwen.objective.detectors.breakage import find_breakage
from hengwen.objective.detectors.markup import MARK_WORDS, find_marks
from hengwen.objective.detectors.numbers import as_number, number_verdict, numbers_in
from hengwen.objective.signature import build_signature
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hengwen.judges.caps.rule import RuleInput
    from hengwen.records import Sample, Scale


@dataclass(frozen=True, slots=True)
class Broken:
    """Empty, garbled, cut off in thought, or looping: the lowest value. One lost character caps nothing."""

    name: ClassVar[str] = "broken"
    score_name: ClassVar[str] = "broken.match"
    scale: ClassVar[Scale] = YES_IS_BAD
    also: ClassVar[tuple[float, ...]] = ()
    measures: ClassVar[str] = "broken|v:1"

    @property
    def signature(self) -> str:
        """It has no options."""
        return build_signature("broken", ("rule", "cap"), ("v", 1))

    def look(self, seen: RuleInput) -> RuleResult:
        """Look at the answer as it came, thoughts included."""
        found = find_breakage(seen.response.text)
        if found is None:
            return RuleResult(value=0, en="the output is whole", zh="输出完整")
        en, zh = found.unquoted
        if found.slight:
            return RuleResult(value=0, en=f"slightly damaged: {en}", zh=f"略有损坏：{zh}", flags=("damaged",))
        return RuleResult(
            value=1,
            en=f"the output is broken: {en}",
            zh=f"输出已坏：{zh}",
            reason=found.en,
            cap=0.0,
            flags=("broken",),
            details={"kind": en},
        )

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Any sample will do."""
        return ()


@dataclass(frozen=True, slots=True)
class PlainText:
    """Labels, headings, lists and other markup where plain words are wanted: capped."""

    cap: float = 0.5
    names: str = ""
    """Text in which the speaker's name occurs: ``NAME:`` at the start is a label."""
    name: ClassVar[str] = "plain_text"
    score_name: ClassVar[str] = "plain_text.match"
    scale: ClassVar[Scale] = YES_IS_GOOD
    also: ClassVar[tuple[float, ...]] = ()

    def __post_init__(self) -> None:
        check_share("cap", self.cap)

    @property
    def measures(self) -> str:
        """The names."""
        return f"plain_text|names:{digest(self.names)[:8] if self.names else 'none'}|v:1"

    @property
    def signature(self) -> str:
        """Names and cap."""
        names = digest(self.names)[:8] if self.names else "none"
        return build_signature("plain_text", ("rule", "cap"), ("names", names), ("cap", self.cap), ("v", 1))

    def look(self, seen: RuleInput) -> RuleResult:
        """Look for markup in what is said."""
        marks = find_marks(seen.spoken, self.names)
        if not marks:
            return RuleResult(value=1, en="plain text, no labels or markup", zh="纯文字，没有标签或标记")
        kinds = list(dict.fromkeys(mark.kind for mark in marks))
        return RuleResult(
            value=0,
            en=f"not plain text: {', '.join(kinds)}",
            zh=f"不是纯文字：有{'、'.join(MARK_WORDS[kind] for kind in kinds)}",
            reason="; ".join(mark.shown for mark in marks),
            cap=self.cap,
            flags=("markup",),
            details={"kinds": kinds},
        )

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Any sample will do."""
        return ()


@dataclass(frozen=True, slots=True)
class Number:
    """Whether an answer gives the one right number, ``metadata.number``: a wrong one is capped.

    Numbers of the question say nothing. An answer without a number is wrong (0), but not capped: it may have
    good reason.
    """

    cap: float = 0.25
    name: ClassVar[str] = "number"
    score_name: ClassVar[str] = "number.match"
    scale: ClassVar[Scale] = YES_IS_GOOD
    also: ClassVar[tuple[float, ...]] = ()
    measures: ClassVar[str] = "number|v:1"

    def __post_init__(self) -> None:
        check_share("cap", self.cap)

    @property
    def signature(self) -> str:
        """The cap."""
        return build_signature("number", ("rule", "cap"), ("cap", self.cap), ("v", 1))

    def look(self, seen: RuleInput) -> RuleResult:
        """Look for the number."""
        want = as_number(seen.sample.metadata.get("number"))
        if want is None:
            return not_applicable("the sample's metadata has no number", "此题没有唯一的正确数字")
        verdict = number_verdict(seen.spoken, want)
        if verdict == "unclear":
            return not_applicable(
                "the number occurs as a single Chinese numeral, which may be a word", "数字难以辨认"
            )
        if verdict == "wrong" and set(numbers_in(seen.spoken)) <= set(numbers_in(seen.sample.text)):
            verdict = "none"
        said = {
            "right": ("the answer has it", "回答里有这个数"),
            "wrong": ("the answer has other numbers", "回答里是别的数"),
            "none": ("the answer gives no number", "回答没有给出数"),
        }[verdict]
        return RuleResult(
            value=float(verdict == "right"),
            en=f"the right number is {want}: {said[0]}",
            zh=f"正确的数是 {want}：{said[1]}",
            cap=self.cap if verdict == "wrong" else None,
            flags=("wrong_number",) if verdict == "wrong" else (),
            details={"want": str(want), "verdict": verdict},
        )

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise where ``metadata.number`` is no number."""
        given = sample.metadata.get("number")
        if given is not None and as_number(given) is None:
            raise ValueError(f"metadata.number must be one number, got {given!r}")
        return ()
