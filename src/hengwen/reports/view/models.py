"""Data classes of a report: ``ReportData`` is the input of a report, ``View`` is its content."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.reports.view.answers import AnswerList
from hengwen.reports.view.judge_notes import NO_NOTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.records import Kind, Run, Scale, Usage
    from hengwen.relevance_metrics.summaries.trajectory import Trajectory
    from hengwen.reports.view.answers import AnswerGroup, AnswerSource
    from hengwen.reports.view.findings import Finding
    from hengwen.results.aggregate import Summary
    from hengwen.results.comparisons import Comparison
    from hengwen.results.score_summaries import Section
    from hengwen.results.score_table import ScoreTable
    from hengwen.text.language import Bilingual, Language


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything a report is built from."""

    plan: str
    runs: tuple[Run, ...]
    """Runs in training order."""
    table: ScoreTable
    order_problem: str = ""
    """Reason why the order of the runs is not known; empty if it is known."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """Calls and tokens by role: ``judge``, or ``subject`` (the model under test)."""
    warnings: tuple[str, ...] = ()
    answers: AnswerSource = field(default_factory=AnswerList)
    notes: Mapping[str, Bilingual] = field(default_factory=dict)
    """For a signature (settings) of a judge, a sentence about the judge, such as that it is a rules judge."""
    created: str = ""
    """Time of creation, in ISO 8601."""
    version: str = ""
    """Version of Hengwen."""
    language: Language = "zh"
    """Language of the report; a report has only one language."""
    baseline: str = ""
    """Id of the run that is pinned as the baseline; empty if none of these runs is pinned."""

    @property
    def baseline_index(self) -> int:
        """Index of the run with which the last checkpoint is compared; 0 if no run is pinned as baseline."""
        return next((index for index, run in enumerate(self.runs) if run.id == self.baseline), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreView:
    """One score over all checkpoints."""

    task: str
    name: str
    base: str
    """Name of the score without its ``human.`` and ``anchor.`` prefixes."""
    kind: Kind
    section: Section
    group: str
    """Group: ``published`` for a score of the whole task, else ``scorer``, ``judge`` or ``human``."""
    headline: bool
    """Whether the score is a main score: the first score of a scorer or judge, a final score (a judge's
    level, which rules may have lowered), or a score of the whole task."""
    scale: Scale | None
    decimals: int
    cells: tuple[Summary | None, ...]
    """Table cell of each run, with mean, interval and counts; None if the run does not have the score."""
    trajectory: Trajectory
    notes: tuple[Bilingual, ...]
    """Sentences about the judge of the score, such as how well it agrees with human labels."""
    comparisons: tuple[Comparison, ...] = ()
    """Paired tests between checkpoints, corrected for all tests of the report. Only scores in the summary of
    the report (the list of findings) are tested."""
    judge_note: Bilingual = NO_NOTE
    """Short note about the judge that gave the score, such as "rules judge"; may be empty."""

    @property
    def address(self) -> str:
        """Address of the score, as ``TASK/SCORE``."""
        return f"{self.task}/{self.name}"

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better; True if there is no scale."""
        return self.scale is None or self.scale.higher_is_better

    @property
    def drops(self) -> Mapping[int, Comparison]:
        """Significant changes for the worse, by the index of the run in which the score is worse."""
        worse = [item for item in self.comparisons if item.significant and self._is_worse(item)]
        return {item.later: item for item in sorted(worse, key=lambda item: item.earlier)}

    def _is_worse(self, item: Comparison) -> bool:
        return (item.test.difference < 0) == self.higher_is_better


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """One task with its scores.

    Scores of the whole task come first, then scores of scorers, scores of judges and human labels.
    """

    name: str
    scores: tuple[ScoreView, ...]
    tested: tuple[str, ...]
    """Addresses of the scores that the summary names."""

    @property
    def headlines(self) -> tuple[ScoreView, ...]:
        """Main scores: scores of the whole task, the first score of each scorer or judge."""
        return tuple(score for score in self.scores if score.headline)

    @property
    def others(self) -> tuple[ScoreView, ...]:
        """Scores of scorers and judges that are not in ``headlines``, such as a judge's criteria."""
        return tuple(score for score in self.scores if score.section == "score" and not score.headline)

    @property
    def anchors(self) -> tuple[ScoreView, ...]:
        """Scores of anchors (fixed answers that every run judges again)."""
        anchors = [score for score in self.scores if score.section == "anchor"]
        names = list(dict.fromkeys(score.base for score in anchors))
        return tuple(sorted(anchors, key=lambda score: names.index(score.base)))

    @property
    def anchor_heads(self) -> tuple[ScoreView, ...]:
        """Scores of anchors (fixed answers): each judge's first score, and every score with human labels."""
        first = {s.base.split(".", 1)[0]: s.base for s in reversed(self.anchors)}
        names = {*first.values(), *(s.base for s in self.anchors if s.kind == "human")}
        return tuple(score for score in self.anchors if score.base in names)

    @property
    def anchor_rest(self) -> tuple[ScoreView, ...]:
        """Scores of anchors (fixed answers) without human labels, except the first score of each judge."""
        return tuple(score for score in self.anchors if score not in self.anchor_heads)

    @property
    def human_pairs(self) -> tuple[tuple[ScoreView, ...], ...]:
        """For each human score: the score of the same name from a judge or scorer, then the human score."""
        humans = [score for score in self.scores if score.section == "human"]
        return tuple(
            (*(s for s in self.scores if s.section == "score" and s.base == human.base), human)
            for human in humans
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Everything that a report shows."""

    plan: str
    created: str
    version: str
    runs: tuple[Run, ...]
    labels: tuple[str, ...]
    """Name of each run's checkpoint, with the run id if several runs have the same checkpoint."""
    tasks: tuple[TaskView, ...]
    findings: tuple[Finding, ...]
    usage: Mapping[str, Usage]
    warnings: tuple[str, ...]
    answers: tuple[AnswerGroup, ...]
    signatures: Mapping[str, tuple[str, ...]]
    """For each signature (settings of a scorer or judge), the scores that have it, as ``TASK/SCORE``."""
    notes: Mapping[str, Bilingual]
    language: Language = "zh"
    """Language of the report."""
    baseline: str = ""
    """Id of the run that is pinned as the baseline; empty if none of these runs is pinned."""
    pending_calls: int = 0
    """Number of calls that have no reply yet after an import of batch replies; 0 for any other report."""

    @property
    def column_heads(self) -> tuple[str, ...]:
        """Labels of the runs as headings of table columns; the label of the baseline run is marked."""
        mark = "（基线）" if self.language == "zh" else " (baseline)"
        return tuple(
            f"{label}{mark}" if run.id == self.baseline else label
            for run, label in zip(self.runs, self.labels, strict=True)
        )

    @property
    def scores(self) -> tuple[ScoreView, ...]:
        """Scores of all tasks."""
        return tuple(score for task in self.tasks for score in task.scores)

    @property
    def tests(self) -> int:
        """Number of paired tests in the summary, for which the p-values are corrected."""
        return sum(len(score.comparisons) for score in self.scores)
