"""``BatchOptions``: how the calls of a run are sent to batch endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

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
