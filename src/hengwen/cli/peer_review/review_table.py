"""Print a peer review: the ranking, the judges, notes on the results, and the agreement with people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hengwen.cli.ui.messages import printable
from hengwen.peer_review.report import tables
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.peer_review.human import HumanComparison
    from hengwen.peer_review.result import PeerReview
    from hengwen.text.language import Language


def print_review(
    review: PeerReview, human: HumanComparison | None, language: Language, console: Console | None = None
) -> None:
    """Print a peer review."""
    console = console or Console(highlight=False)
    console.print(Text(printable(tables.title(review).in_language(language)), style="bold"))
    console.print(_table(tables.MODEL_COLUMNS, tables.model_rows(review), language))
    console.print(_table(tables.JUDGE_COLUMNS, tables.judge_rows(review), language))
    for note in review.notes:
        console.print(Text(f"· {printable(Bilingual(note.zh, note.en).in_language(language))}"))
    if human is not None:
        console.print(Text(printable(tables.human_text(human).in_language(language))))


def _table(columns: Sequence[Bilingual], rows: Sequence[Sequence[str]], language: Language) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(
            column.in_language(language),
            justify="left" if column.en in tables.TEXT_COLUMNS else "right",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
