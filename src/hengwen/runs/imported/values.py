"""Turn a cell of a file into a score or a failure; a cell without a number is never a score."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.records import STATUSES, Failure, Kind, Outcome, Scale, Score
from hengwen.text.safety import replace_surrogates, short_repr

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_FAILURE = frozenset({"", "ok", "success", "succeeded", "none", "null", "false", "0", "nan", "finished"})
"""Texts in a column of failures that mean that nothing failed."""
TRUTH = {"true": 1.0, "false": 0.0}
MAX_RAW = 2000
"""Maximum number of characters of an unreadable cell that are kept."""
_RANGE = re.compile(r"(-?[\d.]+)\s*(?:\.\.|-|:)\s*(-?[\d.]+)")


@dataclass(frozen=True, slots=True)
class Levels:
    """The scale of the scores of a file, and the values of levels with names."""

    scale: Scale | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str | None, *, lower_is_better: bool = False) -> Levels:
        """Read ``1-10`` (a range), ``1,2,3`` (levels) or ``A=3,B=2,C=1`` (levels with names)."""
        if not text:
            if lower_is_better:
                raise ConfigError("lower is better needs a scale: --scale LOW-HIGH")
            return cls()
        limits = _RANGE.fullmatch(text.strip())
        try:
            if limits is not None:
                low, high = float(limits[1]), float(limits[2])
                return cls(Scale(low=low, high=high, higher_is_better=not lower_is_better))
            named = "=" in text
            pairs = [part.rpartition("=") for part in text.split(",")]
            values = {name.strip(): float(value) for name, _, value in pairs}
            levels = tuple(sorted({float(value) for _, _, value in pairs}))
            scale = Scale(low=levels[0], high=levels[-1], levels=levels, higher_is_better=not lower_is_better)
        except ValueError:
            raise ConfigError(
                f"a scale is LOW-HIGH, levels (1,2,3) or names of levels (A=3,B=2,C=1), got {text!r}"
            ) from None
        return cls(scale, values if named else {})

    def number(self, cell: Any) -> float | None:
        """Return the number in a cell; None if there is none."""
        if isinstance(cell, bool):
            return float(cell)
        text = str(cell).strip()
        if text in self.values:
            return self.values[text]
        try:
            value = TRUTH[text.casefold()] if text.casefold() in TRUTH else float(text)
        except (ValueError, OverflowError):
            return None
        return value if isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Reading:
    """How the cells of one score are read."""

    name: str
    kind: Kind
    signature: str
    levels: Levels

    def outcome(
        self, cell: Any, failure: Any = None, reason: str = "", details: Mapping[str, object] | None = None
    ) -> Outcome:
        """Return the score in a cell, or the failure that it, or the column of failures, tells of."""
        problem = "" if failure is None else str(failure).strip()
        if problem.casefold() not in NO_FAILURE:
            status = problem if problem in STATUSES else "scorer_error"
            return self._failure(status, problem[:MAX_RAW])
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return self._failure("parse_error", "the file has no number here")
        value = self.levels.number(cell)
        if value is None:
            return self._failure("parse_error", f"no number: {short_repr(cell)}", str(cell))
        scale = self.levels.scale
        if scale is not None and not scale.holds(value):
            return self._failure("off_scale", f"{value:g} is not on the scale", str(cell))
        return Score(
            name=self.name,
            value=value,
            signature=self.signature,
            scale=scale,
            kind=self.kind,
            reason=replace_surrogates(reason),
            details=details or {},
        )

    def _failure(self, status: Any, message: str, raw: str = "") -> Failure:
        return Failure(
            name=self.name,
            status=status,
            message=replace_surrogates(message),
            signature=self.signature,
            kind=self.kind,
            raw=replace_surrogates(raw[:MAX_RAW]),
        )
