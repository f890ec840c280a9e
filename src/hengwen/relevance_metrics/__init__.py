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
    from hengwen.relevance_metrics.inference.intervals import Interval, bootstrap_ci
    from hengwen.relevance_metrics.inference.nulls import NullMoments, null_moments
    from hengwen.relevance_metrics.inference.permutation_tests import PermutationTest, significance
    from hengwen.relevance_metrics.order.inversions import count_inversions
    from hengwen.relevance_metrics.order.subsequences import (
        longest_increasing_indices,
        longest_increasing_subsequence,
    )
    from hengwen.relevance_metrics.patterns.counts import (
        MissingPatterns,
        missing_patterns,
        pattern_counts,
        pattern_js_distance,
        triple_counts,
        triple_entropy,
    )
    from hengwen.relevance_metrics.patterns.entropy import permutation_entropy, weighted_permutation_entropy
    from hengwen.relevance_metrics.patterns.transitions import Transitions, ordinal_transitions
    from hengwen.relevance_metrics.summaries.rankings import (
        RankingComparison,
        compare_rankings,
        rank_biased_overlap,
    )
    from hengwen.relevance_metrics.summaries.rolling import Rolling, rolling
    from hengwen.relevance_metrics.summaries.streaming import Snapshot, Stream, StreamingMetrics
    from hengwen.relevance_metrics.summaries.summary import MetricResult, SequenceSummary, summarize

_EXPORTS = {
    "Interval": "inference.intervals",
    "MissingPatterns": "patterns.counts",
    "NullMoments": "inference.nulls",
    "RankingComparison": "summaries.rankings",
    "MetricResult": "summaries.summary",
    "Rolling": "summaries.rolling",
    "Snapshot": "summaries.streaming",
    "SequenceSummary": "summaries.summary",
    "Stream": "summaries.streaming",
    "StreamingMetrics": "summaries.streaming",
    "PermutationTest": "inference.permutation_tests",
    "Transitions": "patterns.transitions",
    "bootstrap_ci": "inference.intervals",
    "compare_rankings": "summaries.rankings",
    "count_inversions": "order.inversions",
    "longest_increasing_indices": "order.subsequences",
    "longest_increasing_subsequence": "order.subsequences",
    "missing_patterns": "patterns.counts",
    "null_moments": "inference.nulls",
    "ordinal_transitions": "patterns.transitions",
    "pattern_counts": "patterns.counts",
    "pattern_js_distance": "patterns.counts",
    "permutation_entropy": "patterns.entropy",
    "rank_biased_overlap": "summaries.rankings",
    "rolling": "summaries.rolling",
    "significance": "inference.permutation_tests",
    "summarize": "summaries.summary",
    "triple_counts": "patterns.counts",
    "triple_entropy": "patterns.counts",
    "weighted_permutation_entropy": "patterns.entropy",
}

__all__ = [
    "Interval",
    "MetricResult",
    "MissingPatterns",
    "NullMoments",
    "PermutationTest",
    "RankingComparison",
    "Rolling",
    "SequenceSummary",
    "Snapshot",
    "Stream",
    "StreamingMetrics",
    "Transitions",
    "bootstrap_ci",
    "compare_rankings",
    "count_inversions",
    "longest_increasing_indices",
    "longest_increasing_subsequence",
    "missing_patterns",
    "null_moments",
    "ordinal_transitions",
    "pattern_counts",
    "pattern_js_distance",
    "permutation_entropy",
    "rank_biased_overlap",
    "rolling",
    "significance",
    "summarize",
    "triple_counts",
    "triple_entropy",
    "weighted_permutation_entropy",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
