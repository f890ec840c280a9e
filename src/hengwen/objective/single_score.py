"""Base of the scorers that return exactly one score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from hengwen.objective.option_checks import check_choice
from hengwen.records import Failure, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Mapping

Scope = Literal["repeats", "checkpoint"]
"""Which answers are scored together by a scorer of sets of answers: ``repeats`` means all answers to one
sample, ``checkpoint`` means all answers of a checkpoint to a task."""


def check_scope(scope: str) -> None:
    """Raise ValueError unless the scope is ``repeats`` or ``checkpoint``."""
    check_choice("scope", scope, get_args(Scope))


class SingleScore:
    """Base class of a scorer with one score; a subclass defines ``name``, ``signature`` and ``scale``."""

    __slots__ = ()
    scale: ClassVar[Scale] = Scale(low=0, high=1)

    @property
    def name(self) -> str:
        """Name of the score, such as ``distinct_2.checkpoint``."""
        raise NotImplementedError

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """Tuple with the name of the only score."""
        return (self.name,)

    def build_score(
        self, value: float, *, reason: str = "", details: Mapping[str, Any] | None = None
    ) -> Score:
        """Return the score for a value, with the name, signature and scale of this scorer."""
        return Score(
            name=self.name,
            value=value,
            signature=self.signature,
            scale=self.scale,
            reason=reason,
            details=details or {},
        )

    def not_applicable(self, reason: str) -> Failure:
        """Return the failure with status ``not_applicable`` for answers that this scorer cannot score."""
        return Failure(name=self.name, status="not_applicable", message=reason, signature=self.signature)
