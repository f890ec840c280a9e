"""Everything a report shows, as records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hengwen.reports.view.findings import Drop, Finding, falls_of
from hengwen.reports.view.trajectory import Trajectory, signature_conflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.records import Kind, Run, Scale, Usage
    from hengwen.reports.view.answers import AnswerGroup, AnswerRecord
    from hengwen.reports.view.cells import ScoreCell
    from hengwen.results.score_table import ScoreTable


Block = Literal["score", "human", "anchor"]


WHOLE = (".published", ".normalised")
"""How the scores of a whole task end."""


RULE = "|rule:cap|"
"""In the signature of a rule beside the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """What a report is made of."""

    plan: str
    runs: tuple[Run, ...]
    """In training order."""
    table: ScoreTable
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """By role: ``judge``, ``subject``."""
    warnings: tuple[str, ...] = ()
    answers: tuple[AnswerRecord, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    """Judge signature -> a sentence about it, e.g. that it is a baseline and not a language model."""
    created: str = ""
    """ISO 8601."""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreView:
    """One score over all checkpoints."""

    task: str
    name: str
    base: str
    """The name without ``human.`` or ``anchor.``."""
    kind: Kind
    block: Block
    headline: bool
    """Whether it is the first score of its scorer, a final score or that of the whole task."""
    scale: Scale | None
    decimals: int
    cells: tuple[ScoreCell | None, ...]
    """One a run; None where the run does not have the score."""
    course: Trajectory
    notes: tuple[str, ...]
    """Sentences about its signatures."""

    @property
    def address(self) -> str:
        """``TASK/SCORE``."""
        return f"{self.task}/{self.name}"

    @property
    def group(self) -> str:
        """``published`` for the score of a whole task, else the kind."""
        return "published" if is_published(self.name, self.kind) else self.kind

    @property
    def higher_is_better(self) -> bool:
        """The direction of the scale; up where there is none."""
        return self.scale is None or self.scale.higher_is_better

    @property
    def falls(self) -> Mapping[int, Drop]:
        """The falls that the summary names, by the index of the later run."""
        if signature_conflict([""] * len(self.cells), self.cells):
            return {}
        return {fall.later: fall for fall in falls_of(self.cells, self.higher_is_better)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """One task with its scores, code before judge."""

    name: str
    scores: tuple[ScoreView, ...]

    @property
    def headlines(self) -> tuple[ScoreView, ...]:
        """The scores of the whole task; the first of each scorer and judge, with its final one."""
        return tuple(score for score in self.scores if score.headline)

    @property
    def others(self) -> tuple[ScoreView, ...]:
        """The scores of code and judges that are no headlines."""
        return tuple(score for score in self.scores if score.block == "score" and not score.headline)

    @property
    def anchors(self) -> tuple[ScoreView, ...]:
        """Frozen answers that were judged again in every run; rows of one name together, judges first."""
        found = [score for score in self.scores if score.block == "anchor"]
        names = list(dict.fromkeys(score.base for score in found))
        return tuple(sorted(found, key=lambda score: names.index(score.base)))

    @property
    def anchor_heads(self) -> tuple[ScoreView, ...]:
        """The anchors of each judge's first score, and of what humans labelled."""
        first = {s.base.split(".", 1)[0]: s.base for s in reversed(self.anchors)}
        shown = {*first.values(), *(s.base for s in self.anchors if s.kind == "human")}
        return tuple(score for score in self.anchors if score.base in shown)

    @property
    def anchor_rest(self) -> tuple[ScoreView, ...]:
        """All other anchors."""
        return tuple(score for score in self.anchors if score not in self.anchor_heads)

    @property
    def human_pairs(self) -> tuple[tuple[ScoreView, ...], ...]:
        """For each score with human labels: the rows of the same name, judges first."""
        humans = [score for score in self.scores if score.block == "human"]
        return tuple(
            (*(s for s in self.scores if s.block == "score" and s.base == human.base), human)
            for human in humans
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that a report shows."""

    plan: str
    created: str
    version: str
    runs: tuple[Run, ...]
    labels: tuple[str, ...]
    """The checkpoint of each run; with the run id where two runs share one."""
    tasks: tuple[TaskView, ...]
    findings: tuple[Finding, ...]
    usage: Mapping[str, Usage]
    warnings: tuple[str, ...]
    answers: tuple[AnswerGroup, ...]
    signatures: Mapping[str, tuple[str, ...]]
    """Signature -> addresses of the scores that carry it."""
    notes: Mapping[str, str]

    @property
    def scores(self) -> tuple[ScoreView, ...]:
        """All scores of all tasks."""
        return tuple(score for task in self.tasks for score in task.scores)

    @property
    def steady(self) -> bool:
        """Whether several checkpoints were compared and nothing stood out as worse."""
        return (
            len(self.runs) > 1 and bool(self.findings) and not any(f.weight != "note" for f in self.findings)
        )


def is_published(name: str, kind: Kind) -> bool:
    return kind == "judge" and name.endswith(WHOLE)
