"""Rules about copies: of an earlier answer, of the reference, of the training set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from hengwen.judges.caps.rule import LESS_IS_GOOD, YES_IS_BAD, RuleResult, check_share, not_applicable
from hengwen.objective.detectors.thinking import answer_without_thinking
from hengwen.objective.duplicates.similarity import THRESHOLD, normalize_text, similarity
from hengwen.objective.duplicates.training_set import NEAR_FROM, with_particles
from hengwen.objective.signature import build_signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.judges.caps.rule import RuleInput
    from hengwen.objective.duplicates.scorers import Leakage
    from hengwen.records import Sample, Scale

REVIEW = 0.7


SHOWN = (0.8, 0.85, 0.9)
"""Thresholds at which a final score is shown."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """The zero rule: an answer that repeats an earlier one to the same sample gets the lowest value.

    It is compared with every earlier answer, also with one that is itself a repeat: else A, A', A'' would
    depend on the chain. The first keeps its score. The thresholds are this project's own: ``also`` names
    others at which the final score stands beside.
    """

    zero_from: float = THRESHOLD
    review_from: float = REVIEW
    """From here up to ``zero_from`` an answer is flagged ``review``."""
    also: Sequence[float] = SHOWN
    """Default: those of 0.8, 0.85 and 0.9 that ``zero_from`` is not."""
    name: ClassVar[str] = "near_duplicate"
    score_name: ClassVar[str] = "near_duplicate.similarity"
    scale: ClassVar[Scale] = LESS_IS_GOOD
    measures: ClassVar[str] = "near_duplicate|v:1"

    def __post_init__(self) -> None:
        zero = check_share("zero_from", self.zero_from, above_zero=True)
        if check_share("review_from", self.review_from) > zero:
            raise ValueError(f"review_from {self.review_from} is above zero_from {self.zero_from}")
        if not isinstance(self.also, (list, tuple)):
            raise ValueError(f"also must be a list of thresholds, got {self.also!r}")
        given = [threshold for threshold in SHOWN if threshold != zero] if self.also is SHOWN else self.also
        other = [check_share("also", threshold, above_zero=True) for threshold in given]
        if len({zero, *other}) <= len(other):
            raise ValueError(f"also must name other thresholds than zero_from {zero:g}, each once")
        object.__setattr__(self, "also", tuple(other))

    @property
    def signature(self) -> str:
        """The measure and its thresholds."""
        also = ",".join(f"{threshold:g}" for threshold in self.also)
        shape = (("zero", self.zero_from), ("review", self.review_from), ("also", also or "none"))
        return build_signature("near_duplicate", ("rule", "cap"), *shape, ("v", 1))

    def look(self, seen: RuleInput) -> RuleResult:
        """Compare with every earlier answer; ``dup_of`` is the repeat of the closest."""
        if not seen.earlier:
            return not_applicable("there is no earlier answer to compare with", "没有先前的回答可比")
        found = [
            (similarity(answer_without_thinking(other.text) or "", seen.spoken), -other.repeat)
            for other in seen.earlier
        ]
        alike, place = max(found)
        repeats, near = alike >= self.zero_from, alike >= self.review_from
        details: dict[str, object] = {"closest": -place, "similarity": alike}
        return RuleResult(
            value=alike,
            en=f"of the earlier answers to the same task, number {-place} is closest: similarity {alike:.2f}",
            zh=f"同一题的先前回答中，最像的是第 {-place} 次，相似度 {alike:.2f}",
            aside=_NO_MATTER,
            reason=f"similarity {alike:.2f} to answer {-place}" + (", which it repeats" if repeats else ""),
            cap=0.0 if repeats else None,
            also={threshold: 0.0 if alike >= threshold else None for threshold in self.also},
            flags=("duplicate",) if repeats else ("review",) if near else (),
            details=details | ({"dup_of": -place} if repeats else {}),
        )

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Any sample will do."""
        return ()


