"""Decide which checkpoint to ship, from the paired tests of all headline scores.

For each score, a checkpoint stands among those not worse than the best seen unless a test shows that another
checkpoint is better. A plan may state a margin for a score: then a checkpoint must be shown to be within this
margin of the best seen.

The checkpoint to ship is on this list for every score; of several, it is the one that trails least: its
largest shortfall behind the best seen of a score, in standard errors, is the smallest; of equal ones, the
newest. If no checkpoint is on every list, the scores disagree: some later checkpoint is better in one score
and worse in another. Which score is worth more is for people to say. Until then the checkpoint to keep is
chosen among those that have given nothing up: that are not worse than any earlier checkpoint in any score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hengwen.records import Run
from hengwen.results.comparability import UNKNOWN, run_labels, training_order
from hengwen.results.comparisons import Comparison, ComparisonVerdict, compare_checkpoints, family_size
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.score_series import ScoreSeries, score_series
from hengwen.results.score_summaries import ScoreSummaries, scoring_conflict, task_scores
from hengwen.results.score_table import ScoreTable
from hengwen.stats.mean_interval import difference_interval

if TYPE_CHECKING:
    from hengwen.results.group_comparison import GroupComparison


Standing = Literal["best seen", "not worse", "undecided", "worse", "missing answers", "not compared"]
"""Where a checkpoint stands in one score. ``not worse``: no test shows that another checkpoint is better;
with a margin, the checkpoint is shown to be within the margin of the best seen. ``undecided``: with a margin,
neither is shown. ``missing answers``: fewer than 95 % of its prompts or answers have a score."""
ScoreProblem = Literal[
    "", "nothing scored", "one checkpoint", "not comparable", "order unknown", "missing answers", "not tested"
]
"""Reason why a score does not count for the decision. ``not comparable``: the checkpoints were scored with
different settings. ``not tested``: the score is one number for a whole set of answers, for which there is no
test."""
DecisionVerdict = Literal["ship", "keep", "undecided", "none"]
"""``ship``: the named checkpoint is among the best seen in every score. ``keep``: no checkpoint is; the named
one has given nothing up. ``undecided``: more prompts or answers would tell; the named checkpoint has the
highest means. ``none``: there is nothing to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStanding:
    """Where one checkpoint stands in one score.

    Examples:
        >>> CheckpointStanding(checkpoint="step-1", standing="best seen", mean=0.8).difference is None
        True
    """

    checkpoint: str
    standing: Standing
    mean: float | None
    better: str = ""
    """Checkpoint that is shown to be better, or else the best seen; empty for the best seen itself."""
    difference: float | None = None
    """Value of this checkpoint minus the value of ``better``, on their common prompts."""
    p: float | None = None
    """p-value of this difference, corrected for all pairs and scores of the report."""
    p_alone: float | None = None
    """p-value of this difference alone, not corrected."""
    prompts: int | None = None
    """Number of their common prompts."""
    prompts_needed: int | None = None
    """Number of prompts that would show a true difference of this size (or, with a margin, that it is within
    the margin) with a probability of about 80 %; None if it is shown, or if it cannot be computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDecision:
    """Which checkpoints are not worse than the best seen in one score.

    Examples:
        >>> best = CheckpointStanding(checkpoint="step-2", standing="best seen", mean=0.8)
        >>> fallen = CheckpointStanding(checkpoint="step-3", standing="worse", mean=0.5, better="step-2")
        >>> score = ScoreDecision(address="t/s", standings=(best, fallen), best_seen="step-2")
        >>> score.not_worse
        ('step-2',)
    """

    address: str
    """``TASK/SCORE``."""
    standings: tuple[CheckpointStanding, ...]
    """Standing of each checkpoint, in training order."""
    best_seen: str = ""
    """Checkpoint with the best mean; it is overstated, because it is the best of several."""
    newest: ComparisonVerdict | None = None
    """The newest checkpoint against the best seen before it: ``worse`` if it has fallen from this peak."""
    peak: str = ""
    """The best seen before the newest checkpoint."""
    change: float | None = None
    """Value of the newest checkpoint minus that of the peak, on their common prompts."""
    p: float | None = None
    """p-value of this change, corrected for all pairs and scores of the report."""
    prompts: int | None = None
    """Number of common prompts of the newest checkpoint and the peak."""
    tests: int = 0
    """Number of comparisons for which the p-values are corrected together."""
    margin: float | None = None
    """How much worse than the best seen a checkpoint may be; None if the plan states no margin."""
    problem: ScoreProblem = ""
    """Why the score does not count for the decision; empty if it counts."""

    is_group: bool = False
    """Whether the score is one number for a whole set of answers. Then ``change`` and each ``difference``
    hold at equal numbers of tokens, and p-values are corrected for the tests of such scores."""

    @property
    def not_worse(self) -> tuple[str, ...]:
        """Checkpoints that are not worse than the best seen, with the best seen itself."""
        return tuple(
            item.checkpoint for item in self.standings if item.standing in ("best seen", "not worse")
        )


class Disagreement(NamedTuple):
    """A checkpoint that is better than the best seen before it in some scores, and worse in others."""

    checkpoint: str
    better: tuple[str, ...]
    """Addresses of the scores that have risen."""
    worse: tuple[str, ...]
    """Addresses of the scores that have fallen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which checkpoint to ship, and on what that rests.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import open_store, run_plan
        >>> with open_store("sqlite://") as store:
        ...     decision = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store).decision
        >>> decision.verdict, decision.checkpoint, decision.newest
        ('keep', 'ckpt-3000', 'ckpt-4000')
        >>> decision.disagreements[-1].worse
        ('persona/persona_generic.level',)
    """

    verdict: DecisionVerdict
    checkpoint: str = ""
    """Checkpoint to ship or keep; if the verdict is ``undecided``, the one with the highest means."""
    newest: str = ""
    """The newest checkpoint."""
    on_every_list: tuple[str, ...] = ()
    """Checkpoints that are not worse than the best seen in any score."""
    disagreements: tuple[Disagreement, ...] = ()
    """Checkpoints at which one score rises while another falls."""
    scores: tuple[ScoreDecision, ...] = ()


UNDECIDED: frozenset[Standing] = frozenset({"best seen", "not worse", "undecided"})
"""Standings of a checkpoint that is not shown to be worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCourse:
    """One headline score at all checkpoints, with its paired tests."""

    address: str
    higher_is_better: bool
    means: tuple[float | None, ...]
    is_covered: tuple[bool, ...]
    """For each checkpoint, whether at least 95 % of its prompts and answers have a score."""
    comparisons: Sequence[Comparison] = ()
    series: ScoreSeries | None = None
    """Value of each prompt at each checkpoint; None if the score has no values of single prompts."""
    has_conflict: bool = False
    """Whether settings or data of the checkpoints differ."""
    order_problem: str = ""
    """Why the order of the checkpoints is not known; empty if it is known."""
    is_group: bool = False
    """Whether the score is one number for a whole set of answers; then not all pairs are tested."""
    group_tests: int = 0
    """Number of tests of all such scores together."""

    @classmethod
    def of(
        cls,
        score: ScoreSummaries,
        series: ScoreSeries | None,
        comparisons: Sequence[Comparison],
        order_problem: str = "",
        group_tests: int = 0,
    ) -> ScoreCourse:
        """Return a score of a report; without ``series``, ``comparisons`` are those of whole sets."""
        coverages = series.coverages if series else [1.0] * len(score.summaries)
        return cls(
            address=score.address,
            higher_is_better=score.higher_is_better,
            means=tuple(summary.mean if summary else None for summary in score.summaries),
            is_covered=tuple(
                summary is not None and summary.is_covered and share >= MIN_COVERAGE
                for summary, share in zip(score.summaries, coverages, strict=True)
            ),
            comparisons=comparisons,
            series=series,
            has_conflict=bool(scoring_conflict([""] * len(coverages), score.summaries)),
            order_problem=order_problem,
            is_group=series is None,
            group_tests=group_tests,
        )

    @property
    def problem(self) -> ScoreProblem:
        """Why the score does not count for the decision; empty if it does."""
        if self.is_group and not self.comparisons:
            return "not tested"
        scored = [index for index, mean in enumerate(self.means) if mean is not None]
        if len(scored) < 2:
            return "one checkpoint" if scored else "nothing scored"
        if self.has_conflict or self.order_problem:
            return "not comparable" if self.has_conflict else "order unknown"
        if self.comparisons:
            return ""
        return "not tested" if all(self.is_covered[index] for index in scored) else "missing answers"


