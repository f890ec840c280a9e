"""Compare the ranking of a peer review with a ranking by people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hengwen.io.row_reader import read_number, read_rows
from hengwen.peer_review.result import PeerReview
from hengwen.relevance_metrics import RankingComparison, compare_rankings


def read_human_ranking(path: Path) -> dict[str, float]:
    """Return the human score of each model, higher is better.

    Args:
        path: A CSV or JSONL file with the column ``model`` and the column ``score`` (higher is better, such
            as an Elo rating) or ``rank`` (1 is best).

    Raises:
        DataError: The file cannot be read, a model occurs twice, or a row has no score and no rank. A row
            with both a score and a rank is also an error.
    """
    scores: dict[str, float] = {}
    for row in read_rows(path):
        model = row.required_text("model")
        if model in scores:
            row.fail(f"model {model!r} occurs twice")
        named = [name for name in ("score", "rank") if row.values.get(name) not in (None, "")]
        if len(named) != 1:
            row.fail(f"a row needs either 'score' or 'rank', got {' and '.join(named) or 'neither'}")
        number = read_number(row, named[0])
        scores[model] = number if named[0] == "score" else -number
    return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanComparison:
    """Agreement of a peer review with people, over the models that both rank."""

    ranking: RankingComparison
    only_review: tuple[str, ...]
    """Models that people did not rank."""
    only_human: tuple[str, ...]
    """Models that people ranked, but the battles do not contain."""


def compare_with_human(review: PeerReview, human: Mapping[str, float]) -> HumanComparison:
    """Compare the ranking of a peer review with a ranking by people.

    Args:
        review: The peer review.
        human: Human score of each model, higher is better; models that only people or only the
            review ranked are left out.

    Raises:
        ValueError: Fewer than two models are ranked by both.
    """
    scores = review.scores
    common = {name: score for name, score in scores.items() if name in human}
    if len(common) < 2:
        raise ValueError(
            f"a comparison needs at least 2 models that both rankings have, got {len(common)}: the battles "
            f"have {', '.join(sorted(scores)[:5])}, the human ranking has {', '.join(sorted(human)[:5])}"
        )
    return HumanComparison(
        ranking=compare_rankings(common, {name: float(human[name]) for name in common}),
        only_review=tuple(sorted(scores.keys() - human.keys())),
        only_human=tuple(sorted(human.keys() - scores.keys())),
    )
