"""Metrics of score sequences, computed from numbers alone.

Permutation entropy (PEN) measures how varied the short-term ups and downs are. The count of inversions (CIN)
is the number of pairs of scores in which the later score is lower. The longest increasing subsequence (LIS)
is the largest set of scores, adjacent or not, that rise from each score to the next score of the set. The
metric is the number of these scores. All three metrics depend only on the order of the scores, not on how
high the scores are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.relevance_metrics.inference.intervals import (
        Interval as Interval,
        bootstrap_ci as bootstrap_ci,
    )
    from hengwen.relevance_metrics.inference.permutation_tests import (
        PermutationTest as PermutationTest,
        significance as significance,
    )
    from hengwen.relevance_metrics.order.inversions import count_inversions as count_inversions
    from hengwen.relevance_metrics.order.subsequences import (
        longest_increasing_indices as longest_increasing_indices,
        longest_increasing_subsequence as longest_increasing_subsequence,
    )
    from hengwen.relevance_metrics.patterns.counts import (
        MissingPatterns as MissingPatterns,
        missing_patterns as missing_patterns,
        pattern_counts as pattern_counts,
        pattern_js_distance as pattern_js_distance,
        triple_counts as triple_counts,
        triple_entropy as triple_entropy,
    )
    from hengwen.relevance_metrics.patterns.entropy import (
        permutation_entropy as permutation_entropy,
        weighted_permutation_entropy as weighted_permutation_entropy,
    )
    from hengwen.relevance_metrics.patterns.ties import (
        Transitions as Transitions,
        ordinal_transitions as ordinal_transitions,
    )
    from hengwen.relevance_metrics.summaries.rankings import (
        RankingComparison as RankingComparison,
        compare_rankings as compare_rankings,
        rank_biased_overlap as rank_biased_overlap,
    )
    from hengwen.relevance_metrics.summaries.rolling import Rolling as Rolling, rolling as rolling
    from hengwen.relevance_metrics.summaries.rolling import (
        Snapshot as Snapshot,
        Stream as Stream,
        StreamingMetrics as StreamingMetrics,
    )
    from hengwen.relevance_metrics.summaries.summary import (
        MetricResult as MetricResult,
        SequenceSummary as SequenceSummary,
        summarize as summarize,
    )

_EXPORTS = {
    "inference.intervals": "Interval bootstrap_ci",
    "inference.permutation_tests": "PermutationTest significance",
    "order.inversions": "count_inversions",
    "order.subsequences": "longest_increasing_indices longest_increasing_subsequence",
    "patterns.counts": (
        "MissingPatterns missing_patterns pattern_counts pattern_js_distance triple_counts triple_entropy"
    ),
    "patterns.entropy": "permutation_entropy weighted_permutation_entropy",
    "patterns.ties": "Transitions ordinal_transitions",
    "summaries.rankings": "RankingComparison compare_rankings rank_biased_overlap",
    "summaries.rolling": "Rolling Snapshot Stream StreamingMetrics rolling",
    "summaries.summary": "MetricResult SequenceSummary summarize",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
