"""A headline score that is better, one that is worse, one without a difference; and two breakdowns."""

from pathlib import Path

from score_pairs import comparison, pair

from hengwen.documents.blocks import Document
from hengwen.documents.compare.document import compare_document
from hengwen.monitoring.run_comparison import ScorePair

LEVELS = [0.25, 0.5, 0.75, 0.5] * 3


def example(folder: Path) -> Document:
    lengths = [0.01 * index for index in range(12)]
    return compare_document(
        comparison(
            pair(LEVELS, [x + 0.125 for x in LEVELS], address="lyrics/craft.level", length_changes=lengths),
            pair([1] * 11 + [0], [0] * 11 + [1], address="lyrics/passes.value"),
            pair(LEVELS, [0.25, 0.75, 0.75, 0.5] * 3, address="persona/voice.level", repeat_variance=0.01),
            pair(LEVELS, LEVELS[::-1], address="persona/voice.tone", family="breakdown"),
            ScorePair(address="lyrics/distinct_2.checkpoint", family="breakdown", problem="group score"),
            weights="precision",
            left_out_prompts=1,
        )
    )
