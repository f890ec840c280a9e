"""What the engine is handed for one run: everything built, nothing left to look up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from hengwen.protocols import Backend, GroupScorer, Judge, Scorer
    from hengwen.records import Response, Row, Run, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A backend whose answers are weighed, and how it is asked."""

    backend: Backend
    signature: str
    system: str | None
    user: str
    params: Mapping[str, object] = field(default_factory=dict)
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskJob:
    """The samples of a task with their answers and all that weighs them."""

    name: str
    samples: Collection[Sample]
    answers: Callable[[str], Sequence[Response]] = lambda _: ()
    """The stored answers to a sample, by its id. Not asked where a subject answers."""
    subject: Subject | None = None
    scorers: Sequence[Scorer] = ()
    set_scorers: Sequence[GroupScorer] = ()
    judges: Sequence[Judge] = ()
    anchors: Sequence[tuple[Sample, Response]] = ()
    """Frozen answers, judged in every run."""
    anchor_judges: Sequence[Judge] = ()

    @property
    def names(self) -> list[str]:
        """All score names that an answer of this task gets."""
        weighers: list[Scorer | Judge] = [*self.scorers, *self.judges]
        return [name for weigher in weighers for name in weigher.names]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run: a checkpoint, its tasks, and the human rows that stand beside."""

    run: Run
    tasks: Sequence[TaskJob]
    human_rows: Sequence[Row] = ()
    fresh: bool = False
    """Adopt nothing of earlier runs."""


def signatures_by_name(weigher: Scorer | GroupScorer | Judge) -> Mapping[str, str]:
    """Return the signature under which the outcome of each name of a scorer or judge is kept."""
    several: Mapping[str, str] | None = getattr(weigher, "signatures", None)  # of a Compound
    return dict.fromkeys(weigher.names, weigher.signature) if several is None else several


def item_hash(sample: Sample, response: Response, earlier: Sequence[Response] = (), mark: str = "") -> str:
    """Return the sha256 of all that an outcome for this answer may depend on.

    Args:
        sample: What was asked.
        response: The answer.
        earlier: The answers before it, which duplicates are looked for in.
        mark: Keeps kinds of items apart, such as anchors.
    """
    return digest(mark, sample.hash, response.text, [before.text for before in earlier])
