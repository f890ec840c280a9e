"""Find copies of an answer in training data: equal texts, texts equal except for particles, near copies."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from hengwen._internal.plugins import check_texts
from hengwen.errors import DataError
from hengwen.io.untrusted_json import parse_json
from hengwen.objective.checks import Scope, SingleScore, build_signature, check_scope
from hengwen.objective.diversity.compare_sets import interval_details
from hengwen.objective.duplicates.similarity import (
    THRESHOLD,
    AnswerSet,
    Duplicate,
    check_threshold,
    normalize_text,
)
from hengwen.objective.text import normal_form
from hengwen.records import Outcome, Response, Sample, Scale, Score

LeakKind = Literal["exact", "particle_only", "near", "none"]
GRAM_LENGTH = 5
MIN_CONTAINMENT = 0.8
"""An answer counts as a near copy if one training answer contains at least this share of its character
5-grams."""


@dataclass(frozen=True, slots=True)
class LeakMatch:
    """The closest match of one answer in the training data."""

    kind: LeakKind
    of: int | None
    """Index of the closest training answer, from 0; None if no training answer shares a 5-gram with the
    answer."""
    containment: float
    """Share of the answer's character 5-grams that the closest training answer contains, in 0..1. The share
    is 1 if the texts are equal (``exact``) or equal without final particles (``particle_only``)."""


class TrainingSet:
    """Index of the answers (turns of the assistant) in a training set, which finds copies of an answer.

    Args:
        turns: The assistant's texts, in order.
        near: Minimum share of an answer's character 5-grams that one turn must contain for a near copy, in
            (0, 1].

    Raises:
        ValueError: No turn has a letter or digit, or ``near`` is out of range.

    Examples:
        >>> train = TrainingSet(["晚上好呀，今天的月亮很圆呢", "我想吃鱼"])
        >>> train.find("晚上好呀，今天的月亮很圆呢！")
        LeakMatch(kind='exact', of=0, containment=1.0)
        >>> train.find("晚上好，今天的月亮很圆")
        LeakMatch(kind='particle_only', of=0, containment=1.0)
        >>> train.find("晚上好，今天的月亮很大")  # 5-grams 5 of 6
        LeakMatch(kind='near', of=0, containment=0.8333333333333334)
        >>> train.find("我不想吃鱼")
        LeakMatch(kind='none', of=None, containment=0.0)
    """

    def __init__(self, turns: Iterable[str], *, near: float = MIN_CONTAINMENT) -> None:
        check_texts("turns", turns)
        if not 0 < near <= 1:
            raise ValueError(f"near must be above 0 and at most 1, got {near}")
        self._near = near
        self._exact: dict[str, int] = {}
        self._bare: dict[str, int] = {}
        self._postings: dict[str, list[int]] = {}
        for index, turn in enumerate(turns):
            self._add(index, turn)
        if not self._bare:
            raise ValueError("the training set has no turn with a letter or digit")

    def _add(self, index: int, turn: str) -> None:
        bare = normalize_text(turn)
        if not bare:
            return
        self._exact.setdefault(with_particles(turn), index)
        if self._bare.setdefault(bare, index) != index:
            return  # an equal turn is indexed already
        for gram in set(_grams(bare)):
            self._postings.setdefault(gram, []).append(index)

    def find(self, answer: str) -> LeakMatch:
        """Return the closest match of an answer.

        Args:
            answer: Any text. If the answer has fewer than five letters and digits, only a training answer
                that is equal (apart from final particles) matches.

        Raises:
            ValueError: The answer has no letter or digit, so leakage cannot be assessed.
        """
        bare = normalize_text(answer)
        if not bare:
            raise ValueError("the answer has no letter or digit: leakage is not assessed")
        index = self._exact.get(with_particles(answer))
        if index is not None:
            return LeakMatch("exact", index, 1.0)
        if bare in self._bare:
            return LeakMatch("particle_only", self._bare[bare], 1.0)
        return self._closest(_grams(bare))

    def _closest(self, grams: list[str]) -> LeakMatch:
        distinct = set(grams)
        shared: dict[int, int] = {}
        for gram in distinct:
            for index in self._postings.get(gram, ()):
                shared[index] = shared.get(index, 0) + 1
        if not shared:
            return LeakMatch("none", None, 0.0)
        closest = max(shared, key=lambda index: (shared[index], -index))
        containment = shared[closest] / len(distinct)
        return LeakMatch("near" if containment >= self._near else "none", closest, containment)


def with_particles(text: str) -> str:
    """Return only the letters, combining marks and digits of a text after NFKC; final particles are kept."""
    folded = normal_form(text)
    return "".join(character for character in folded if unicodedata.category(character)[0] in "LMN")


def _grams(bare: str) -> list[str]:
    return [bare[i : i + GRAM_LENGTH] for i in range(len(bare) - GRAM_LENGTH + 1)]


_ANSWER_KEYS = ("output", "label", "response", "completion", "answer", "chosen")
MAX_FILE = 64 << 20
"""Maximum number of bytes of a training file; its index takes many times as much memory."""
_ASSISTANT = ("assistant", "gpt", "model", "bot")
_TURN_KEYS = (("conversations", "from", "value"), ("messages", "role", "content"))
"""Key of the list of turns, and the keys of the role and the text in each turn."""


def read_answers(paths: Sequence[str]) -> tuple[list[str], str]:
    """Return the assistant's texts in training files, and a digest of the files."""
    answers: list[str] = []
    digest = hashlib.sha256()
    for path in map(Path, paths):
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_FILE + 1)
            text = raw.decode("utf-8-sig") if len(raw) <= MAX_FILE else ""
        except (OSError, UnicodeDecodeError) as error:
            reason = (error.strerror or str(error)) if isinstance(error, OSError) else "not UTF-8"
            raise DataError(f"{path}: the training file cannot be read: {reason}") from None
        if len(raw) > MAX_FILE:
            raise DataError(f"{path}: the training file is larger than {MAX_FILE >> 20} MiB; split it")
        digest.update(raw)
        del raw
        answers += _answers(path, text)
    return answers, digest.hexdigest()[:12]


def _answers(path: Path, text: str) -> Iterator[str]:
    if path.suffix == ".txt":
        yield from (line for line in text.splitlines() if line.strip())
        return
    for number, row in _rows(path, text):
        answers = list(_from_row(row))
        if not answers:
            raise DataError(
                f"{path}:{number}: no answer in this row; known: conversations, messages, "
                f"{', '.join(_ANSWER_KEYS)}"
            )
        yield from answers


def _rows(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    if text.lstrip().startswith("["):
        try:
            yield from enumerate(parse_json(text), 1)
        except ValueError as error:
            raise DataError(f"{path}: not valid JSON: {error}") from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except ValueError as error:
                raise DataError(f"{path}:{number}: not valid JSON: {error}") from None


def _from_row(row: Any) -> Iterator[str]:
    if not isinstance(row, dict):
        return
    for list_key, role_key, text_key in _TURN_KEYS:
        for turn in row.get(list_key) or ():
            if isinstance(turn, dict) and turn.get(role_key) in _ASSISTANT:
                text = turn.get(text_key)
                if isinstance(text, str):
                    yield text
    yield from (row[key] for key in _ANSWER_KEYS if isinstance(row.get(key), str))


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
