"""Near duplicates and training-set leakage as plug-ins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.objective.diversity.scorers import Scope, check_scope
from hengwen.objective.duplicates.similarity import THRESHOLD, near_duplicates
from hengwen.objective.duplicates.training_set import NEAR_FROM, TrainingSet
from hengwen.objective.signature import build_signature
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHARE = Scale(low=0, high=1, higher_is_better=False)
_SHOWN = (0.8, 0.85, 0.9)
_REVIEW = 0.7


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """The share of answers that repeat an earlier one of the same sample (or of the task).

    The details name them, with those that deserve a look (from 0.7) and the share at 0.8, 0.85 and 0.9: the
    threshold is this project's own.
    """

    threshold: float = THRESHOLD
    scope: Scope = "repeats"

    def __post_init__(self) -> None:
        check_scope(self.scope)
        near_duplicates([], self.threshold)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return build_signature("near_duplicates", ("at", self.threshold), ("scope", self.scope), ("v", 1))

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (f"near_duplicates.{self.scope}",)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Score a set of answers.

        Raises:
            ValueError: There are fewer than two.
        """
        if len(items) < 2:
            raise ValueError(f"near duplicates need two answers or more, got {len(items)}")
        texts = [response.text for _, response in items]
        found = near_duplicates(texts, self.threshold)
        details: dict[str, object] = {
            "n": len(texts),
            "duplicates": [
                {"answer": _name(items[place]), "of": _name(items[one.of]), "similarity": one.similarity}
                for place, one in enumerate(found)
                if one
            ],
            "shares": {f"{level:g}": _share(near_duplicates(texts, level)) for level in _SHOWN},
        }
        if self.scope == "repeats" and self.threshold > _REVIEW:
            details["review"] = [
                {"answer": _name(items[place]), "of": _name(items[one.of]), "similarity": one.similarity}
                for place, one in enumerate(near_duplicates(texts, _REVIEW))
                if one and not found[place]
            ]
        value = _share(found)
        return [
            Score(
                name=self.names[0],
                value=value,
                signature=self.signature,
                scale=_SHARE,
                reason=f"{sum(map(bool, found))} of {len(texts)} answers repeat an earlier one",
                details=details,
            )
        ]


@dataclass(frozen=True, slots=True)
class Leakage:
    """How far an answer stands in the training set: 1 for a copy, else its 5-grams in one turn."""

    corpus: str | Sequence[str]
    """Training files: JSON lines, a JSON list, or ``.txt`` with an answer a line."""
    near: float = NEAR_FROM
    signature: str = field(init=False)
    """With a digest of the files."""
    _training: TrainingSet = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from hengwen.objective.duplicates.training_files import read_answers

        paths = [self.corpus] if isinstance(self.corpus, str) else list(self.corpus)
        if not paths:
            raise ValueError("corpus must name a training file: without one leakage is not assessed")
        answers, digest = read_answers(paths)
        object.__setattr__(self, "_training", TrainingSet(answers, near=self.near))
        object.__setattr__(self, "signature", f"leakage|corpus:{digest}|near:{self.near:g}|gram:5|v:1")

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return ("leakage.containment",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer; ``details["kind"]`` is exact, particle_only, near or none."""
        leak = self._training.find(response.text)
        reason = (
            leak.kind if leak.of is None else f"{leak.kind}, closest to answer {leak.of + 1} of the corpus"
        )
        return [
            Score(
                name=self.names[0],
                value=leak.containment,
                signature=self.signature,
                scale=_SHARE,
                reason=reason,
                details={"kind": leak.kind, "of": leak.of},
            )
        ]


def _name(item: tuple[Sample, Response]) -> str:
    return f"{item[0].id}#{item[1].repeat}"


def _share(found: Sequence[object]) -> float:
    return sum(map(bool, found)) / len(found)
