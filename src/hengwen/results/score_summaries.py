"""Summarize each score in several runs, and decide which scores are headline scores and which are tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hengwen.records import Kind, Run, Scale
from hengwen.results.aggregate import Summary, aggregate
from hengwen.results.comparability import (
    comparability_conflict,
    comparability_of,
    distinct_parts,
    names_text,
)
from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.score_id import FINAL, IMPORTED_TAG, LEVEL, ScoreId, Section, caps
from hengwen.text.numbers import decimals_for

KIND_ORDER: tuple[Kind, ...] = ("scorer", "judge", "human")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSummaries:
    """The summary of one score in each of several runs."""

    id: ScoreId
    kind: Kind
    summaries: tuple[Summary | None, ...]
    """Summary of the score in each run; None if the run does not have the score."""
    is_headline: bool = False
    """Whether the score is a main score: the first score of a scorer or judge, a final score (a judge's
    level, which rules may have lowered), a score of the whole task, or a score of another tool that gives
    no level. A score that restates another is none."""
    restates: str = ""
    """Name of the judge's score that is the same number in all runs, on this scale or another; or empty."""

    @property
    def address(self) -> str:
        """Address of the score, as ``TASK/SCORE``."""
        return self.id.address

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.id.task

    @property
    def name(self) -> str:
        """Name of the score in its task."""
        return self.id.name

    @property
    def base(self) -> str:
        """Name that the scorer or judge gives the score; that of a human label or anchor is the same."""
        return self.id.base

    @property
    def section(self) -> Section:
        """Section of a report that shows the score."""
        return self.id.section

    @property
    def group(self) -> str:
        """Group: ``published`` for a score of the whole task, else ``scorer``, ``judge`` or ``human``."""
        return "published" if self.id.role == "task" else self.kind

    @property
    def is_final(self) -> bool:
        """Whether the score is a judge's level after rules."""
        return is_final(self.id, self.kind)

    @property
    def scale(self) -> Scale | None:
        """Range of the values, and whether higher values are better."""
        return next((summary.scale for summary in self.summaries if summary and summary.scale), None)

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better; True if there is no scale."""
        return self.scale is None or self.scale.higher_is_better

    @property
    def decimals(self) -> int:
        """Number of decimals with which the means are printed."""
        return decimals_for(self.scale, [summary.mean for summary in self.summaries if summary])

    @property
    def signatures(self) -> tuple[str, ...]:
        """Signatures of the score in all runs, without duplicates."""
        return tuple(dict.fromkeys(s for summary in self.summaries if summary for s in summary.signatures))

    @property
    def _is_rule(self) -> bool:
        """Whether the score belongs to a rule that limits (caps) a judge's level."""
        return self.kind == "scorer" and any(map(caps, self.signatures))

    @property
    def _is_imported(self) -> bool:
        """Whether another tool gave the score."""
        return any(IMPORTED_TAG in signature for signature in self.signatures)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScores:
    """The scores of one task: of the whole task, of scorers, of judges, and human labels."""

    name: str
    scores: tuple[ScoreSummaries, ...]

    @property
    def headlines(self) -> tuple[ScoreSummaries, ...]:
        """Main scores: scores of the whole task, the first score of each scorer or judge."""
        return tuple(score for score in self.scores if score.is_headline)

    @property
    def tested(self) -> tuple[ScoreSummaries, ...]:
        """Main scores with a value for each answer; of a judge with rules, the final level only."""
        superseded = {score.id.with_part(LEVEL) for score in self.headlines if score.is_final}
        return tuple(
            score
            for score in self.headlines
            if score.id.role != "task" and not (score.kind == "judge" and score.id in superseded)
        )

    @property
    def others(self) -> tuple[ScoreSummaries, ...]:
        """Scores of scorers and judges that are not in ``headlines``, such as a judge's criteria."""
        return tuple(score for score in self.scores if score.section == "score" and not score.is_headline)

    @property
    def anchors(self) -> tuple[ScoreSummaries, ...]:
        """Scores of anchors, those of one name beside each other."""
        anchors = [score for score in self.scores if score.section == "anchor"]
        names = list(dict.fromkeys(score.base for score in anchors))
        return tuple(sorted(anchors, key=lambda score: names.index(score.base)))

    @property
    def anchor_heads(self) -> tuple[ScoreSummaries, ...]:
        """Scores of anchors: each judge's first score, and every score with human labels."""
        first = {s.id.source: s.base for s in reversed(self.anchors)}
        names = {*first.values(), *(s.base for s in self.anchors if s.kind == "human")}
        return tuple(score for score in self.anchors if score.base in names)

    @property
    def human_pairs(self) -> tuple[tuple[ScoreSummaries, ...], ...]:
        """For each human score: the score of the same name from a judge or scorer, then the human score."""
        humans = [score for score in self.scores if score.section == "human"]
        return tuple(
            (*(s for s in self.scores if s.section == "score" and s.base == human.base), human)
            for human in humans
        )


