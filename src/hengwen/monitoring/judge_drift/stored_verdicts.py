"""Read from a store the verdicts of two runs, and of the run that judged the earlier answers again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hengwen.errors import ConfigError, did_you_mean
from hengwen.judges.panel import short_labels
from hengwen.monitoring.compare_runs import differing_prompts
from hengwen.monitoring.judge_drift.judged_series import (
    JudgedSeries,
    PanelVerdicts,
    judge_key,
    member_series,
    member_verdicts,
)
from hengwen.monitoring.judge_drift.score_changes import RunAnchors, Verdicts, with_changes
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift
from hengwen.records import Run
from hengwen.results.comparability import run_labels
from hengwen.results.score_summaries import task_scores
from hengwen.results.score_table import AnswerId, ScoreTable, SeriesKey
from hengwen.score_id import LEVEL, ScoreId
from hengwen.store import Store


@dataclass
class StoredVerdicts:
    """Verdicts on the answers and anchors (fixed answers) of the runs that are compared."""

    store: Store
    before: Run
    after: Run
    again: Run | None
    """Run in which the earlier answers were judged again; None if they were not."""
    repeat: Run | None
    """Run in which they were judged once more; None if they were not."""
    crossed: Run | None
    """Run in which the old judge judged the later answers; None if it did not."""
    is_stored: bool = False
    """Whether two judges' scores of both runs are compared, and nothing was judged again."""
    differing: Mapping[str, set[str]] = field(init=False)
    """Prompts, by task, whose text, references or metadata differ between ``before`` and ``after``."""
    equal: Mapping[str, Mapping[AnswerId, AnswerId]] = field(init=False)
    """By task: for each later answer that equals an earlier answer to the same prompt, the id of the earlier
    answer."""
    _table: ScoreTable = field(init=False)
    _panels: dict[tuple[str, ScoreId], PanelVerdicts] = field(init=False)
    """Verdicts of the members of each panel; the key is (run id, score)."""
    _lengths_of: Mapping[str, Mapping[str, Mapping[AnswerId, int]]] = field(init=False)
    """Characters of each answer, by run id and task; none without new verdicts."""
    _anchors: dict[str, RunAnchors] = field(init=False)
    """Anchors (fixed answers that every run judges again) of each run, by run id."""

    def __post_init__(self) -> None:
        runs = [run for run in self._runs if run is not None]
        self._table = self.store.table(runs)
        self._panels, self._anchors = defaultdict(PanelVerdicts), defaultdict(RunAnchors)
        for run in runs:
            for row in self.store.rows([run]):
                if row.score.is_anchor:
                    self._anchors[run.id].add(row)
                elif member_verdicts(row.outcome):
                    self._panels[run.id, row.score].add(row)
        self.differing = differing_prompts(self.store, (self.before, self.after))
        self.equal = _equal_answers(self.store, self.before, self.after)
        self._lengths_of = {
            run.id: _answer_lengths(self.store, run)
            for run in (self.before, self.after)
            if self.again or self.is_stored
        }

    @property
    def _runs(self) -> tuple[Run, Run | None, Run, Run | None, Run | None]:
        return self.before, self.again, self.after, self.repeat, self.crossed

    def judged_scores(self, addresses: Sequence[str], *, skip_others: bool = False) -> list[ScoreId]:
        """Return the named scores or, if none is named, the tasks' main scores that a judge gave."""
        runs = (self.before, self.after)
        tasks = task_scores(runs, self._table)
        if not addresses:
            tested = [score for task in tasks for score in task.tested]
            return [score.id for score in tested if score.kind == "judge"]
        judged = {
            score.address: score.id
            for task in tasks
            for score in task.scores
            if score.kind == "judge" and score.id.role == "answer"
        }
        if skip_others:
            addresses = [address for address in addresses if address in judged]
        for address in addresses:
            if address not in judged:
                raise ConfigError(f"no judged score {address!r}{did_you_mean(address, judged)}")
        return [judged[address] for address in dict.fromkeys(addresses)]

    def judged_twice(self, old: str, new: str) -> list[tuple[ScoreId, ScoreId]]:
        """Return the scores that two judges gave; a judge is named, or one of its scores."""
        scores = [
            score.id
            for task in task_scores((self.before, self.after), self._table)
            for score in task.scores
            if score.kind == "judge" and score.id.role == "answer"
        ]
        names = {name for score in scores for name in (score.evaluator, score.base, score.address)}
        for name in (old, new):
            if name not in names:
                judges = sorted({score.evaluator for score in scores})
                labels = ", ".join(dict.fromkeys(run_labels((self.before, self.after))))
                raise ConfigError(
                    f"no judge {name!r} in the runs of {labels}{did_you_mean(name, judges)}; "
                    "other runs: --before RUN --after RUN"
                )
        earlier, later = (
            {
                (score.task, score.part if score.evaluator == name else ""): score
                for score in scores
                if name in (score.evaluator, score.base, score.address)
            }
            for name in (old, new)
        )
        pairs = [(earlier[part], later[part]) for part in earlier if part in later]
        if not pairs or old == new:
            raise ConfigError(f"{old} and {new} are not two judges with the same scores of the same tasks")
        return pairs

    def stored_drift(self, old: ScoreId, new: ScoreId) -> JudgedScoreDrift:
        """Return the changes between the scores of two judges, whose model has both judges' scores too."""
        then, again, now, crossed = (
            self._series(run, score)
            for run, score in ((self.before, old), (self.before, new), (self.after, new), (self.after, old))
        )
        drift = JudgedScoreDrift(address=new.address)
        if then is None or again is None or now is None:
            return replace(drift, reason="not scored")
        is_pair = self.before.id != self.after.id
        return self._with_changes(
            drift, Verdicts(then, again, now, crossed=crossed if is_pair else None), new.task
        )

    def drifts(self, score: ScoreId) -> list[JudgedScoreDrift]:
        """Return the changes of one score, then of its panel's members; ``decide`` adds the verdicts."""
        drift = JudgedScoreDrift(address=score.address)
        then, again, now, repeat, crossed = (
            None if run is None else self._series(run, score) for run in self._runs
        )
        if then is None or now is None:
            return [replace(drift, reason="not scored")]
        verdicts = Verdicts(then, again, now, repeat, crossed)
        whole = self._with_changes(
            drift,
            verdicts,
            score.task,
            anchors=self._anchors[self.before.id].pairs(self._anchors[self.after.id], score),
            incomplete=[self._incomplete(run, score) for run in self._runs],
        )
        return [whole, *self._members(score, verdicts)]

    def _series(self, run: Run, score: ScoreId) -> JudgedSeries | None:
        key = SeriesKey(run.id, score, "judge")
        column = self._table.series.get(key)
        if column is None or not column.has_scores:
            return None
        return JudgedSeries(column, judge_key(self._table, key, run))

    def _panel(self, run: Run | None, score: ScoreId) -> PanelVerdicts | None:
        return None if run is None else self._panels.get((run.id, score.with_part(LEVEL)))

    def _incomplete(self, run: Run | None, score: ScoreId) -> set[AnswerId]:
        panel = self._panel(run, score)
        return panel.incomplete if panel else set()

    def _with_changes(
        self, drift: JudgedScoreDrift, verdicts: Verdicts, task: str, **more: Any
    ) -> JudgedScoreDrift:
        earlier, later = (self._lengths_of.get(run.id, {}).get(task, {}) for run in (self.before, self.after))
        return with_changes(
            drift,
            verdicts,
            differing=self.differing.get(task, ()),
            equal=self.equal.get(task),
            lengths=(earlier, later),
            **more,
        )

    def _members(self, score: ScoreId, verdicts: Verdicts) -> list[JudgedScoreDrift]:
        then, again, now, repeat, crossed = (self._panel(run, score) for run in self._runs)
        if then is None or now is None:
            return []
        labels = dict(zip(now.members, short_labels(list(now.members)), strict=True))
        level, drifts = score.with_part(LEVEL), []
        for earlier, later in matched_members(list(then.members), list(now.members)):
            member = later or earlier
            drift = JudgedScoreDrift(
                address=level.address, family="member", member=member, label=labels.get(member, member)
            )
            if not (earlier and later):
                drifts.append(replace(drift, reason="not scored"))
                continue
            series = Verdicts(
                member_series(verdicts.then, then.members[earlier]),
                _of_member(verdicts.again, again, later),
                member_series(verdicts.now, now.members[later]),
                _of_member(verdicts.repeat, repeat, later),
                _of_member(verdicts.crossed, crossed, earlier),
            )
            anchors = self._anchors[self.before.id].pairs(
                self._anchors[self.after.id], level, (earlier, later)
            )
            drifts.append(self._with_changes(drift, series, score.task, anchors=anchors))
        return drifts


