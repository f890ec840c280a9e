"""Rules about the text of an answer: broken output, labels and markup, a right or wrong number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from hengwen.judges.rules.rule import (
    FAIL_SCALE,
    LOWER_BETTER,
    PASS_SCALE,
    RuleInput,
    RuleResult,
    check_share,
    not_applicable,
)
from hengwen.objective.checks import build_signature
from hengwen.objective.detectors import MARK_WORDS, as_number
from hengwen.objective.duplicates.similarity import THRESHOLD, normalize_text
from hengwen.objective.duplicates.training_set import MIN_CONTAINMENT, Leakage
from hengwen.records import Sample, Scale, digest


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


REVIEW_THRESHOLD = 0.7
"""Similarity to an earlier answer at or above which a person should compare the two answers."""
DEFAULT_EXTRA_THRESHOLDS = (0.8, 0.85, 0.9)
"""Default extra thresholds of similarity; a threshold that equals the rule's main threshold is left out."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Give the lowest final score to an answer that repeats an earlier answer to the same sample.

    An answer is compared with every earlier answer, even with copies; the first answer keeps its score. For
    each threshold in ``extra_thresholds``, the final score is also computed with this threshold instead of
    ``zero_from``, for example as ``final_at_0.8``. The default thresholds were chosen by this project.
    """

    zero_from: float = THRESHOLD
    review_from: float = REVIEW_THRESHOLD
    """An answer whose similarity is at least this, but below ``zero_from``, gets the flag ``review``."""
    extra_thresholds: Sequence[float] = DEFAULT_EXTRA_THRESHOLDS
    """Extra similarity thresholds, by default 0.8, 0.85 and 0.9 except the one that equals ``zero_from``. In
    a plan, an extra threshold that equals ``zero_from`` is an error."""
    name: ClassVar[str] = "near_duplicate"
    score_name: ClassVar[str] = "near_duplicate.similarity"
    scale: ClassVar[Scale] = LOWER_BETTER
    evidence_signature: ClassVar[str] = "near_duplicate|v:1"

    def __post_init__(self) -> None:
        zero = check_share("zero_from", self.zero_from, above_zero=True)
        if check_share("review_from", self.review_from) > zero:
            raise ValueError(f"review_from {self.review_from} is above zero_from {self.zero_from}")
        thresholds = self.extra_thresholds
        if not isinstance(thresholds, (list, tuple)):
            raise ValueError(f"extra_thresholds must be a list of thresholds, got {thresholds!r}")
        if thresholds is DEFAULT_EXTRA_THRESHOLDS:
            thresholds = [threshold for threshold in thresholds if threshold != zero]
        extra = [check_share("extra_thresholds", threshold, above_zero=True) for threshold in thresholds]
        if len({zero, *extra}) <= len(extra):
            raise ValueError(
                f"extra_thresholds must name other thresholds than zero_from {zero:g}, each once"
            )
        object.__setattr__(self, "extra_thresholds", tuple(extra))

    @property
    def signature(self) -> str:
        """Text with everything that can change the result of this rule: all its thresholds."""
        extra = ",".join(f"{threshold:g}" for threshold in self.extra_thresholds) or "none"
        thresholds = (("zero", self.zero_from), ("review", self.review_from), ("also", extra))
        return build_signature("near_duplicate", ("rule", "cap"), *thresholds, ("v", 1))

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Compare an answer with all earlier answers."""
        if not answer.earlier_matches:
            return not_applicable("there is no earlier answer to compare with", "没有先前的回答可比")
        closest = max(answer.earlier_matches, key=lambda match: (match.similarity, -match.repeat))
        repeat, similarity = closest
        is_repeat, is_near = similarity >= self.zero_from, similarity >= self.review_from
        details: dict[str, object] = {"closest": repeat, "similarity": similarity}
        return RuleResult(
            value=similarity,
            en=f"of the earlier answers to the same task, number {repeat} is closest: "
            f"similarity {similarity:.2f}",
            zh=f"同一题的先前回答中，最像的是第 {repeat} 次，相似度 {similarity:.2f}",
            judge_note=_REPEATS_HANDLED_LATER,
            reason=f"similarity {similarity:.2f} to answer {repeat}"
            + (", which it repeats" if is_repeat else ""),
            cap=0.0 if is_repeat else None,
            extra_caps={
                threshold: 0.0 if similarity >= threshold else None for threshold in self.extra_thresholds
            },
            flags=("duplicate",) if is_repeat else ("review",) if is_near else (),
            details=details | ({"dup_of": repeat} if is_repeat else {}),
        )


