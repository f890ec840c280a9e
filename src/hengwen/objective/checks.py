"""Check one answer: equality, contained words, regular expression, JSON, length; and their scorers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, ClassVar, Literal, get_args

from hengwen._internal.plugins import whole_number
from hengwen.objective.duplicates.similarity import normalize_text
from hengwen.objective.text import fold_width, mixed_tokens
from hengwen.records import Failure, Response, Sample, Scale, Score, digest


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise an error unless an option has one of the allowed values."""
    if value not in choices:
        *others, last = choices
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{name} must be {listed}, got {value!r}")


def check_flag(name: str, value: object) -> None:
    """Raise an error unless an option is true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")


@lru_cache(maxsize=64)
def build_signature(*parts: object) -> str:
    """Return the parts of a signature joined by ``|``."""
    return "|".join(
        part if isinstance(part, str) else f"{part[0]}:{_format_value(part[1])}"  # type: ignore[index]
        for part in parts
    )


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


Scope = Literal["repeats", "checkpoint"]
"""Which answers are scored together by a scorer of sets of answers: ``repeats`` means all answers to one
sample, ``checkpoint`` means all answers of a checkpoint to a task."""


def check_scope(scope: str) -> None:
    """Raise ValueError unless the scope is ``repeats`` or ``checkpoint``."""
    check_choice("scope", scope, get_args(Scope))


class SingleScore:
    """Base class of a scorer with one score; ``{0.n}`` in a pattern stands for the option ``n``."""

    __slots__ = ()
    scale: ClassVar[Scale] = Scale(low=0, high=1)
    name_pattern: ClassVar[str]
    signature_pattern: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the score, such as ``distinct_2.checkpoint``."""
        return self.name_pattern.format(self)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return self.signature_pattern.format(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Tuple with the name of the only score."""
        return (self.name,)

    def build_score(
        self, value: float, *, reason: str = "", details: Mapping[str, Any] | None = None
    ) -> Score:
        """Return the score for a value, with the name, signature and scale of this scorer."""
        return Score(
            name=self.name,
            value=value,
            signature=self.signature,
            scale=self.scale,
            reason=reason,
            details=details or {},
        )

    def not_applicable(self, reason: str) -> Failure:
        """Return the failure with status ``not_applicable`` for answers that this scorer cannot score."""
        return Failure(name=self.name, status="not_applicable", message=reason, signature=self.signature)


Normalize = Literal["none", "strip", "fold", "words"]
"""Normalisation before a comparison: ``strip`` removes outer whitespace; ``fold`` applies NFKC (Unicode
normalisation of width and form), removes outer whitespace and converts to lower case; ``words`` keeps only
letters and digits, in lower case; ``none`` changes nothing."""
MAX_SECONDS = 1.0
"""Default time limit of one regular expression search, in seconds."""

MAX_PATTERN, MAX_REPETITIONS = 10_000, 100_000
"""Maximum length of a regular expression, and maximum product of the repetitions that it requires."""
_RECURSION = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")


def check_normalize(normalize: str) -> None:
    """Raise ValueError unless ``normalize`` is one of the names in ``Normalize``."""
    check_choice("normalize", normalize, get_args(Normalize))


def normalized(text: str, normalize: Normalize) -> str:
    """Return a text after the normalisation that ``normalize`` names."""
    if normalize == "none":
        return text
    if normalize == "strip":
        return text.strip()
    if normalize == "fold":
        return fold_width(text, "fold").strip().lower()
    check_normalize(normalize)
    return normalize_text(text).lower()


def exact(text: str, references: Sequence[str], *, normalize: Normalize = "strip") -> bool:
    """Return whether a text equals one of its references."""
    if not references:
        raise ValueError("there is no reference to compare with")
    expected = [normalized(reference, normalize) for reference in references]
    if not all(expected):
        raise ValueError("a reference is empty: every empty text would equal it")
    return normalized(text, normalize) in expected


def matches(text: str, pattern: str, *, whole: bool = False, seconds: float = MAX_SECONDS) -> bool:
    """Return whether a regular expression matches a text; a search that takes too long is an error."""
    compiled = compile_pattern(pattern)
    try:
        match = (compiled.fullmatch if whole else compiled.search)(text, timeout=seconds)
    except TimeoutError:
        raise ValueError(
            f"the pattern {pattern!r} took longer than {seconds:g} s on a text of {len(text)} characters"
        ) from None
    return match is not None


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern."""
    refuse_costly(pattern)
    import regex  # type: ignore[import-untyped, unused-ignore]  # sacrebleu installs regex; re has no timeout

    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"pattern {pattern!r} is not a regular expression: {error}") from None


