"""Scorers of a plan that find near duplicates among answers, and answers that copy training data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from hengwen.objective.diversity.group_interval import interval_details
from hengwen.objective.duplicates.similarity import (
    THRESHOLD,
    AnswerSet,
    Duplicate,
    check_threshold,
)
from hengwen.objective.duplicates.training_set import MIN_CONTAINMENT, TrainingSet
from hengwen.objective.option_checks import Scope, SingleScore, build_signature, check_scope
from hengwen.records import Outcome, Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

_REPORTED_THRESHOLDS = (0.8, 0.85, 0.9)
"""Thresholds of similarity for which the details of a score state the share of near duplicates."""
_REVIEW_THRESHOLD = 0.7
"""Minimum similarity of two answers that are listed for review although they are no near duplicates."""


@dataclass(frozen=True, slots=True)
class NearDuplicates(SingleScore):
    """Score a set of answers by the share of near duplicates (answers similar to an earlier one of the set).

    The details list the near duplicates, and their shares at the thresholds 0.8, 0.85 and 0.9. With
    ``scope="repeats"`` (each set contains the answers to one sample), the details also list pairs with a
    similarity from 0.7 to the threshold, which a person should review. The default threshold of 0.85 was
    chosen by this project.
    """

    name_pattern: ClassVar[str] = "near_duplicates.{0.scope}"
    scale: ClassVar[Scale] = Scale(low=0, high=1, higher_is_better=False, discrete=True)
    threshold: float = THRESHOLD
    scope: Scope = "repeats"

    def __post_init__(self) -> None:
        check_scope(self.scope)
        check_threshold(self.threshold)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return build_signature("near_duplicates", ("at", self.threshold), ("scope", self.scope), ("v", 1))

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Outcome]:
        """Return the score of a set of answers; a set of only one answer is ``not_applicable``."""
        if len(items) < 2:
            return [self.not_applicable("near duplicates are pairs of answers, and there is only one answer")]
        texts = [response.text for _, response in items]
        names = [f"{sample.id}#{response.repeat}" for sample, response in items]
        reviewed = self.scope == "repeats" and self.threshold > _REVIEW_THRESHOLD
        thresholds = {*_REPORTED_THRESHOLDS, self.threshold, *([_REVIEW_THRESHOLD] if reviewed else [])}
        answers = AnswerSet(texts)
        # ascending, because pairs of long texts below one threshold need no comparison at a higher threshold
        by_threshold = {threshold: answers.duplicates(threshold) for threshold in sorted(thresholds)}
        duplicates = by_threshold[self.threshold]
        details: dict[str, object] = {
            "n": len(texts),
            "duplicates": _describe(duplicates, names),
            "shares": {
                f"{threshold:g}": _share(by_threshold[threshold]) for threshold in _REPORTED_THRESHOLDS
            },
        }
        if reviewed:
            similar = by_threshold[_REVIEW_THRESHOLD]
            below = [
                None if duplicate else candidate
                for candidate, duplicate in zip(similar, duplicates, strict=True)
            ]
            details["review"] = _describe(below, names)
        if self.scope == "checkpoint":
            details |= interval_details(items, _share(duplicates), self._share_of)
        count = sum(map(bool, duplicates))
        reason = f"{count} of {len(texts)} answers repeat an earlier one"
        return [self.build_score(_share(duplicates), reason=reason, details=details)]

    def _share_of(self, items: Sequence[tuple[Sample, Response]]) -> float:
        return _share(AnswerSet([response.text for _, response in items]).duplicates(self.threshold))


@dataclass(frozen=True, slots=True)
class Leakage(SingleScore):
    """Score an answer by the share of its character 5-grams that the closest training answer contains.

    A copy of a training answer has the score 1.
    """

    name_pattern: ClassVar[str] = "leakage.containment"
    signature_pattern: ClassVar[str] = "leakage|corpus:{0._digest}|near:{0.near:g}|gram:5|v:1"
    scale: ClassVar[Scale] = Scale(low=0, high=1, higher_is_better=False)
    corpus: str | Sequence[str]
    """Training files: JSON Lines, a JSON list, or ``.txt`` with one answer per line."""
    near: float = MIN_CONTAINMENT
    """Minimum containment (the value of this score) of a near copy, in (0, 1]."""
    _digest: str = field(init=False, repr=False, compare=False)
    _training: TrainingSet = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from hengwen.objective.duplicates.training_set import read_answers

        paths = [self.corpus] if isinstance(self.corpus, str) else list(self.corpus)
        if not paths:
            raise ValueError("corpus must name a training file: without one leakage is not assessed")
        answers, digest = read_answers(paths)
        object.__setattr__(self, "_digest", digest)
        object.__setattr__(self, "_training", TrainingSet(answers, near=self.near))

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer; ``details["kind"]`` tells whether the answer is a copy."""
        match = self._training.find(response.text)
        if match.of is None:
            reason = "no answer of the corpus shares a 5-gram"
        else:
            reason = f"{match.kind}, closest to answer {match.of + 1} of the corpus"
        details = {"kind": match.kind, "of": match.of}
        return [self.build_score(match.containment, reason=reason, details=details)]


def _describe(duplicates: Sequence[Duplicate | None], names: Sequence[str]) -> list[dict[str, object]]:
    return [
        {"answer": names[index], "of": names[duplicate.of], "similarity": duplicate.similarity}
        for index, duplicate in enumerate(duplicates)
        if duplicate
    ]


def _share(duplicates: Sequence[Duplicate | None]) -> float:
    return sum(map(bool, duplicates)) / len(duplicates)