def score_courses(
    scores: Sequence[ScoreSummaries],
    table: ScoreTable,
    runs: Sequence[Run],
    order_problem: str = "",
    groups: Iterable[GroupComparison] = (),
) -> list[ScoreCourse]:
    """Return the headline scores of runs with their paired tests, which are one family, and ``groups``."""
    run_ids = [run.id for run in runs]
    series = [
        score_series(
            table,
            run_ids,
            score.id,
            score.kind,
            [summary.comparability if summary else UNKNOWN for summary in score.summaries],
        )
        for score in scores
    ]
    comparisons: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in compare_checkpoints([] if order_problem else [item for item in series if item]):
        comparisons[comparison.address].append(comparison)
    groups = list(groups)
    for group in groups:
        comparisons[group.address].append(group.comparison)
    return [
        ScoreCourse.of(score, item, comparisons[score.address], order_problem, len(groups))
        for score, item in zip(scores, series, strict=True)
    ]


def decide_runs(
    runs: Sequence[Run],
    table: ScoreTable,
    compare_sets: Callable[[Sequence[Run]], Sequence[GroupComparison]] = lambda _: (),
) -> Decision:
    """Return which checkpoint to ship; ``compare_sets`` tests the scores of whole sets of answers."""
    order = training_order(runs)
    groups = () if order.problem else compare_sets(order.runs)
    tested = [score for task in task_scores(order.runs, table) for score in task.tested]
    return decide(
        run_labels(order.runs),
        score_courses(tested, table, order.runs, order.problem, groups),
        margins_of(order.runs),
    )


