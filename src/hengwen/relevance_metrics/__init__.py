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
    from hengwen.relevance_metrics.intervals import (
        Interval as Interval,
        bootstrap_ci as bootstrap_ci,
    )
    from hengwen.relevance_metrics.permutation_tests import (
        PermutationTest as PermutationTest,
        significance as significance,
    )
    from hengwen.relevance_metrics.inversions import count_inversions as count_inversions
    from hengwen.relevance_metrics.subsequences import (
        longest_increasing_indices as longest_increasing_indices,
        longest_increasing_subsequence as longest_increasing_subsequence,
    )
    from hengwen.relevance_metrics.ordinal_patterns import (
        MissingPatterns as MissingPatterns,
        missing_patterns as missing_patterns,
        pattern_counts as pattern_counts,
        pattern_js_distance as pattern_js_distance,
        triple_counts as triple_counts,
        triple_entropy as triple_entropy,
    )
    from hengwen.relevance_metrics.entropy import (
        permutation_entropy as permutation_entropy,
        weighted_permutation_entropy as weighted_permutation_entropy,
    )
    from hengwen.relevance_metrics.ties import (
        Transitions as Transitions,
        ordinal_transitions as ordinal_transitions,
    )
    from hengwen.relevance_metrics.rankings import (
        RankingComparison as RankingComparison,
        compare_rankings as compare_rankings,
        rank_biased_overlap as rank_biased_overlap,
    )
    from hengwen.relevance_metrics.rolling_windows import Rolling as Rolling, rolling as rolling
    from hengwen.relevance_metrics.rolling_windows import (
        Snapshot as Snapshot,
        Stream as Stream,
        StreamingMetrics as StreamingMetrics,
    )
    from hengwen.relevance_metrics.summary import (
        MetricResult as MetricResult,
        SequenceSummary as SequenceSummary,
        summarize as summarize,
    )

_EXPORTS = {
    "intervals": "Interval bootstrap_ci",
    "permutation_tests": "PermutationTest significance",
    "inversions": "count_inversions",
    "subsequences": "longest_increasing_indices longest_increasing_subsequence",
    "ordinal_patterns": (
        "MissingPatterns missing_patterns pattern_counts pattern_js_distance triple_counts triple_entropy"
    ),
    "entropy": "permutation_entropy weighted_permutation_entropy",
    "ties": "Transitions ordinal_transitions",
    "rankings": "RankingComparison compare_rankings rank_biased_overlap",
    "rolling_windows": "Rolling Snapshot Stream StreamingMetrics rolling",
    "summary": "MetricResult SequenceSummary summarize",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