def task_scores(runs: Sequence[Run], table: ScoreTable) -> tuple[TaskScores, ...]:
    """Return the tasks of runs with their scores; rows of other runs are ignored."""
    facts = {run.id: run.facts for run in runs}
    summaries = {
        key: replace(summary, comparability=comparability_of(key, table, facts[key.run_id]))
        for key, summary in aggregate(table).items()
        if key.run_id in facts
    }
    scores: dict[str, dict[tuple[ScoreId, Kind], None]] = {}
    for key in summaries:
        scores.setdefault(key.task, {})[key.score, key.kind] = None
    return tuple(_task(task, list(series), summaries, runs) for task, series in scores.items())


def scoring_conflict(labels: Sequence[str], summaries: Sequence[Summary | None]) -> str:
    """Return how the scoring differs between runs; empty if it does not differ."""
    conflict = signature_conflict(labels, summaries)
    return conflict or comparability_conflict(
        labels, [summary.comparability if summary else None for summary in summaries]
    )


def signature_conflict(labels: Sequence[str], summaries: Sequence[Summary | None]) -> str:
    """Return the settings of the scorer (parts of signatures) that differ between runs."""
    labels_of: dict[str, list[str]] = {}
    for label, summary in zip(labels, summaries, strict=True):
        for signature in summary.signatures if summary else ():
            labels_of.setdefault(signature, []).append(label)
    if len(labels_of) < 2:
        return ""
    parts = distinct_parts(list(labels_of))
    return "signatures differ: " + "; ".join(
        f"{part} ({names_text(names)})" for part, names in zip(parts, labels_of.values(), strict=True)
    )


def is_final(score: ScoreId, kind: Kind) -> bool:
    """Return whether a score is a judge's level after rules have capped it."""
    return kind == "judge" and score.role == "answer" and score.part == FINAL


def _task(
    task: str,
    series: list[tuple[ScoreId, Kind]],
    summaries: Mapping[SeriesKey, Summary],
    runs: Sequence[Run],
) -> TaskScores:
    scores: list[ScoreSummaries] = []
    sources: set[tuple[Kind, str]] = set()
    for score, kind in sorted(series, key=lambda item: (item[0].role != "task", KIND_ORDER.index(item[1]))):
        is_derived = score.role == "task" or is_final(score, kind)
        of_runs = tuple(summaries.get(SeriesKey(run.id, score, kind)) for run in runs)
        item = ScoreSummaries(id=score, kind=kind, summaries=of_runs)
        is_whole = item._is_imported and (score.with_part(LEVEL), kind) not in series
        is_first = is_whole or (kind, score.source) not in sources
        is_first = is_first and score.role == "answer" and not is_derived
        if is_first:
            sources.add((kind, score.source))
        scores.append(replace(item, is_headline=(is_derived or is_first) and not item._is_rule))
    return TaskScores(name=task, scores=tuple(_without_restating(scores)))


def _without_restating(scores: Sequence[ScoreSummaries]) -> Iterator[ScoreSummaries]:
    """Yield the scores; a judge's level or task score is no headline where its final level says the same."""
    heads = {score.id: score for score in scores if score.is_headline and score.kind == "judge"}
    for score in scores:
        parts = (FINAL, LEVEL) if score.id.role == "task" else (FINAL,) if score.id.part == LEVEL else ()
        originals = [heads[key] for part in parts if (key := score.id.with_part(part)) in heads]
        if score.id in heads and originals and _is_same_number(score, originals[0]):
            yield replace(score, is_headline=False, restates=originals[0].name)
        else:
            yield score


def _is_same_number(a: ScoreSummaries, b: ScoreSummaries) -> bool:
    """Return whether the means of all runs lie at the same place of both scales."""
    positions = _positions(a)
    return any(position is not None for position in positions) and positions == _positions(b)


def _positions(score: ScoreSummaries) -> list[float | None]:
    """Return where on its scale the mean of each run lies, from 0 to 1."""
    if (scale := score.scale) is None:
        return []
    means = [summary.mean if summary else None for summary in score.summaries]
    return [
        None if mean is None else round((mean - scale.low) / (scale.high - scale.low), 9) for mean in means
    ]