def margins_of(runs: Sequence[Run]) -> Mapping[str, float]:
    """Return the margins that the plan of the newest run states."""
    facts: Mapping[str, Any] = runs[-1].facts if runs else {}
    return dict(facts.get("margins", {}))


def rewards_of(runs: Iterable[Run]) -> frozenset[str]:
    """Return the addresses of the scores that the models of some runs were trained on."""
    facts: list[Mapping[str, Any]] = [run.facts for run in runs]
    return frozenset(address for fact in facts for address in fact.get("rewards", ()))


def decide(
    labels: Sequence[str], courses: Sequence[ScoreCourse], margins: Mapping[str, float] | None = None
) -> Decision:
    """Return which checkpoint to ship; checkpoints are in training order."""
    margins, newest = margins or {}, labels[-1] if labels else ""
    lists = [_Standings(course, margins.get(course.address)) for course in courses]
    tests = family_size(pair for course in courses if not course.is_group for pair in course.comparisons)
    scores = tuple(
        item.decision(labels, item.course.group_tests if item.course.is_group else tests) for item in lists
    )
    counted = [item for item in lists if not item.course.problem]
    if not counted:
        return Decision(verdict="none", newest=newest, scores=scores)
    standings = [
        {item.standings[index] for item in counted if not item.is_left_out(index)}
        for index in range(len(labels))
    ]
    listed = [index for index, kinds in enumerate(standings) if kinds and kinds <= {"best seen", "not worse"}]
    undecided = [index for index, kinds in enumerate(standings) if kinds and kinds <= UNDECIDED]
    verdict: DecisionVerdict = "ship" if listed else "undecided" if undecided else "keep"
    if not any("worse" in kinds for kinds in standings):
        verdict = "undecided"
    pool = listed or undecided or _unregressed(counted, len(labels))
    chosen = _least_trailing(counted, pool) if pool else None
    return Decision(
        verdict="none" if chosen is None else verdict,
        checkpoint="" if chosen is None else labels[chosen],
        newest=newest,
        on_every_list=tuple(labels[index] for index in listed),
        disagreements=tuple(_disagreements(counted, labels)),
        scores=scores,
    )


def _unregressed(lists: Sequence[_Standings], checkpoints: int) -> list[int]:
    """Return the checkpoints that are not worse than any earlier one in any score."""
    return [
        index
        for index in range(checkpoints)
        if all(item.merits[index] is not None for item in lists)
        and not any(item.is_worse(index, earlier) for item in lists for earlier in range(index))
    ]


def _least_trailing(lists: Sequence[_Standings], pool: Sequence[int]) -> int:
    """Return the checkpoint whose largest shortfall behind the best seen of the pool is the smallest."""
    best = [item.best(pool) for item in lists]

    def largest_shortfall(index: int) -> float:
        return max(item.shortfall(index, leader) for item, leader in zip(lists, best, strict=True))

    return min(pool, key=lambda index: (largest_shortfall(index), -index))


def _disagreements(lists: Sequence[_Standings], labels: Sequence[str]) -> Iterator[Disagreement]:
    for index in range(1, len(labels)):
        verdicts = {item.course.address: item.against_peak(index) for item in lists}
        better, worse = (
            tuple(address for address, pair in verdicts.items() if pair and pair.verdict == verdict)
            for verdict in ("better", "worse")
        )
        if better and worse:
            yield Disagreement(labels[index], better, worse)


