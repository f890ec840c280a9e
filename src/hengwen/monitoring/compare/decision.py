"""Which of two compared runs to ship, from the same tests as their comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hengwen.results.comparisons import Comparison
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.decide import ScoreCourse, course_problem, decide
from hengwen.results.score_series import ScoreSeries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.compare.run_comparison import ScoreComparison, ScorePair
    from hengwen.results.comparisons import ComparisonVerdict
    from hengwen.results.decision import Decision
    from hengwen.results.group_comparison import GroupComparison
    from hengwen.results.score_summaries import ScoreSummaries

    Compared = tuple[ScoreSummaries, ScorePair, ScoreComparison]
    """A headline score, its values in both runs, and their test."""


def decide_pair(
    scores: Sequence[Compared],
    groups: Sequence[GroupComparison],
    labels: Sequence[str],
    margins: Mapping[str, float],
) -> Decision:
    """Return which of two runs to ship; ``groups`` are the tests of scores of whole sets of answers."""
    by_address = {item.address: item for item in groups}
    return decide(
        labels, [_course(item, by_address.get(item[0].address), len(groups)) for item in scores], margins
    )


def _course(compared: Compared, group: GroupComparison | None, group_tests: int) -> ScoreCourse:
    score, pair, result = compared
    is_covered = tuple(summary is not None and summary.is_covered for summary in score.summaries)
    means = tuple(summary.mean if summary else None for summary in score.summaries)
    if result.means is not None:  # of the common prompts
        means = result.means
        shares = zip(result.coverage, result.answer_coverage, strict=True)
        is_covered = tuple(min(coverages) >= MIN_COVERAGE for coverages in shares)
    tests = _tests(result) if group is None else (group.comparison,)
    return ScoreCourse(
        address=score.address,
        higher_is_better=score.higher_is_better,
        means=means,
        is_covered=is_covered,
        comparisons=tests,
        series=_series(pair),
        problem=course_problem(
            means,
            is_covered,
            is_tested=bool(tests),
            has_conflict=pair.problem in ("keys", "no common prompts"),
            order_problem="",
        ),
        is_group=group is not None,
        group_tests=group_tests,
    )


def _tests(result: ScoreComparison) -> tuple[Comparison, ...]:
    """Return the test of a score as one of a report; none if too many scores are missing."""
    if result.test is None or result.outcome == "missing scores":
        return ()
    return (
        Comparison(
            address=result.address,
            earlier=0,
            later=1,
            test=result.test,
            p_adjusted=1.0 if result.p_adjusted is None else result.p_adjusted,
            verdict=cast("ComparisonVerdict", result.outcome),
            interval=None if result.interval is None else result.interval.bounds,
            reach=None if result.interval is None else result.interval.reach,
            family_interval=result.family_interval,
            detectable=result.detectable,
            level=result.level,
        ),
    )


def _series(pair: ScorePair) -> ScoreSeries | None:
    """Return the value of each common prompt in both runs."""
    values = pair.values
    if values is None:
        return None
    return ScoreSeries(
        address=pair.address,
        values=tuple(dict(zip(values.prompts, side, strict=True)) for side in (values.before, values.after)),
        clusters=dict(zip(values.prompts, values.clusters, strict=True)),
        coverages=values.coverage,
        signatures=("", ""),
        scale=pair.scale,
    )
