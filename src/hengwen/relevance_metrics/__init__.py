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
    from hengwen.relevance_metrics.core import (
        pattern_counts as pattern_counts,
        permutation_entropy as permutation_entropy,
    )
    from hengwen.relevance_metrics.inversions import (
        count_inversions as count_inversions,
        longest_increasing_indices as longest_increasing_indices,
        longest_increasing_subsequence as longest_increasing_subsequence,
    )
    from hengwen.relevance_metrics.rankings import (
        RankingComparison as RankingComparison,
        compare_rankings as compare_rankings,
    )
    from hengwen.relevance_metrics.sequence_metrics import (
        PermutationTest as PermutationTest,
        Rolling as Rolling,
        rolling as rolling,
        significance as significance,
    )
    from hengwen.relevance_metrics.summary import (
        MetricResult as MetricResult,
        SequenceSummary as SequenceSummary,
        summarize as summarize,
    )

_EXPORTS = {
    "core": "pattern_counts permutation_entropy",
    "inversions": "count_inversions longest_increasing_indices longest_increasing_subsequence",
    "rankings": "RankingComparison compare_rankings",
    "sequence_metrics": "PermutationTest Rolling rolling significance",
    "summary": "MetricResult SequenceSummary summarize",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
