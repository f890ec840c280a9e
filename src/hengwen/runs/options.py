"""``RunOptions`` and ``BatchOptions``: how a plan is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from hengwen._internal.checks import whole_number
from hengwen.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


BatchAction = Literal["run", "export", "import", "cancel"]
MAX_REQUESTS = 50_000
"""Maximum number of requests in a batch file, by the documentation of OpenAI's Batch API."""
MAX_BYTES = 200_000_000
"""Maximum size of a batch file in bytes, by the documentation of OpenAI's Batch API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """How the calls of a run are sent to batch endpoints; the field ``batch`` of ``RunOptions``.

    Raises:
        ValueError: A number is out of its range, or ``folder`` and ``files`` do not fit ``action``.

    Examples:
        >>> BatchOptions(poll_seconds=300, online_below=20).action
        'run'
        >>> BatchOptions(action="export")
        Traceback (most recent call last):
        ...
        ValueError: export needs a folder, import needs files, and other actions take neither
    """

    action: BatchAction = "run"
    """``run``: send files until no call is missing. ``export``: write the files for another program.
    ``import``: read the files with the replies. ``cancel``: cancel the batches at the provider."""
    folder: Path | None = None
    """For ``export``: the folder into which the batch files are written."""
    files: tuple[Path, ...] = ()
    """For ``import``: the files with the replies."""
    poll_seconds: float = 60.0
    """Seconds between two requests for the state of the batches, >= 0."""
    online_below: int = 0
    """If fewer calls than this are missing, they are sent one by one at the full price, not as a batch."""
    max_requests: int = MAX_REQUESTS
    """Maximum number of requests in a batch file, >= 1."""
    max_bytes: int = MAX_BYTES
    """Maximum size of a batch file in bytes, >= 1."""
    report: Callable[[str], None] | None = None
    """Function that is called with a sentence when the state of the batches changes."""

    def __post_init__(self) -> None:
        if self.action not in get_args(BatchAction):
            raise ValueError(
                f"unknown action {self.action!r}{did_you_mean(self.action, get_args(BatchAction))}"
            )
        if not self.poll_seconds >= 0:
            raise ValueError(f"poll_seconds must be at least 0, got {self.poll_seconds:g}")
        if self.max_requests < 1 or self.max_bytes < 1 or self.online_below < 0:
            raise ValueError("max_requests and max_bytes must be at least 1, and online_below at least 0")
        if (self.folder is not None) != (self.action == "export") or bool(self.files) != (
            self.action == "import"
        ):
            raise ValueError("export needs a folder, import needs files, and other actions take neither")


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
    batch: BatchOptions | None = None
    """How calls are sent to batch endpoints, whose price is lower; None to send each call at once."""
    progress: Callable[[str, int, int], None] | None = None
    """Function that is called with (checkpoint, samples done, samples in total)."""

    def __post_init__(self) -> None:
        whole_number("concurrency", self.concurrency)
        if self.workers is not None:
            whole_number("workers", self.workers)
        if self.price is not None and not all(price >= 0 for price in self.price):
            raise ValueError(f"price must be two numbers >= 0, got {self.price}")
