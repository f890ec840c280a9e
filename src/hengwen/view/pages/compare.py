"""The comparison of any two runs: the document of ``hengwen compare``, and its prompts filtered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from starlette.routing import Route

from hengwen.documents.answers.pairs import WorsePrompts
from hengwen.documents.answers.sources import SourceKey, StoredAnswers
from hengwen.documents.blocks import AnswerPairs, Document
from hengwen.documents.compare.document import compare_document
from hengwen.errors import ConfigError
from hengwen.monitoring.compare_runs import compare_runs, scoring_conflict
from hengwen.records import Run
from hengwen.results.answers_to_read import PromptChange, prompt_changes
from hengwen.results.comparability import run_labels
from hengwen.results.score_summaries import ScoreSummaries, task_scores
from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.store import Store
from hengwen.view import words
from hengwen.view.data import StoreData, matching, tags
from hengwen.view.page import address, awaited_document, chosen_runs, respond, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

ROWS = 10
"""Prompts of a page, each with both answers."""


class Changes(NamedTuple):
    """The prompts of two runs by what became of them, after the filters."""

    worse: list[PromptChange]
    equal: list[PromptChange]
    better: list[PromptChange]
    """The largest rise first."""

    @classmethod
    def of(cls, changes: Sequence[PromptChange]) -> Changes:
        """Divide changes, which begin with the largest drop."""
        return cls(
            [item for item in changes if item.merit < 0],
            [item for item in changes if item.merit == 0],
            [item for item in reversed(changes) if item.merit > 0],
        )


class Pair:
    """The two runs that the address of the page names, and the score."""

    def __init__(self, request: Request) -> None:
        self.query = request.query_params
        self.data: StoreData = view_of(request).data
        store = self.data.store
        self.plan, self.known = chosen_runs(request)
        if len(self.known) < 2 and not self.query.get("a"):
            raise ConfigError(f"{store.name} has no two runs of one plan to compare; see: hengwen run")
        self.after = self._find(self.query.get("b")) or self.known[-1]
        self.before = self._find(self.query.get("a")) or self._default_before()
        if self.before.id == self.after.id:
            raise ConfigError(f"{self.after.checkpoint} is compared with itself; name two runs")
        self.runs = (self.before, self.after)
        self.labels = run_labels(self.runs)
        self.table: ScoreTable = self.data.table(self.runs)
        tasks = self.data.kept("summaries", self.runs, lambda: task_scores(self.runs, self.table))
        self.tasks = {task.name: task for task in tasks}
        self.scores = [score for task in tasks for score in task.scores if self._is_paired(score)]
        if not self.scores:
            raise ConfigError(f"{self.labels[0]} and {self.labels[1]} have no score in common")
        headlines = [score for score in self.scores if score.is_headline]
        self.score = self._score(self.query.get("score")) or _first_fallen(headlines or self.scores)

    def _find(self, name: str | None) -> Run | None:
        """Return the run with an id, a prefix of an id, or the name of a checkpoint; None without a name."""
        if not name:
            return None
        newest = next((run for run in self.known if name in (run.id, run.checkpoint)), None)
        return newest or self.data.store.find(name, self.plan or None)

    def _default_before(self) -> Run:
        baseline = self.data.store.baselines().get(self.plan)
        others = [run for run in self.known if run.id != self.after.id]
        return next((run for run in others if run.id == baseline), others[-1])

    def _is_paired(self, score: ScoreSummaries) -> bool:
        columns = [self.table.series.get(SeriesKey(run.id, score.id, score.kind)) for run in self.runs]
        return all(column is not None and not column.is_group_score for column in columns)

    def _score(self, name: str | None) -> ScoreSummaries | None:
        return next((score for score in self.scores if score.address == name), None)

    def changes(self) -> Changes:
        """Return the changes of the prompts that pass the filters."""
        ids = self.before.id, self.after.id
        changes = prompt_changes(self.table, ids, self.score.id, self.score.kind)
        text, tag = self.query.get("q", "").strip(), self.query.get("tag", "")
        if text or tag:
            names = matching(self.data.store, self.runs, self.score.task, text, tag)
            changes = [item for item in changes if item.sample_id in names]
        also = self._score(self.query.get("judge"))
        if also is not None:
            fallen = {
                item.sample_id
                for item in prompt_changes(self.table, ids, also.id, also.kind)
                if item.merit < 0
            }
            changes = [item for item in changes if item.sample_id in fallen]
        status = self.query.get("status", "")
        if status:
            names = self._with_status(status)
            changes = [item for item in changes if item.sample_id in names]
        return Changes.of(changes)

    def _with_status(self, status: str) -> set[str]:
        """Return the prompts of which an answer has this status in any score of the task."""
        return {
            name
            for key, column in self.table.series.items()
            if key.task == self.score.task
            for name, other in zip(column.sample_ids, column.statuses, strict=True)
            if name is not None and other == status
        }

    def statuses(self) -> list[str]:
        """Return the statuses of failures in the task."""
        counts = (
            column.status_counts for key, column in self.table.series.items() if key.task == self.score.task
        )
        return sorted({status for statuses in counts for status in statuses} - {"ok"})

    def pairs(self, changes: Sequence[PromptChange], tone: str) -> AnswerPairs:
        """Return prompts with both answers."""

        def link(key: SourceKey) -> str:
            names = {"run": key.run_id, "task": key.task, "sample": key.sample_id, "repeat": key.repeat}
            return address("/answer", {**names, "score": self.score.address})

        prompts = WorsePrompts(
            StoredAnswers(self.data.store, self.runs, self.table), self.table, "full", address=link
        )
        ids = self.before.id, self.after.id
        names = self.labels[0], self.labels[1]
        return prompts.chosen(self.score, ids, names, self.tasks[self.score.task].scores, changes, tone)


def _first_fallen(scores: Sequence[ScoreSummaries]) -> ScoreSummaries:
    """Return the first score whose mean is worse in the later run; if none is, the first."""
    for score in scores:
        before, after = (item.mean if item else None for item in score.summaries)
        sign = 1 if score.higher_is_better else -1
        if before is not None and after is not None and sign * (after - before) < 0:
            return score
    return scores[0]


def show(request: Request) -> Response:
    """Show the verdict on two runs, and the prompts that changed, with both answers."""
    pair = Pair(request)
    conflict = scoring_conflict(pair.score, pair.labels)
    changes = Changes([], [], []) if conflict else pair.changes()
    kind = request.query_params.get("show", "worse")
    kind = kind if kind in Changes._fields else "worse"
    listed: list[PromptChange] = getattr(changes, kind)
    start = request.query_params.get("from", "0")
    begin = int(start) if start.isdecimal() and len(start) < 10 else 0
    part = listed[begin : begin + ROWS]
    pairs = pair.pairs(part, kind) if part else None
    document, problem = awaited_document(pair.data, "comparison", pair.runs, _comparison)
    return respond(
        request,
        "compare.html.j2",
        title=words.PAGES["/compare"],
        plan=pair.plan,
        notes=[f"{pair.labels[0]} → {pair.labels[1]}"],
        pair=pair,
        document=document,
        problem=problem or conflict,
        pairs=pairs,
        counts={name: len(getattr(changes, name)) for name in Changes._fields},
        kind=kind,
        begin=begin,
        end=begin + len(part),
        page_size=ROWS,
        judges=[
            score.address for score in pair.scores if score.kind == "judge" and score.id != pair.score.id
        ],
        statuses=pair.statuses(),
        tags=pair.data.kept(
            ("tags", pair.score.task),
            [pair.after],
            lambda: tags(pair.data.store, pair.after, pair.score.task),
        ),
        link=lambda **values: address("/compare", {**request.query_params, **values}),
        refreshes=document is None and not problem,
    )


def _comparison(store: Store, runs: Sequence[Run]) -> Document:
    return compare_document(compare_runs(store, *runs))


routes = [Route("/compare", show)]
