"""``ReportData`` and ``Report``: what a report is built from, and what is computed from it once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from hengwen.documents.answers.all_answers import AnswerCollector
from hengwen.documents.answers.sources import AnswerList, AnswerSource
from hengwen.documents.blocks import EMPTY, AnswerFilter, AnswerTable, Link, Size
from hengwen.documents.groups import group_verdicts
from hengwen.documents.missing import empty_text
from hengwen.documents.run.findings import Finding, ScoreContext, finding_of, left_out
from hengwen.documents.run.judge_notes import (
    LengthBiasDetector,
    calibration_notes,
    certificate_notes,
    judge_note,
    rules_note,
    stale_warnings,
)
from hengwen.documents.standings import names_text
from hengwen.judges.calibration import Calibration
from hengwen.monitoring.judge_trust import JudgeTrust, trust_of
from hengwen.records import Run, Usage
from hengwen.relevance_metrics.trajectory import NO_REASON, Trajectory, trajectory_of_means
from hengwen.results.aggregate import Summary
from hengwen.results.comparability import MAX_LABELS, run_labels
from hengwen.results.comparisons import Comparison
from hengwen.results.coverage import EmptyAnswers
from hengwen.results.decide import Decision, ScoreCourse, ScoreDecision, decide, margins_of, score_courses
from hengwen.results.group_comparison import GroupComparison
from hengwen.results.score_summaries import ScoreSummaries, TaskScores, scoring_conflict, task_scores
from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.store.queries import ModelCalls
from hengwen.text.language import Bilingual, both, say

WHOLE_ANSWERS = "hengwen report -o report.html --answers full"
"""Command that writes answers whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything from which the document of runs is built."""

    plan: str
    runs: tuple[Run, ...]
    """Runs in training order."""
    table: ScoreTable
    order_problem: str = ""
    """Reason why the order of the runs is not known; empty if it is known."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """Calls and tokens by role: ``judge``, or ``subject`` (the model under test)."""
    calls: tuple[ModelCalls, ...] = ()
    """The same by role and model, with latency."""
    warnings: tuple[str, ...] = ()
    answers: AnswerSource = field(default_factory=AnswerList)
    size: Size | None = None
    """How much of the answers is shown; None: whole answers if there are few, else excerpts."""
    calibrations: tuple[Calibration, ...] = ()
    """How well judges agree with human labels."""
    admissions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Newest admission test of each judge, by the key of the judge."""
    groups: tuple[GroupComparison, ...] = ()
    """Tests of scores of whole sets of answers, such as diversity."""
    created: str = ""
    """Time of creation, in ISO 8601."""
    version: str = ""
    """Version of Hengwen."""
    empty: tuple[EmptyAnswers, ...] = ()
    """Checkpoints and tasks of which more than 2 % of the answers are empty."""
    baseline: str = ""
    """Id of the run that is pinned as the baseline; empty if none of these runs is pinned."""
    is_kept: bool = True
    """Whether the store is kept, so that commands whose results it holds are of use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The data of a report, and what is computed from them. Mappings have the addresses of scores as keys."""

    data: ReportData
    labels: tuple[str, ...]
    tasks: tuple[TaskScores, ...]
    courses: tuple[ScoreCourse, ...]
    """Tested scores with their values for each prompt and their tests."""
    decision: Decision
    """Which checkpoint to ship."""
    trajectories: Mapping[str, Trajectory]
    notes: Mapping[str, Sequence[Bilingual]]
    """Sentences about the judges of scores, such as how well they agree with human labels."""
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    answers: AnswerTable
    statuses: Mapping[tuple[str, str], Collection[str]]
    """Statuses of the rows of all answers, by checkpoint and task; an empty status or checkpoint stands for
    any."""
    judges: tuple[JudgeTrust, ...] = ()
    """What is known of each judge."""

    @property
    def scores(self) -> tuple[ScoreSummaries, ...]:
        """Scores of all tasks."""
        return tuple(score for task in self.tasks for score in task.scores)

    @property
    def comparisons(self) -> Mapping[str, Sequence[Comparison]]:
        """Paired tests between checkpoints, corrected for all tests of the report."""
        return {course.address: course.comparisons for course in self.courses if not course.is_group}

    @property
    def decisions(self) -> Mapping[str, ScoreDecision]:
        """The decision on each tested score, by its address."""
        return {score.address: score for score in self.decision.scores}

    def answers_of(self, score: ScoreSummaries, index: int) -> AnswerFilter | None:
        """Return the rows of the table of all answers behind a mean; None if they are not there."""
        if not has_answers(score, self.data):
            return None
        has_column = any(column.head == score.name for column in self.answers.columns)
        rows = AnswerFilter(self.data.runs[index].checkpoint, score.task, score.name if has_column else "")
        return rows if self.has_rows(rows) else None

    def failed_answers(self, task: str, checkpoint: str, status: str) -> AnswerFilter | None:
        """Return the rows of the table of all answers with a status; None if there are none."""
        rows = AnswerFilter(checkpoint, task, status=status)
        return rows if self.has_rows(rows) else None

    def has_rows(self, rows: AnswerFilter | None) -> bool:
        """Return whether the table of all answers has any of these rows."""
        return rows is not None and rows.status in self.statuses.get((rows.checkpoint, rows.task), ())

    def worse_runs(self, score: ScoreSummaries) -> set[int]:
        """Return the indices of the runs in which a score is worse than in an earlier one."""
        return {item.later for item in self.comparisons.get(score.address, ()) if item.verdict == "worse"}


