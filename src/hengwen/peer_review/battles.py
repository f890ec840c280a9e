"""Battles as columns: one entry for each verdict of a judge on the answers of two models to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hengwen.importers.verdicts import FIRST, OUTCOMES
from hengwen.stats.rankings.pair_models import distinct_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Column: TypeAlias = "Sequence[str] | Sequence[int] | Sequence[float] | NDArray[Any]"
"""A column with one entry for each battle, such as the name of its judge; numbers may serve as names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Battles:
    """Verdicts as columns of equal length; ``Battles.from_columns`` builds the columns from names.

    All columns are numpy arrays of shape (N,). Models, judges and questions are indices into their names.
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    """Names of the judges. A judge whose name is also the name of a model is this model."""
    questions: tuple[str, ...]
    """Names of the questions. Verdicts on one question depend on each other, so the bootstrap draws
    questions, not verdicts."""
    model_a: NDArray[np.intp]
    model_b: NDArray[np.intp]
    judge: NDArray[np.intp]
    question: NDArray[np.intp]
    outcome: NDArray[np.float64]
    """1 if the judge prefers answer A, 0 if it prefers B, 0.5 for a tie; between them, how sure it is."""
    first: NDArray[np.int8]
    """1 if answer A was shown first, -1 if answer B was, 0 if the order is unknown."""
    turn: NDArray[np.intp]
    """Turn of the question that was judged; turns of a question are judged separately."""
    length_a: NDArray[np.float64] | None = None
    """Length of answer A in any unit, 0 for an empty answer; None if lengths are unknown."""
    length_b: NDArray[np.float64] | None = None
    failures: int = 0
    """Number of verdicts that are missing because the judge failed; a failure is never a verdict."""

    def __len__(self) -> int:
        return len(self.outcome)

    @classmethod
    def from_columns(  # noqa: PLR0913 - a column is an argument
        cls,
        *,
        model_a: Column,
        model_b: Column,
        winner: Column,
        judge: Column | None = None,
        question: Column | None = None,
        first: Column | None = None,
        turn: ArrayLike | None = None,
        length_a: ArrayLike | None = None,
        length_b: ArrayLike | None = None,
    ) -> Battles:
        """Build battles from columns of names (or of whole numbers, which become names).

        Args:
            model_a: Model of answer A of each battle, length N >= 1.
            model_b: Model of answer B.
            winner: ``a``, ``b``, ``tie`` or ``error``; or numbers from 0 (B wins) to 1 (A wins), such as the
                probability of a judge that A is better, and NaN for an error. Errors are counted as failures.
            judge: Judge of each battle; default: one judge named ``judge``.
            question: Question of each battle; default: each battle has a question of its own.
            first: ``a`` or ``b``, the answer that was shown first, or an empty text if this is unknown;
                default: unknown.
            turn: Turn of the question, a whole number from 1; default: 1.
            length_a: Length of answer A, 0 for an empty answer, which then counts as long as the shortest of
                the others; needs ``length_b``.
            length_b: Length of answer B.

        Raises:
            TypeError: A column is no sequence.
            ValueError: Columns differ in length or are empty, a value is unknown, a turn is no whole number
                from 1, a model battles itself, or only one of the two lengths is given.

        Examples:
            >>> battles = Battles.from_columns(model_a=["x", "y"], model_b=["y", "z"], winner=["a", "tie"])
            >>> battles.models, battles.outcome.tolist(), battles.judges
            (('x', 'y', 'z'), [1.0, 0.5], ('judge',))
        """
        rows = len(model_a)
        columns = {
            "model_b": model_b,
            "winner": winner,
            "judge": judge,
            "question": question,
            "first": first,
            "turn": turn,
            "length_a": length_a,
            "length_b": length_b,
        }
        for name, column in columns.items():
            if column is not None and _rows(column) != rows:
                raise ValueError(f"{name} must have {rows} values like model_a, got {_rows(column)}")
        if not rows:
            raise ValueError("there are no battles; pass at least one")
        outcome = _outcomes(winner)
        failed = np.isnan(outcome)
        if failed.all():
            raise ValueError(f"no verdict: the judge failed on all {rows}; judge these battles again")
        kept = np.flatnonzero(~failed)
        models: dict[str, int] = {}
        judges: dict[str, int] = {}
        questions: dict[str, int] = {}
        a, b = _codes(_chosen(model_a, kept), models), _codes(_chosen(model_b, kept), models)
        turns = np.ones(rows, np.intp) if turn is None else _turns(turn)
        order = np.zeros(rows) if first is None else _values("first", first, FIRST, (-1, 0, 1))
        battles = cls(
            models=tuple(models),
            model_a=a,
            model_b=b,
            judge=np.zeros(len(kept), np.intp) if judge is None else _codes(_chosen(judge, kept), judges),
            judges=("judge",) if judge is None else tuple(judges),
            question=np.arange(len(kept)) if question is None else _codes(_chosen(question, kept), questions),
            questions=tuple(str(row + 1) for row in kept) if question is None else tuple(questions),
            outcome=outcome[kept],
            first=order[kept].astype(np.int8),
            turn=turns[kept],
            length_a=None if length_a is None else _lengths("length_a", length_a)[kept],
            length_b=None if length_b is None else _lengths("length_b", length_b)[kept],
            failures=rows - len(kept),
        )
        return check_battles(battles)


def check_battles(battles: Battles) -> Battles:
    """Return the battles if they are consistent."""
    same = np.flatnonzero(battles.model_a == battles.model_b)
    if len(same):
        name = battles.models[battles.model_a[same[0]]]
        raise ValueError(f"battle {same[0] + 1}: model {name!r} battles itself")
    if (battles.length_a is None) != (battles.length_b is None):
        raise ValueError("length_a and length_b belong together: pass both or neither")
    return battles


def _rows(column: Any) -> int:
    return len(column)


def _chosen(column: Any, kept: NDArray[np.intp]) -> Any:
    """Return the rows of a column that have a verdict."""
    if len(kept) == len(column):
        return column
    return column[kept] if isinstance(column, np.ndarray) else [column[row] for row in kept]


def _outcomes(winner: Any) -> NDArray[np.float64]:
    """Return the outcome of each battle; NaN where the judge failed."""
    array = np.asarray(winner)
    if array.dtype.kind not in "biuf":
        failed = array == "error"
        return np.where(failed, np.nan, _values("winner", np.where(failed, "tie", array), OUTCOMES, ()))
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if len(wrong):
        raise ValueError(f"battle {wrong[0] + 1}: winner must lie in 0..1, got {array[wrong[0]].item():g}")
    return array.astype(float)


def _codes(column: Any, names: dict[str, int]) -> NDArray[np.intp]:
    """Return the index of each name; new names are added to ``names`` in the order of their appearance."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu" and len(column):
        whole = column.astype(np.int64 if column.dtype.kind == "i" else np.uint64)
        low = whole.min()
        keys = (whole - low).astype(np.int64)  # differences of 2**63 or more become negative
        distinct, inverse = distinct_codes(keys, int(whole.max()) - int(low) + 1)
        numbers = [int(low) + key % (1 << 64) for key in distinct.tolist()]
        return np.array([names.setdefault(str(number), len(names)) for number in numbers], np.intp)[inverse]
    values = column.tolist() if isinstance(column, np.ndarray) else column
    codes = {value: names.setdefault(str(value), len(names)) for value in dict.fromkeys(values)}
    return np.array([codes[value] for value in values], np.intp)


