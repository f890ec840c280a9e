"""One answer with everything that rules detect in it; each property is computed only once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from hengwen import registry
from hengwen.errors import did_you_mean
from hengwen.objective.detectors import (
    Corruption,
    MarkupHit,
    answer_without_thinking,
    as_number,
    find_breakage,
    find_markup,
    number_verdict,
    strip_thinking,
)
from hengwen.objective.duplicates.similarity import (
    PreparedText,
    normalize_text,
    prepare_text,
    prepared_similarity,
)
from hengwen.objective.duplicates.training_set import with_particles
from hengwen.objective.text import normal_form

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from hengwen.objective.detectors import NumberVerdict
    from hengwen.prompts.rubric import RubricRules
    from hengwen.records import Response, Sample


class CopyMatch(NamedTuple):
    """How closely a text copies one of the references; both fields are false if it copies none of them."""

    exact: bool
    """Whether the letters and digits of the text equal those of a reference."""
    normalized: bool
    """Whether the text equals a reference except for final particles (such as 呀) and punctuation. A final
    particle is removed only before punctuation or at the end of a text. This field can therefore be false
    although ``exact`` is true, if punctuation follows a particle in only one of the two texts.
    """


def find_copy(text: str, references: Sequence[str]) -> CopyMatch | None:
    """Return whether a text copies a reference; None if no reference has a letter or digit."""
    comparable = [(reference, bare) for reference in references if (bare := normalize_text(reference))]
    if not comparable:
        return None
    letters, normalized = with_particles(text), normalize_text(text)
    return CopyMatch(
        exact=any(letters == with_particles(reference) for reference, _ in comparable),
        normalized=any(normalized == bare for _, bare in comparable),
    )


_FLAGS = {"exempt_copy": "target_copy", "exempt_duplicate": "near_duplicate"}
"""Keys of the metadata, each with the name of a rule. If the value of a key is true, the sample is exempt
from the rule. ``exemptions`` reads these keys only with ``lenient=True``."""


def exemptions(sample: Sample, *, lenient: bool = False) -> frozenset[str]:
    """Return the names of the rules that a sample is exempt from."""
    names = sample.metadata.get("exempt", ())
    if lenient:
        listed = names if isinstance(names, (list, tuple)) else ()
        flagged = {rule for flag, rule in _FLAGS.items() if sample.metadata.get(flag) is True}
        return frozenset(flagged.union(name for name in listed if isinstance(name, str)))
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"metadata.exempt must be a list of rules, got {names!r}")
    if names:
        known = registry.known("rules")
        for name in names:
            if name not in known:
                raise ValueError(f"metadata.exempt: unknown rule {name!r}{did_you_mean(name, known)}")
    return frozenset(names)


class EarlierMatch(NamedTuple):
    """The similarity of an answer to one earlier answer."""

    repeat: int
    """Number (``repeat``) of the earlier answer."""
    similarity: float


class NumberMatch(NamedTuple):
    """The number that a sample expects, and whether the answer gives it."""

    expected: Decimal
    verdict: NumberVerdict


def fold_phrase(text: str) -> str:
    """Return a text in Unicode form NFKC, in lower case, with straight apostrophes and single spaces."""
    return " ".join(normal_form(text).replace("’", "'").casefold().split())


@dataclass(frozen=True, kw_only=True)
class RuleInput:
    """An answer, its sample and the earlier answers, with the properties that are detected in them."""

    sample: Sample
    response: Response
    earlier: Sequence[Response] = ()

    remove_thinking = staticmethod(answer_without_thinking)
    """Function that removes the thinking block before an answer; it returns None if the block is not
    closed."""
    number_keys: ClassVar[tuple[str, ...]] = ("number",)
    """Keys of the metadata that may contain the expected number; the first key that exists is used."""
    ignores_question_numbers: ClassVar[bool] = True
    """Whether an answer that only repeats numbers of the question counts as an answer without numbers.
    An answer that contains the right number is not affected."""

    @cached_property
    def text(self) -> str:
        """The answer without the thinking block before it; empty if the block is not closed."""
        return self.remove_thinking(self.response.text) or ""

    @cached_property
    def exempt(self) -> frozenset[str]:
        """Rules that the sample is exempt from."""
        return exemptions(self.sample)

    @cached_property
    def breakage(self) -> Corruption | None:
        """What is broken in the answer or in its thinking block; None if nothing is broken."""
        return find_breakage(self.response.text)

    @cached_property
    def earlier_matches(self) -> tuple[EarlierMatch, ...]:
        """Similarity of this answer to each earlier answer, in the order of the earlier answers."""
        return tuple(
            EarlierMatch(answer.repeat, self.similarity_to(self.remove_thinking(answer.text) or ""))
            for answer in self.earlier
        )

    @cached_property
    def _prepared(self) -> PreparedText:
        return prepare_text(self.text)

    def similarity_to(self, text: str) -> float:
        """Return the similarity of this answer to another text, in 0..1."""
        return prepared_similarity(prepare_text(text), self._prepared)

    @cached_property
    def reference_copy(self) -> CopyMatch | None:
        """Whether the answer copies a reference; None if no reference contains a letter or digit."""
        return find_copy(self.text, self.sample.references)

    @cached_property
    def number(self) -> NumberMatch | None:
        """The expected number and whether the answer gives it; None if the sample expects no number."""
        metadata = self.sample.metadata
        expected = as_number(next((metadata[key] for key in self.number_keys if key in metadata), None))
        if expected is None:
            return None
        question = self.sample.text if self.ignores_question_numbers else ""
        return NumberMatch(expected, number_verdict(self.text, expected, question=question))

    def markup(self, names: str) -> list[MarkupHit]:
        """Return labels and markup in the answer."""
        return find_markup(self.text, names)

    @classmethod
    def of(cls, sample: Sample, response: Response, earlier: Sequence[Response]) -> RuleInput:
        """Return the input for an answer; rules that check the same answer in turn get the same object."""
        last = _LAST.get(cls)
        if (
            last is None
            or last.sample is not sample
            or last.response is not response
            or len(last.earlier) != len(earlier)
            or any(a is not b for a, b in zip(last.earlier, earlier, strict=True))
        ):
            last = _LAST[cls] = cls(sample=sample, response=response, earlier=earlier)
        return last


_LAST: dict[type[RuleInput], RuleInput] = {}
"""The last input that ``RuleInput.of`` returned."""


@dataclass(frozen=True, kw_only=True)
class ClauseInput(RuleInput):
    """The input of a clause, which is a single check by the rules judge; it includes the rubric's rules.

    The rules judge also works without a plan, so it reads samples that were not checked: it ignores a
    malformed ``metadata.exempt``. It removes only a ``<think>`` block that opens at the start, and treats
    numbers of the question like all others.
    """

    rules: RubricRules
    names: str = ""

    @cached_property
    def folded_text(self) -> str:
        """The answer after ``fold_phrase`` (lower case, NFKC, single spaces), to search it for phrases."""
        return fold_phrase(self.text)

    remove_thinking = staticmethod(strip_thinking)
    number_keys: ClassVar[tuple[str, ...]] = ("number", "answer")
    ignores_question_numbers: ClassVar[bool] = False

    @cached_property
    def exempt(self) -> frozenset[str]:
        """Rules from which the sample is exempt; malformed metadata is ignored."""
        return exemptions(self.sample, lenient=True)
