"""The small checks as plug-ins: 1 where an answer passes, 0 where it does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen._internal.checks import whole_number
from hengwen.objective.checks import checks
from hengwen.objective.signature import build_signature
from hengwen.objective.text.tokenize import mixed_tokens
from hengwen.records import Response, Sample, Scale, Score, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PASS = Scale(low=0, high=1, levels=(0, 1))


@dataclass(frozen=True, slots=True)
class Exact:
    """Whether the answer equals one of the sample's references."""

    normalize: checks.Normalize = "strip"

    def __post_init__(self) -> None:
        checks.normalized("", self.normalize)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return build_signature("exact", ("normalize", self.normalize), ("v", 1))

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return ("exact.match",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        passed = checks.exact(response.text, sample.references, normalize=self.normalize)
        return [_score(self, passed, "" if passed else "equals no reference")]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise where there is nothing to equal."""
        checks.exact("", sample.references, normalize=self.normalize)
        return ()


@dataclass(frozen=True, slots=True)
class Contains:
    """Whether the answer has words in it: of the plan, or of ``metadata[field]`` of each sample."""

    words: str | Sequence[str] = ()
    field: str = ""
    every: bool = True
    normalize: checks.Normalize = "none"

    def __post_init__(self) -> None:
        if bool(self.words) == bool(self.field):
            raise ValueError(
                "contains needs either words or field, the name of a list in each sample's metadata"
            )
        if self.words:
            checks.contains("", _list(self.words, "words"), normalize=self.normalize)
        checks.normalized("", self.normalize)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        what = f"field:{self.field}" if self.field else f"words:{digest(_list(self.words, 'words'))[:12]}"
        every = "yes" if self.every else "no"
        return f"contains|{what}|every:{every}|normalize:{self.normalize}|v:1"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return ("contains.match",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        words = self._words(sample)
        passed = checks.contains(response.text, words, every=self.every, normalize=self.normalize)
        inside = checks.normalized(response.text, self.normalize)
        absent = [word for word in words if checks.normalized(word, self.normalize) not in inside]
        return [_score(self, passed, f"absent: {', '.join(absent)}" if absent else "")]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise where the sample has no words."""
        checks.contains("", self._words(sample), normalize=self.normalize)
        return ()

    def _words(self, sample: Sample) -> list[str]:
        if not self.field:
            return _list(self.words, "words")
        return _list(sample.metadata.get(self.field, ()), f"metadata {self.field!r} of sample {sample.id!r}")


@dataclass(frozen=True, slots=True)
class Regex:
    """Whether a regular expression is found in the answer, in bounded time."""

    pattern: str
    whole: bool = False
    absent: bool = False
    """Pass where it is *not* found."""
    seconds: float = checks.MAX_SECONDS

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not self.pattern:
            raise ValueError(f"pattern must be a regular expression, got {self.pattern!r}")
        checks.compile_pattern(self.pattern)
        if not 0 < self.seconds <= 60:
            raise ValueError(f"seconds must be above 0 and at most 60, got {self.seconds!r}")

    @property
    def signature(self) -> str:
        """All that can move the number."""
        shape = ("pattern", digest(self.pattern)[:12]), ("whole", self.whole), ("absent", self.absent)
        return build_signature("regex", *shape, ("v", 1))

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return ("regex.match",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        found = checks.matches(response.text, self.pattern, whole=self.whole, seconds=self.seconds)
        said = f"{self.pattern} is {'found' if found else 'not found'}"
        return [_score(self, found != self.absent, said)]


@dataclass(frozen=True, slots=True)
class JsonValid:
    """Whether the answer is JSON, with the keys that are wanted."""

    keys: Sequence[str] = ()
    fenced: bool = False

    def __post_init__(self) -> None:
        _list(self.keys, "keys")

    @property
    def signature(self) -> str:
        """All that can move the number."""
        keys = digest(_list(self.keys, "keys"))[:12] if self.keys else "any"
        return build_signature("json_valid", ("keys", keys), ("fenced", self.fenced), ("v", 1))

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return ("json_valid.match",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        fault = checks.json_fault(response.text, keys=_list(self.keys, "keys"), fenced=self.fenced)
        return [_score(self, fault is None, fault or "")]


@dataclass(frozen=True, slots=True)
class Length:
    """Characters and words of the answer; with ``least`` or ``most`` whether the characters lie between."""

    least: int | None = None
    most: int | None = None
    unit: str = "characters"
    names: tuple[str, ...] = field(init=False)
    """``length.within`` first, where it is asked for."""

    def __post_init__(self) -> None:
        for name, value in (("least", self.least), ("most", self.most)):
            if value is not None:
                whole_number(name, value, 0)
        if self.unit not in ("characters", "words"):
            raise ValueError(f"unit must be characters or words, got {self.unit!r}")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError(f"least must not be above most, got {self.least} and {self.most}")
        counts = ("length.characters", "length.words")
        object.__setattr__(self, "names", ("length.within", *counts) if self._bounded else counts)

    @property
    def _bounded(self) -> bool:
        return self.least is not None or self.most is not None

    @property
    def signature(self) -> str:
        """All that can move the number."""
        bounds = ("least", self.least), ("most", self.most), ("unit", self.unit)
        return build_signature("length", *bounds, ("tok", "mixed"), ("v", 1))

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer: an empty one has length 0."""
        counts = {
            "characters": checks.character_count(response.text),
            "words": len(mixed_tokens(response.text)),
        }
        scores = [
            Score(name=f"length.{unit}", value=count, signature=self.signature)
            for unit, count in counts.items()
        ]
        if not self._bounded:
            return scores
        count = counts[self.unit]
        passed = (self.least or 0) <= count and (self.most is None or count <= self.most)
        return [_score(self, passed, f"{count} {self.unit}"), *scores]


def _score(scorer: Exact | Contains | Regex | JsonValid | Length, passed: bool, reason: str) -> Score:
    return Score(
        name=scorer.names[0], value=float(passed), signature=scorer.signature, scale=PASS, reason=reason
    )


def _list(value: object, name: str) -> list[str]:
    found = [value] if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else None
    if found is None or not all(isinstance(one, str) for one in found):
        raise ValueError(f"{name} must be a list of strings, got {value!r}")
    return found