def refuse_costly(pattern: str) -> None:
    """Raise an error for a pattern whose compilation or recursion could take all memory."""
    repetitions = prod(int(count) for count in re.findall(r"\{(\d{1,9})", pattern) if int(count) > 1)
    if len(pattern) > MAX_PATTERN or repetitions > MAX_REPETITIONS or _RECURSION.search(pattern):
        raise ValueError(
            f"pattern {pattern[:60]!r} is too costly: at most {MAX_PATTERN:,} characters, "
            f"{MAX_REPETITIONS:,} repetitions in all, and no recursion such as (?R)"
        )


def json_fault(text: str, *, keys: Sequence[str] = (), fenced: bool = False) -> str | None:
    """Return the reason why a text is not the expected JSON; None if the text is as expected."""
    try:
        value = json.loads(
            _unfenced(text) if fenced else text, parse_constant=_reject_constant, parse_int=str
        )
    except RecursionError:
        raise ValueError("the JSON is nested too deep to be parsed") from None
    except ValueError as error:
        return str(error)
    if keys and not isinstance(value, dict):
        return "the value is not an object"
    return next((f"the key {key!r} is missing" for key in keys if key not in value), None)


def _reject_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _unfenced(text: str) -> str:
    lines = text.strip().split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def character_count(text: str) -> int:
    """Return the number of characters of a text; whitespace is not counted."""
    return len("".join(text.split()))


PASS_SCALE = Scale(low=0, high=1, levels=(0, 1))


class PassOrFail(SingleScore):
    """Base class of a scorer whose score is 1 if the answer passes a check, else 0."""

    __slots__ = ()
    scale: ClassVar[Scale] = PASS_SCALE
    prefix: ClassVar[str]
    name_pattern: ClassVar[str] = "{0.prefix}.match"

    def pass_score(self, passed: bool, reason: str) -> Score:
        """Return the score of a check (1 if the answer passed, else 0), with the reason."""
        return self.build_score(float(passed), reason=reason)


@dataclass(frozen=True, slots=True)
class Exact(PassOrFail):
    """Check that the answer equals one of the sample's references."""

    prefix: ClassVar[str] = "exact"
    normalize: Normalize = "strip"

    def __post_init__(self) -> None:
        check_normalize(self.normalize)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return build_signature("exact", ("normalize", self.normalize), ("v", 1))

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        passed = exact(response.text, sample.references, normalize=self.normalize)
        return [self.pass_score(passed, "" if passed else "equals no reference")]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise ValueError if the sample has no reference, or an empty reference."""
        exact("", sample.references, normalize=self.normalize)
        return ()


@dataclass(frozen=True, slots=True)
class Contains(PassOrFail):
    """Check that the answer contains words listed in the plan or in ``metadata[field]`` of the sample."""

    prefix: ClassVar[str] = "contains"
    words: str | Sequence[str] = ()
    field: str = ""
    """Key of each sample's metadata that holds the list of words; used instead of ``words``."""
    every: bool = True
    """Whether the answer must contain all words; otherwise one of them is enough."""
    normalize: Normalize = "none"

    def __post_init__(self) -> None:
        if bool(self.words) == bool(self.field):
            raise ValueError(
                "contains needs either words or field, the name of a list in each sample's metadata"
            )
        check_normalize(self.normalize)
        if self.words:
            object.__setattr__(self, "words", self._parse_words(self.words, "words"))

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        source = f"field:{self.field}" if self.field else f"words:{digest(self.words)[:12]}"
        every = "yes" if self.every else "no"
        return f"contains|{source}|every:{every}|normalize:{self.normalize}|v:1"

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer; its ``reason`` lists the words that the answer does not contain."""
        words = self._words_of(sample)
        text = normalized(response.text, self.normalize)
        absent = [word for word in words if normalized(word, self.normalize) not in text]
        passed = not absent if self.every else len(absent) < len(words)
        return [self.pass_score(passed, f"absent: {', '.join(absent)}" if absent else "")]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise ValueError if the sample has no list of words, or if one of its words is empty."""
        self._words_of(sample)
        return ()

    def _words_of(self, sample: Sample) -> Sequence[str]:
        if not self.field:
            return self.words
        name = f"metadata {self.field!r} of sample {sample.id!r}"
        return self._parse_words(sample.metadata.get(self.field, ()), name)

    def _parse_words(self, value: object, name: str) -> tuple[str, ...]:
        words = parse_strings(value, name)
        if not words or not all(normalized(word, self.normalize) for word in words):
            raise ValueError("words must be one or more, none of them empty")
        return words


