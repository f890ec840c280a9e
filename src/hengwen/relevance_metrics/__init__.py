"""Metrics of score sequences: exact, calibrated, fast. Numbers in, numbers out.

Permutation entropy (PEN) asks how varied the short-term ups and downs are, the count of inversions (CIN) how
often a later score is lower than an earlier one, the longest increasing subsequence (LIS) how long a rise is
hidden in the sequence. All three see the order of the scores only, never their level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.relevance_metrics.distances import pattern_js_distance
    from hengwen.relevance_metrics.entropy import permutation_entropy
    from hengwen.relevance_metrics.intervals import Interval, bootstrap_ci
    from hengwen.relevance_metrics.inversions import count_inversions
    from hengwen.relevance_metrics.nulls import NullMoments, null_moments
    from hengwen.relevance_metrics.overlap import rank_biased_overlap
    from hengwen.relevance_metrics.patterns import MissingPatterns, missing_patterns, pattern_counts
    from hengwen.relevance_metrics.permutation_tests import Test, significance
    from hengwen.relevance_metrics.rankings import RankingComparison, compare_rankings
    from hengwen.relevance_metrics.streaming import Snapshot, Stream
    from hengwen.relevance_metrics.subsequences import (
        longest_increasing_indices,
        longest_increasing_subsequence,
    )
    from hengwen.relevance_metrics.summary import Reading, Summary, summarize
    from hengwen.relevance_metrics.transitions import Transitions, ordinal_transitions
    from hengwen.relevance_metrics.triples import triple_counts, triple_entropy
    from hengwen.relevance_metrics.weighted import weighted_permutation_entropy
    from hengwen.relevance_metrics.windows import Rolling, rolling

_HOMES = {
    "Interval": "intervals",
    "MissingPatterns": "patterns",
    "NullMoments": "nulls",
    "RankingComparison": "rankings",
    "Reading": "summary",
    "Rolling": "windows",
    "Snapshot": "streaming",
    "Stream": "streaming",
    "Summary": "summary",
    "Test": "permutation_tests",
    "Transitions": "transitions",
    "bootstrap_ci": "intervals",
    "compare_rankings": "rankings",
    "count_inversions": "inversions",
    "longest_increasing_indices": "subsequences",
    "longest_increasing_subsequence": "subsequences",
    "missing_patterns": "patterns",
    "null_moments": "nulls",
    "ordinal_transitions": "transitions",
    "pattern_counts": "patterns",
    "pattern_js_distance": "distances",
    "permutation_entropy": "entropy",
    "rank_biased_overlap": "overlap",
    "rolling": "windows",
    "significance": "permutation_tests",
    "summarize": "summary",
    "triple_counts": "triples",
    "triple_entropy": "triples",
    "weighted_permutation_entropy": "weighted",
}

__all__ = [
    "Interval",
    "MissingPatterns",
    "NullMoments",
    "RankingComparison",
    "Reading",
    "Rolling",
    "Snapshot",
    "Stream",
    "Summary",
    "Test",
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
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