class _Standings:
    """One score over the checkpoints, by index."""

    def __init__(self, course: ScoreCourse, margin: float | None) -> None:
        self.course, self.margin = course, margin
        self._sign = 1 if course.higher_is_better else -1
        self._pairs = {(pair.earlier, pair.later): pair for pair in course.comparisons}
        self.merits = [
            self._sign * mean if mean is not None and is_covered else None
            for mean, is_covered in zip(course.means, course.is_covered, strict=True)
        ]
        """Mean of each checkpoint, with its sign turned if lower is better; None with missing answers."""
        self._peak = None if course.problem else self.best(range(len(self.merits)))
        self.standings = [self._standing(index) for index in range(len(self.merits))]

    def best(self, pool: Iterable[int]) -> int:
        """Return the checkpoint with the best mean; of equal ones, the newest."""
        return max(pool, key=lambda index: (self._merit(index), index))

    def _merit(self, index: int) -> float:
        merit = self.merits[index]
        return -inf if merit is None else merit

    def pair(self, index: int, other: int) -> Comparison | None:
        """Return the test of two checkpoints; None if they were not compared."""
        return self._pairs.get((min(index, other), max(index, other)))

    def is_left_out(self, index: int) -> bool:
        """Return whether a score of whole sets says nothing of a checkpoint: only some pairs are tested."""
        return self.course.is_group and self.standings[index] == "not compared"

    def is_worse(self, index: int, other: int) -> bool:
        """Return whether a checkpoint is shown to be worse than another, by more than the margin."""
        pair = self.pair(index, other)
        verdict: ComparisonVerdict = "worse" if index > other else "better"
        return pair is not None and pair.verdict == verdict and not self._is_within_margin(index, other)

    def against_peak(self, index: int) -> Comparison | None:
        """Return the test of a checkpoint against the best seen before it."""
        return self.pair(index, self.best(range(index))) if index > 0 and not self.course.problem else None

    def shortfall(self, index: int, best: int) -> float:
        """Return how far a checkpoint trails behind the best seen, in standard errors of the difference."""
        pair = self.pair(index, best)
        behind = self._merit(best) - self._merit(index)
        if behind <= 0:
            return 0.0
        return behind / pair.test.error if pair is not None and pair.test.error > 0 else inf

    def _standing(self, index: int) -> Standing:
        if self.merits[index] is None and self.course.means[index] is not None:
            return "missing answers"
        if index == self._peak:
            return "best seen"
        if any(self.is_worse(index, other) for other in self._others(index)):
            return "worse"
        if self._peak is None or self.pair(index, self._peak) is None:
            return "not compared"
        if self.margin is not None and not self._is_within_margin(index, self._peak):
            return "undecided"
        return "not worse"

    def _others(self, index: int) -> list[int]:
        """Return the other checkpoints, the best first; for a score of single prompts only better ones."""
        # a set of answers may have a lower value than another and be better at equal numbers of tokens
        others = [
            other
            for other in range(len(self.merits))
            if other != index and (self.course.is_group or self._merit(other) > self._merit(index))
        ]
        return sorted(others, key=self._merit, reverse=True)

    def _is_within_margin(self, index: int, other: int) -> bool:
        """Return whether the interval of the difference shows that a checkpoint is within the margin."""
        series = self.course.series
        if self.margin is None or series is None:
            return False
        differences, clusters = series.between(other, index)
        interval = difference_interval(self._sign * differences, clusters, scale=series.bounds).bounds
        return interval is not None and interval[0] > -self.margin

    def decision(self, labels: Sequence[str], tests: int) -> ScoreDecision:
        """Return the standings of the checkpoints, with their names; ``tests`` is the size of the family."""
        newest = len(labels) - 1
        change = self.against_peak(newest)
        return ScoreDecision(
            address=self.course.address,
            standings=tuple(self._named(index, labels) for index in range(len(labels))),
            best_seen="" if self._peak is None else labels[self._peak],
            newest=None if change is None else change.verdict,
            peak="" if change is None else labels[change.earlier],
            change=None if change is None else change.test.difference,
            p=None if change is None else change.p_adjusted,
            prompts=None if change is None else change.test.prompts,
            tests=tests,
            margin=self.margin,
            problem=self.course.problem,
            is_group=self.course.is_group,
        )

    def _price(self, index: int, pair: Comparison) -> int | None:
        """Return how many prompts would tell that a checkpoint is worse, or that it is within the margin."""
        if self.standings[index] == "worse" or self.course.is_group:
            return None
        if self.standings[index] == "undecided" and self.margin is not None:
            shortfall = self._merit(self.best(range(len(self.merits)))) - self._merit(index)
            return pair.prompts_within(self.margin - shortfall)
        return pair.prompts_to_tell()

    def _named(self, index: int, labels: Sequence[str]) -> CheckpointStanding:
        standing, mean = self.standings[index], self.course.means[index]
        item = CheckpointStanding(checkpoint=labels[index], standing=standing, mean=mean)
        if standing not in ("not worse", "undecided", "worse") or self._peak is None:
            return item
        better = next((other for other in self._others(index) if self.is_worse(index, other)), self._peak)
        pair = self.pair(index, better)
        assert pair is not None  # a checkpoint without a test has no such standing
        return replace(
            item,
            better=labels[better],
            difference=pair.test.difference if index > better else -pair.test.difference,
            p=pair.p_adjusted,
            p_alone=pair.test.p,
            prompts=pair.test.prompts,
            prompts_needed=self._price(index, pair),
        )