@dataclass(frozen=True, slots=True)
class Regex(PassOrFail):
    """Check that a regular expression matches the answer; a search over the time limit is an error."""

    prefix: ClassVar[str] = "regex"
    pattern: str
    whole: bool = False
    """Whether the pattern must match the whole answer."""
    absent: bool = False
    """If true, the answer passes if the pattern does *not* match."""
    seconds: float = MAX_SECONDS
    """Time limit of one search, in seconds."""

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str) or not self.pattern:
            raise ValueError(f"pattern must be a regular expression, got {self.pattern!r}")
        compile_pattern(self.pattern)
        if not 0 < self.seconds <= 60:
            raise ValueError(f"seconds must be above 0 and at most 60, got {self.seconds!r}")

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        settings = ("pattern", digest(self.pattern)[:12]), ("whole", self.whole), ("absent", self.absent)
        return build_signature("regex", *settings, ("v", 1))

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        matched = matches(response.text, self.pattern, whole=self.whole, seconds=self.seconds)
        reason = f"{self.pattern} is {'found' if matched else 'not found'}"
        return [self.pass_score(matched != self.absent, reason)]


@dataclass(frozen=True, slots=True)
class JsonValid(PassOrFail):
    """Check that the answer is JSON, with the required keys."""

    prefix: ClassVar[str] = "json_valid"
    keys: str | Sequence[str] = ()
    """Keys that the JSON object must have; if empty, any JSON value passes."""
    fenced: bool = False
    """Whether the JSON may be inside one Markdown code fence."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", parse_strings(self.keys, "keys"))

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        keys = digest(self.keys)[:12] if self.keys else "any"
        return build_signature("json_valid", ("keys", keys), ("fenced", self.fenced), ("v", 1))

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        fault = json_fault(response.text, keys=self.keys, fenced=self.fenced)
        return [self.pass_score(fault is None, fault or "")]


@dataclass(frozen=True, slots=True)
class Length:
    """Count characters and words of the answer; with ``least`` or ``most``, also check the count."""

    least: int | None = None
    most: int | None = None
    unit: str = "characters"
    """What the bounds count: ``characters`` or ``words``."""

    def __post_init__(self) -> None:
        for name, value in (("least", self.least), ("most", self.most)):
            if value is not None:
                whole_number(name, value, 0)
        check_choice("unit", self.unit, ("characters", "words"))
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError(f"least must not be above most, got {self.least} and {self.most}")

    @property
    def _bounded(self) -> bool:
        return self.least is not None or self.most is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores; if ``least`` or ``most`` is set, ``length.within`` comes first."""
        counts = ("length.characters", "length.words")
        return ("length.within", *counts) if self._bounded else counts

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        bounds = ("least", self.least), ("most", self.most), ("unit", self.unit)
        return build_signature("length", *bounds, ("tok", "mixed"), ("v", 1))

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the scores of one answer; an empty answer has length 0."""
        counts = {
            "characters": character_count(response.text),
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
        within = Score(
            name="length.within",
            value=float(passed),
            signature=self.signature,
            scale=PASS_SCALE,
            reason=f"{count} {self.unit}",
        )
        return [within, *scores]


def parse_strings(value: object, name: str) -> tuple[str, ...]:
    """Return an option as a tuple of strings; a single string becomes a tuple with one element."""
    texts = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, (list, tuple)) else None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must be a list of strings, got {value!r}")
    return texts
