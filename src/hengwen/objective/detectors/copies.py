"""Detect copies of a text: exact copies, and copies that differ only in final particles and punctuation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hengwen.objective.duplicates.similarity import normalize_text
from hengwen.objective.duplicates.training_set import with_particles

if TYPE_CHECKING:
    from collections.abc import Sequence


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