def _of_member(whole: JudgedSeries | None, panel: PanelVerdicts | None, member: str) -> JudgedSeries | None:
    if whole is None or panel is None or member not in panel.members:
        return None
    return member_series(whole, panel.members[member])


def _equal_answers(store: Store, before: Run, after: Run) -> dict[str, dict[AnswerId, AnswerId]]:
    earlier: dict[tuple[str, str, str], AnswerId] = {}
    for response in store.responses(before):
        key = (response.task, response.sample_id, response.text)
        earlier.setdefault(key, (response.sample_id, response.repeat))
    equal: dict[str, dict[AnswerId, AnswerId]] = defaultdict(dict)
    for response in store.responses(after):
        answer = earlier.get((response.task, response.sample_id, response.text))
        if answer is not None:
            equal[response.task][response.sample_id, response.repeat] = answer
    return equal


def _answer_lengths(store: Store, run: Run) -> dict[str, dict[AnswerId, int]]:
    lengths: dict[str, dict[AnswerId, int]] = defaultdict(dict)
    for response in store.responses(run):
        lengths[response.task][response.sample_id, response.repeat] = len(response.text)
    return lengths


def matched_members(earlier: Sequence[str], later: Sequence[str]) -> list[tuple[str, str]]:
    """Pair the members of two panels that have the same signature (text of a judge's settings)."""
    pairs = [(member, member) for member in later if member in earlier]
    left = [member for member in earlier if member not in later]
    new = [member for member in later if member not in earlier]
    if len(left) == len(new) == 1:
        return [*pairs, (left[0], new[0])]
    return [*pairs, *((member, "") for member in left), *(("", member) for member in new)]
