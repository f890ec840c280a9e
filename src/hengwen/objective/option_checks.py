"""Options of scorers and their signatures, and the base of the scorers that return exactly one score."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from hengwen.records import Failure, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise an error unless an option has one of the allowed values."""
    if value not in choices:
        *others, last = choices
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{name} must be {listed}, got {value!r}")


def check_flag(name: str, value: object) -> None:
    """Raise an error unless an option is true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")


@lru_cache(maxsize=64)
def build_signature(*parts: object) -> str:
    """Return the parts of a signature joined by ``|``."""
    return "|".join(
        part if isinstance(part, str) else f"{part[0]}:{_format_value(part[1])}"  # type: ignore[index]
        for part in parts
    )


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


Scope = Literal["repeats", "checkpoint"]
"""Which answers are scored together by a scorer of sets of answers: ``repeats`` means all answers to one
sample, ``checkpoint`` means all answers of a checkpoint to a task."""


def check_scope(scope: str) -> None:
    """Raise ValueError unless the scope is ``repeats`` or ``checkpoint``."""
    check_choice("scope", scope, get_args(Scope))


class SingleScore:
    """Base class of a scorer with one score; ``{0.n}`` in a pattern stands for the option ``n``."""

    __slots__ = ()
    scale: ClassVar[Scale] = Scale(low=0, high=1)
    name_pattern: ClassVar[str]
    signature_pattern: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the score, such as ``distinct_2.checkpoint``."""
        return self.name_pattern.format(self)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return self.signature_pattern.format(self)

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