@dataclass(frozen=True, slots=True)
class TargetCopy:
    """Cap the level of an answer that copies a reference, and flag a suspected leak of the reference.

    Differences in particles and punctuation are ignored.
    """

    cap: float = 0.5
    name: ClassVar[str] = "target_copy"
    score_name: ClassVar[str] = "target_copy.match"
    scale: ClassVar[Scale] = FAIL_SCALE
    extra_thresholds: ClassVar[tuple[float, ...]] = ()
    evidence_signature: ClassVar[str] = "target_copy|v:1"

    def __post_init__(self) -> None:
        check_share("cap", self.cap)

    @property
    def signature(self) -> str:
        """Text with everything that can change the result of this rule: its option ``cap``."""
        return build_signature("target_copy", ("rule", "cap"), ("cap", self.cap), ("v", 1))

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Compare the answer with each reference."""
        copy = answer.reference_copy
        if copy is None:
            return not_applicable("the sample has no reference", "此题没有参考回答")
        if copy.exact:
            return self._copy("exact", "the reference word for word", "与参考回答逐字相同")
        if copy.normalized:
            return self._copy(
                "particle_only", "the reference without its particles", "与参考回答只差语气词或标点"
            )
        return RuleResult(
            value=0, en="no copy of a reference", zh="不是照抄参考回答", details={"kind": "none"}
        )

    def _copy(self, kind: str, en: str, zh: str) -> RuleResult:
        return RuleResult(
            value=1, en=en, zh=zh, cap=self.cap, flags=("leak_suspect",), details={"kind": kind}
        )


@dataclass(frozen=True, slots=True)
class TrainingLeak:
    """Cap the level of an answer that is a copy or a near copy of an answer in the training set.

    Without a training set the rule does not apply, so no answer is reported as free of leaks.
    """

    corpus: str | Sequence[str] = ()
    """Paths of training files in the formats that the scorer ``leakage`` reads."""
    near: float = MIN_CONTAINMENT
    """An answer is a near copy if one training answer contains at least this share of its character
    5-grams."""
    cap: float = 0.5
    """Cap (share of the scale) for an exact copy, and for a copy that differs only in particles or
    punctuation."""
    near_cap: float = 0.75
    """Cap (share of the scale) for a near copy (see ``near``)."""
    _scorer: Leakage | None = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "leakage"
    score_name: ClassVar[str] = "leakage.containment"
    scale: ClassVar[Scale] = LOWER_BETTER
    extra_thresholds: ClassVar[tuple[float, ...]] = ()

    def __post_init__(self) -> None:
        check_share("cap", self.cap)
        check_share("near_cap", self.near_cap)
        check_share("near", self.near, above_zero=True)
        scorer = None
        if self.corpus:
            from hengwen.objective.duplicates.training_set import Leakage

            scorer = Leakage(self.corpus, near=self.near)
        object.__setattr__(self, "_scorer", scorer)

    @property
    def evidence_signature(self) -> str:
        """Text with all that can change this rule's sentence in the judge's prompt: the training set."""
        corpus = "none" if self._scorer is None else self._scorer.signature.split("|")[1]
        return f"leakage|{corpus}|v:1"

    @property
    def signature(self) -> str:
        """Text with everything that can change the result of this rule: corpus, threshold and caps."""
        scorer = ("none" if self._scorer is None else self._scorer.signature).replace("|", " ")
        caps = (("cap", self.cap), ("near_cap", self.near_cap))
        return build_signature("leakage", ("rule", "cap"), ("by", scorer), *caps, ("v", 1))

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Search the training set for the answer."""
        if self._scorer is None:
            return _not_assessed("there is no corpus", "没有语料")
        if not normalize_text(answer.text):
            return _not_assessed("the answer has no letter or digit", "回答里没有文字")
        (score,) = self._scorer.score(answer.sample, replace(answer.response, text=answer.text))
        kind = str(score.details["kind"])
        en, zh = _COPY_KINDS.get(
            kind,
            (
                f"the closest answer of the training set shares {score.value:.0%} of its 5-grams",
                f"训练集里最接近的一条含有它 {score.value:.0%} 的五字片段",
            ),
        )
        return RuleResult(
            value=score.value,
            en=en,
            zh=zh,
            reason="" if kind == "none" else score.reason,
            cap=self.cap if kind in _COPY_KINDS else self.near_cap if kind == "near" else None,
            flags=() if kind == "none" else ("leak_suspect",),
            details=dict(score.details),
        )


_REPEATS_HANDLED_LATER = (
    " (a rule deals with repeats after you: do not lower the level for it)",
    "（重复另有规则在你之后处理，不要因此降级）",
)
_COPY_KINDS = {
    "exact": ("an answer of the training set word for word", "与训练集里的一条回答逐字相同"),
    "particle_only": (
        "an answer of the training set without particles",
        "与训练集里的一条回答只差语气词或标点",
    ),
}


def _not_assessed(en: str, zh: str) -> RuleResult:
    return not_applicable(
        f"whether it stands in the training set: not assessed ({en})",
        f"是否见于训练集：未检查（{zh}）",
        visible_to_judge=True,
    )
