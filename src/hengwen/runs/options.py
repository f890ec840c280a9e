"""``RunOptions``: how a plan is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hengwen._internal.plugins import whole_number
from hengwen._internal.workers import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a plan is run: calls, processes, limits; no option changes how an answer is scored.

    Raises:
        ValueError: A number is out of its range.

    Examples:
        >>> RunOptions(limit=8, budget=2.5).concurrency
        16
        >>> RunOptions(workers=0)
        Traceback (most recent call last):
        ...
        ValueError: workers must be a whole number >= 1, got 0
    """

    concurrency: int = 16
    """Maximum number of concurrent calls (sent, without a reply yet) per endpoint, >= 1."""
    workers: int | None = None
    """Number of processes that score, >= 1; 1 scores in this process. None uses one process for each core if
    there are at least 1,000 answers. The scores do not depend on ``workers``."""
    engine: Engine = "local"
    """Where the ``workers`` are: ``local`` (this machine) or ``ray``, the Ray cluster of ``RAY_ADDRESS``, or
    without it a Ray on this machine. Calls to models are made by this process."""
    limit: int | None = None
    """Number of samples of each task; None for all."""
    fresh: bool = False
    """Whether to evaluate everything again: no score and no reply of earlier runs is reused."""
    budget: float | None = None
    """Maximum cost of the calls, at the prices of the plan; a call that might exceed it is skipped."""
    price: tuple[float, float] | None = None
    """Prices of a million input tokens and a million output tokens, for models to which the plan gives no
    price. Without it, models that Hengwen lists have the listed price of their provider."""
    time_limit: float | None = None
    """Seconds, for all checkpoints together, after which no new call is made; calls that were sent are
    finished."""
    wait: bool | Callable[[str], None] = False
    """Whether to wait if another process runs the plan in the same store, and then to reuse its results;
    False raises an error instead. If ``wait`` is a function, this process waits and calls it with a
    description of the other process."""
    progress: Callable[[str, int, int], None] | None = None
    """Function that is called with (checkpoint, samples done, samples in total)."""

    def __post_init__(self) -> None:
        whole_number("concurrency", self.concurrency)
        if self.workers is not None:
            whole_number("workers", self.workers)
        if self.price is not None and not all(price >= 0 for price in self.price):
            raise ValueError(f"price must be two numbers >= 0, got {self.price}")