def _turns(column: ArrayLike) -> NDArray[np.intp]:
    turns = np.asarray(column, float)
    wrong = np.flatnonzero(~((turns >= 1) & (turns == np.floor(turns)) & np.isfinite(turns)))
    if len(wrong):
        value = turns[wrong[0]]
        raise ValueError(f"battle {wrong[0] + 1}: turn must be a whole number from 1, got {value:g}")
    return turns.astype(np.intp)


def _values(name: str, column: Any, known: dict[Any, Any], numbers: tuple[float, ...]) -> NDArray[np.float64]:
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        result = array.astype(float)
        wrong = np.flatnonzero(~np.isin(result, numbers))
    else:
        listed = array.tolist()
        result = np.array([known.get(value, np.nan) for value in listed], float)
        wrong = np.flatnonzero(np.isnan(result))
    if len(wrong):
        names = ", ".join(repr(value) for value in known if value in ("a", "b", "tie", ""))
        value = array[wrong[0]].item() if hasattr(array[wrong[0]], "item") else array[wrong[0]]
        raise ValueError(f"battle {wrong[0] + 1}: {name} must be one of {names}, got {value!r}")
    return result


def _lengths(name: str, column: ArrayLike) -> NDArray[np.float64]:
    lengths = np.asarray(column, float)
    wrong = np.flatnonzero(~(lengths >= 0) | ~np.isfinite(lengths))
    if len(wrong):
        raise ValueError(f"battle {wrong[0] + 1}: {name} must be 0 or above, got {lengths[wrong[0]]:g}")
    return lengths