def build_report(data: ReportData) -> Report:
    """Aggregate and test the scores of a report, and choose the answers that it shows."""
    labels, tasks = run_labels(data.runs), task_scores(data.runs, data.table)
    scores = [score for task in tasks for score in task.scores]
    tested = [score for task in tasks for score in task.tested]
    courses = score_courses(tested, data.table, data.runs, data.order_problem, data.groups)
    contexts = [
        ScoreContext(
            score=score,
            checkpoints=labels,
            series=course.series,
            comparisons=() if course.is_group else course.comparisons,
            order_problem=data.order_problem,
        )
        for score, course in zip(tested, courses, strict=True)
    ]
    certificates = certificate_notes(scores, data.calibrations)
    of_answers = [score for task in tasks for score in task.headlines if has_answers(score, data)]
    of_answers.sort(key=lambda score: not score.is_final)
    collector = AnswerCollector(of_answers, len(tasks) * len(data.runs), data.size)
    length_bias = LengthBiasDetector()
    for answer in data.answers.stream():
        collector.add(answer)
        length_bias.add(answer)
    findings = [
        finding.with_prefix(judge_note(context.score))
        for context in contexts
        if (finding := finding_of(context)) is not None
    ]
    groups = {
        address: Finding(address=address, text=both(item.sentence), tone=item.tone)
        for address, item in group_verdicts(data.groups, labels).items()
    }
    findings = [groups.get(finding.address, finding) for finding in findings]
    findings += [finding for context in contexts if (finding := left_out(context)) is not None]
    findings += [*map(_of_empty_answers, data.empty), *length_bias.findings()]
    checkpoints = [run.checkpoint for run in data.runs]
    answers = collector.table(data.answers, WHOLE_ANSWERS)
    statuses: dict[tuple[str, str], set[str]] = {}
    for row in answers.rows:
        for checkpoint in (row.checkpoint, ""):
            statuses.setdefault((checkpoint, row.task), {""}).add(row.status)
    return Report(
        data=data,
        labels=labels,
        tasks=tasks,
        courses=tuple(courses),
        decision=decide(labels, courses, margins_of(data.runs)),
        trajectories={
            score.address: trajectory_of(checkpoints, score.summaries, data.order_problem) for score in scores
        },
        notes={
            score.address: [*rules_note(score), *calibration_notes(score, data.calibrations)]
            for score in scores
        },
        findings=tuple(finding.with_suffix(certificates.get(finding.address)) for finding in findings),
        warnings=(*data.warnings, *stale_warnings(scores, data.calibrations)),
        answers=answers,
        statuses=statuses,
        judges=trust_of(data.runs, data.table, data.admissions, data.calibrations),
    )


def _of_empty_answers(item: EmptyAnswers) -> Finding:
    checkpoint, task, empty, n = item
    return Finding(
        address=task,
        text=empty_text(item),
        tone="worse",
        is_alarm=True,
        link=Link(
            text=say("{empty} of {n} answers", empty=empty, n=n),
            target="all-answers",
            rows=AnswerFilter(checkpoint, task, status=EMPTY),
        ),
    )


def has_answers(score: ScoreSummaries, data: ReportData) -> bool:
    """Return whether a score has values of single answers, not of anchors or of groups of answers."""
    columns = (data.table.series.get(SeriesKey(run.id, score.id, score.kind)) for run in data.runs)
    return score.section != "anchor" and any(column and not column.is_group_score for column in columns)


def trajectory_of(
    checkpoints: Sequence[str], summaries: Sequence[Summary | None], order_problem: str = ""
) -> Trajectory:
    """Return the trajectory of one score."""
    n = len(checkpoints)
    means = [summary.mean for summary in summaries if summary is not None and summary.mean is not None]
    reason = obstacle(checkpoints, summaries)
    if not reason.en and order_problem:
        reason = Bilingual("检查点的先后未知", order_problem)
    return Trajectory(n=n, reason=reason) if reason.en else trajectory_of_means(means)


def obstacle(checkpoints: Sequence[str], summaries: Sequence[Summary | None]) -> Bilingual:
    """Return why the means of a score over checkpoints cannot be compared; empty if they can."""
    missing = [
        name
        for name, summary in zip(checkpoints, summaries, strict=True)
        if summary is None or summary.mean is None
    ]
    if missing:
        return say("no mean at {names}", names=names_text(missing, most=MAX_LABELS))
    if len(checkpoints) < 2:
        return say("only one checkpoint")
    repeated = sorted({name for name in checkpoints if list(checkpoints).count(name) > 1})
    if repeated:
        names = ", ".join(repeated)
        return say("several runs of one checkpoint: {names}", names=names)
    conflict = scoring_conflict(checkpoints, summaries)
    return Bilingual(f"评分设置不同（{conflict}）", conflict) if conflict else NO_REASON
