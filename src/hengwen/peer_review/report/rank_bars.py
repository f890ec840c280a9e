"""Draw the interval of a rank as a small bar, as inline SVG in the colour of the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from hengwen.peer_review.result import PeerReview

WIDTH, MARGIN = 160.0, 6.0
_BAR = Markup(
    '<svg width="160" height="14" role="img" aria-label="{best}–{worst}">'
    '<line x1="{left}" x2="{right}" y1="7" y2="7" stroke="currentColor" stroke-width="1" opacity=".15"/>'
    '<line x1="{low}" x2="{high}" y1="7" y2="7" stroke="currentColor" stroke-width="3" '
    'stroke-linecap="round" opacity=".45"/>'
    '<circle cx="{dot}" cy="7" r="4" fill="currentColor"/></svg>'
)


def rank_bars(review: PeerReview) -> list[Markup]:
    """Return for each model a bar from its best to its worst possible rank, with a dot at its rank."""
    models = len(review.models)
    return [_bar(model.rank, *model.ranks, models) for model in review.models]


def _bar(rank: int, best: int, worst: int, models: int) -> Markup:
    def x(value: int) -> str:
        return f"{MARGIN + (value - 1) / max(1, models - 1) * (WIDTH - 2 * MARGIN):.1f}"

    return _BAR.format(
        best=best, worst=worst, left=x(1), right=x(models), low=x(best), high=x(worst), dot=x(rank)
    )
