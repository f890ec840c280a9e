"""Figures that benchmarks measure, how scripts print them, and how pytest-benchmark stores them."""

from __future__ import annotations

import argparse
import json
import os
import resource
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HENGWEN = "hengwen"
PER_SECOND = {"s": 1.0, "ms": 1e3, "µs": 1e6}
"""Number of units in a second; the first word of a unit is one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A value that one round of a benchmark measured; all rounds have the same case, system and unit."""

    case: str
    """What is measured, in words."""
    value: float
    """Measured value."""
    unit: str
    """Unit of the value, for example ``ms of CPU``."""
    system: str = HENGWEN
    """Hengwen, or the peer that was measured."""
    low: float | None = None
    """Target: the median is at least this value."""
    high: float | None = None
    """Target: the median is at most this value."""
    ratio_high: float | None = None
    """Target, in a figure of a peer: Hengwen's median is at most this multiple of the peer's."""

    def __post_init__(self) -> None:
        if not isfinite(self.value):
            raise ValueError(f"{self.case}, {self.system}: {self.value} is no figure")

    @property
    def target(self) -> str:
        """The target in words; empty without a target."""
        if self.ratio_high is not None:
            return f"ratio ≤ {self.ratio_high:.3g}"
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        if self.high is not None:
            return f"≤ {self.high:g}"
        return "" if self.low is None else f"≥ {self.low:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A figure that could not be measured."""

    case: str
    """What was to be measured."""
    message: str
    """Reason, in one line."""
    system: str = HENGWEN
    """Hengwen, or the peer that was to be measured."""


Entry = Figure | Problem


def script_parser(description: str | None, *, rounds: int | None = None) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have.

    Args:
        description: Docstring of the script; its first line is the description.
        rounds: Default of ``--rounds``; None where rounds make no sense, as in simulations.
    """
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print a JSON line for each figure")
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds, help="how often each figure is measured")
    return parser


def print_entries(entries: Iterable[Entry], *, as_json: bool) -> None:
    """Print each figure as soon as it is measured."""
    for entry in entries:
        print(to_json(entry) if as_json else _to_text(entry), flush=True)


def to_json(entry: Entry) -> str:
    """Return one line of JSON."""
    return json.dumps(asdict(entry), ensure_ascii=False)


def from_json(line: str) -> Entry:
    """Parse a line that ``to_json`` wrote.

    Raises:
        ValueError: If the line is no figure and no problem.
    """
    try:
        fields = json.loads(line)
        return Problem(**fields) if "message" in fields else Figure(**fields)
    except TypeError as error:
        raise ValueError(f"not a figure: {line[:200]}") from error


def _to_text(entry: Entry) -> str:
    name = f"{entry.case:<56} {entry.system:<14}"
    if isinstance(entry, Problem):
        return f"{name} not measured: {entry.message}"
    return f"{name} {entry.value:>10.3f} {entry.unit:<18} {entry.target}".rstrip()


def cpu_seconds() -> float:
    """Return the seconds of CPU of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(
    benchmark: Any,
    work: Callable[[], Any],
    case: str,
    *,
    system: str = HENGWEN,
    count: int = 1,
    unit: str = "ms",
    rounds: int = 5,
    growth: tuple[str, float] | None = None,
    **targets: float,
) -> Any:
    """Measure a function with pytest-benchmark; return what the function returns.

    Args:
        benchmark: Fixture of pytest-benchmark.
        work: The function.
        case: What is measured, in words.
        system: Hengwen, or the peer.
        count: Number of texts that one call handles; the figure is the time for one text.
        unit: ``s``, ``ms`` or ``µs``.
        rounds: Number of calls; the variable ``BENCH_ROUNDS`` of the environment limits it. If it is above 1,
            one more call comes first, which is not measured.
        growth: A pair: the case of an earlier figure of the same system with less input, and the maximum of
            this figure divided by the earlier one.
        **targets: ``high`` or ``ratio_high`` of the figure.
    """
    benchmark.group = case
    benchmark.extra_info.update(
        case=case, system=system, count=count, unit=unit, targets=targets, growth=growth
    )
    limit = int(os.environ.get("BENCH_ROUNDS", rounds))
    return benchmark.pedantic(work, rounds=min(rounds, limit), warmup_rounds=int(rounds > 1))
