"""Check a saved monitor, field by field; only who restores one imports pydantic."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from hengwen.monitoring.monitor_state import MAX_ALPHA, MIN_ALPHA, SCHEMA, AlarmDirection

if TYPE_CHECKING:
    from collections.abc import Mapping


def _ascending(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    if bounds is not None and not bounds[0] < bounds[1]:
        raise PydanticCustomError("bounds", "must be a lower and a higher number")
    return bounds


Natural = Annotated[int, Field(ge=0)]
Statistic = Annotated[float, Field(ge=0)]
Bounds = Annotated[
    tuple[float, float] | None,
    BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
    AfterValidator(_ascending),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Settings(_Part):
    alpha: float = Field(ge=MIN_ALPHA, le=MAX_ALPHA)
    horizon: int = Field(ge=1)
    direction: AlarmDirection
    scale: Bounds
    reference_value: Statistic


class _Baseline(_Part):
    mean: float
    interval: Bounds
    constant: float | None
    chart_mean: float
    chart_sd: float = Field(gt=0)
    correlation: float = Field(ge=0, le=1)


class _Statistics(_Part):
    up: Statistic
    down: Statistic


class _Positions(_Part):
    up: Natural
    down: Natural


class _Alarm(_Part):
    direction: Literal["down", "up"]
    at: int = Field(ge=1)
    since: int = Field(ge=1)


class _BoundedSequence(_Part):
    n: Natural
    sum: float
    variance: Statistic


class _AsymptoticSequence(_Part):
    n: Natural
    mean: float
    squares: Statistic


class _Monitor(_Part):
    version: int = Field(alias="schema", ge=SCHEMA, le=SCHEMA)
    settings: _Settings
    baseline: _Baseline
    thresholds: _Statistics
    n: Natural
    total: float
    sums: _Statistics
    zero_at: _Positions
    alarm: _Alarm | None
    sequence: dict[str, Any]


def check_saved(data: Mapping[str, Any]) -> None:
    """Raise unless the data have the fields that ``Monitor.to_dict`` returns, with possible values."""
    try:
        saved = _Monitor.model_validate(dict(data))
        kind = _AsymptoticSequence if saved.settings.scale is None else _BoundedSequence
        sequence = kind.model_validate(saved.sequence)
    except ValidationError as error:
        first = error.errors()[0]
        part = ("sequence",) if error.title != _Monitor.__name__ else ()
        name = ".".join(str(item) for item in (*part, *first["loc"]))
        got = (
            "" if first["type"] in ("missing", "extra_forbidden") else f", got {reprlib.repr(first['input'])}"
        )
        raise _refusal(name, f"{first['msg'].lower()}{got}") from None
    numbers = [
        ("zero_at.up", saved.zero_at.up, 0, saved.n),
        ("zero_at.down", saved.zero_at.down, 0, saved.n),
        ("sequence.n", sequence.n, saved.n, saved.n),
    ]
    if saved.alarm:
        numbers.append(("alarm.at", saved.alarm.at, 1, saved.n))
        numbers.append(("alarm.since", saved.alarm.since, 1, saved.alarm.at))
    for name, number, low, high in numbers:
        if not low <= number <= high:
            raise _refusal(name, f"must be a whole number from {low} to {high}, got {number}")


def _refusal(name: str, problem: str) -> ValueError:
    return ValueError(
        f"not a saved monitor: {name!r}: {problem}; pass what Monitor.to_dict returned, or create a new "
        "Monitor from its baseline"
    )
