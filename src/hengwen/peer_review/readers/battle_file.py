"""Read battles from files of several formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.errors import DataError
from hengwen.io.row_reader import read_rows
from hengwen.peer_review.readers.columns import BattleColumns
from hengwen.peer_review.readers.fastchat import add_fastchat_row, is_fastchat
from hengwen.peer_review.readers.plain import add_plain_row, check_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hengwen.peer_review.battles import Battles


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleFiles:
    """Battles from files."""

    battles: Battles
    failures: int
    """Number of verdicts that are missing because the judge failed (``error`` in the file)."""
    prompts: Mapping[tuple[str, int], str]
    """Prompt of each question and turn, as far as the files contain it."""
    answers: Mapping[tuple[str, int, str], str]
    """Answer to each question and turn by each model, as far as the files contain it."""


def read_battles(paths: Sequence[Path]) -> BattleFiles:
    """Read battles from JSONL or CSV files; all rows of a file have the same format.

    Two formats are read. Pairwise judgments of FastChat and PiCO (``gpt-4_pair.jsonl``) have ``question_id``,
    ``model_1``, ``model_2``, ``g1_winner``, ``g2_winner``, ``judge`` and ``turn``. Plain battles have
    ``model_a``, ``model_b``, ``winner`` (``a``, ``b``, ``tie`` or ``error``) and ``question``. Optional
    columns of plain battles are ``judge``, ``first`` (``a`` or ``b``, the answer that was shown first),
    ``turn``, ``length_a`` and ``length_b``, and for preference pairs ``prompt``, ``answer_a``, ``answer_b``.

    Args:
        paths: The files, at least one.

    Raises:
        DataError: A file cannot be read, a row is wrong, or there is no verdict; the message names file and
            line.
        ValueError: ``paths`` is empty.
    """
    if not paths:
        raise ValueError("there are no files of battles; pass at least one")
    columns = BattleColumns()
    for path in paths:
        _read(path, columns)
    if not columns.winner:
        raise DataError(
            f"{paths[0]}: no verdict: the judge failed on all {columns.failures}; judge these battles again"
        )
    return BattleFiles(
        battles=columns.battles(), failures=columns.failures, prompts=columns.texts, answers=columns.answers
    )


def _read(path: Path, columns: BattleColumns) -> None:
    rows = read_rows(path)
    first = next(rows)
    add = add_fastchat_row if is_fastchat(first) else add_plain_row
    if add is add_plain_row:
        check_names(first)
    add(columns, first)
    for row in rows:
        add(columns, row)