@dataclass(frozen=True, slots=True)
class TargetCopy:
    """A reference word for word, but for particles and punctuation: capped, and suspected of a leak."""

    cap: float = 0.5
    name: ClassVar[str] = "target_copy"
    score_name: ClassVar[str] = "target_copy.match"
    scale: ClassVar[Scale] = YES_IS_BAD
    also: ClassVar[tuple[float, ...]] = ()
    measures: ClassVar[str] = "target_copy|v:1"

    def __post_init__(self) -> None:
        check_share("cap", self.cap)

    @property
    def signature(self) -> str:
        """The measure and its cap."""
        return build_signature("target_copy", ("rule", "cap"), ("cap", self.cap), ("v", 1))

    def look(self, seen: RuleInput) -> RuleResult:
        """Compare with each reference."""
        references = [one for one in seen.sample.references if normalize_text(one)]
        if not references:
            return not_applicable("the sample has no reference", "此题没有参考回答")
        answer, bare = with_particles(seen.spoken), normalize_text(seen.spoken)
        if any(answer == with_particles(one) for one in references):
            return self._copy("exact", "the reference word for word", "与参考回答逐字相同")
        if any(bare == normalize_text(one) for one in references):
            return self._copy(
                "particle_only", "the reference but for particles", "与参考回答只差语气词或标点"
            )
        return RuleResult(
            value=0, en="no copy of a reference", zh="不是照抄参考回答", details={"kind": "none"}
        )

    def _copy(self, kind: str, en: str, zh: str) -> RuleResult:
        return RuleResult(
            value=1, en=en, zh=zh, cap=self.cap, flags=("leak_suspect",), details={"kind": kind}
        )

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Any sample will do."""
        return ()


@dataclass(frozen=True, slots=True)
class TrainingLeak:
    """How far an answer stands in the training set: a copy is capped, and so is what comes near to one.

    Without a corpus nothing is assessed, and nothing assumed to be clean.
    """

    corpus: str | Sequence[str] = ()
    """Training files, as the scorer ``leakage`` reads them."""
    near: float = NEAR_FROM
    """Share of the answer's 5-grams in one training answer from which it is a near copy."""
    cap: float = 0.5
    """Of an exact copy, and of one but for particles."""
    near_cap: float = 0.75
    _scorer: Leakage | None = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "leakage"
    score_name: ClassVar[str] = "leakage.containment"
    scale: ClassVar[Scale] = LESS_IS_GOOD
    also: ClassVar[tuple[float, ...]] = ()

    def __post_init__(self) -> None:
        check_share("cap", self.cap)
        check_share("near_cap", self.near_cap)
        check_share("near", self.near, above_zero=True)
        scorer = None
        if self.corpus:
            from hengwen.objective.duplicates.scorers import Leakage

            scorer = Leakage(self.corpus, near=self.near)
        object.__setattr__(self, "_scorer", scorer)

    @property
    def measures(self) -> str:
        """The corpus; not from where on a copy is near."""
        corpus = "none" if self._scorer is None else self._scorer.signature.split("|")[1]
        return f"leakage|{corpus}|v:1"

    @property
    def signature(self) -> str:
        """Corpus, threshold and caps."""
        own = ("none" if self._scorer is None else self._scorer.signature).replace("|", " ")
        caps = (("cap", self.cap), ("near_cap", self.near_cap))
        return build_signature("leakage", ("rule", "cap"), ("by", own), *caps, ("v", 1))

    def look(self, seen: RuleInput) -> RuleResult:
        """Ask the training set."""
        if self._scorer is None:
            return _not_assessed("there is no corpus", "没有语料")
        if not normalize_text(seen.spoken):
            return _not_assessed("the answer has no letter or digit", "回答里没有文字")
        (score,) = self._scorer.score(seen.sample, replace(seen.response, text=seen.spoken))
        kind = score.details["kind"]
        copied = kind in ("exact", "particle_only")
        en, zh = _KINDS.get(
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
            cap=self.cap if copied else self.near_cap if kind == "near" else None,
            flags=() if kind == "none" else ("leak_suspect",),
            details=dict(score.details),
        )

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Any sample will do."""
        return ()


_NO_MATTER = (
    " (a rule deals with repeats after you: do not lower the level for it)",
    "（重复另有规则在你之后处理，不要因此降级）",
)
_KINDS = {
    "exact": ("an answer of the training set word for word", "与训练集里的一条回答逐字相同"),
    "particle_only": (
        "an answer of the training set but for particles",
        "与训练集里的一条回答只差语气词或标点",
    ),
}


def _not_assessed(en: str, zh: str) -> RuleResult:
    return not_applicable(
        f"whether it stands in the training set: not assessed ({en})",
        f"是否见于训练集：未检查（{zh}）",
        shown=True,
    )
