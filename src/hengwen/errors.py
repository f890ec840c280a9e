"""The errors that Hengwen raises on purpose; each is also the builtin that fits.

::

    HengwenError
    ├── ConfigError (ValueError)        a plan, a rubric or an option is wrong               exit 2
    ├── DataError (ValueError)          a file or a row in it is wrong                       exit 2
    ├── PluginError (ImportError)       a plug-in or an extra cannot be loaded               exit 2
    ├── StoreError (OSError)            the store cannot be opened, read or written          exit 1
    ├── WorkerError (RuntimeError)      a worker process died                                exit 1
    ├── TimeLimitError (TimeoutError)   a run's time is up; it can go on                     exit 130
    └── JudgeError (RuntimeError)       no usable verdict; becomes a Failure of its status   exit 1
        └── BackendError                no usable reply from an endpoint

Messages say what is wrong, where, and the way out: lower case, no full stop. Pure metrics raise plain
``ValueError`` and ``TypeError``.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class HengwenError(Exception):
    """The root: the command line prints one line of it and leaves with ``exit_code``."""

    exit_code: ClassVar[int] = 1


class ConfigError(HengwenError, ValueError):
    """A plan, a rubric or an option is wrong."""

    exit_code = 2


class DataError(HengwenError, ValueError):
    """A data file, or a row in it, is wrong.

    Args:
        message: What is wrong; it names the file, and the line where there is one.
        line: The number of that line.
    """

    exit_code = 2

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class PluginError(HengwenError, ImportError):
    """A plug-in or an optional dependency cannot be loaded."""

    exit_code = 2


class StoreError(HengwenError, OSError):
    """The store cannot be opened, read or written; what was committed is kept."""


class WorkerError(HengwenError, RuntimeError):
    """A worker process died; what it was doing was not done."""


class TimeLimitError(HengwenError, TimeoutError):
    """A run's time is up; what was weighed is kept, the same call goes on."""

    exit_code = 130


class JudgeError(HengwenError, RuntimeError):
    """No usable verdict came back.

    Args:
        message: What happened.
        status: The ``Failure.status`` that this becomes.
        raw: The reply as it came, for the record.
    """

    def __init__(self, message: str, *, status: str = "parse_error", raw: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.raw = raw


class BackendError(JudgeError):
    """An endpoint gave no usable reply.

    Args:
        message: What happened.
        status: The ``Failure.status`` that this becomes.
        raw: The body as it came, for the record.
        retryable: Whether the same request may succeed later.
        retry_after: Seconds that the endpoint asked to wait, if it did.
    """

    def __init__(
        self,
        message: str,
        *,
        status: str = "transport_error",
        raw: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, status=status, raw=raw)
        self.retryable = retryable
        self.retry_after = retry_after


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, else the list of what is known.

    Examples:
        >>> did_you_mean("line_cout", ["line_count", "lyric"])
        "; did you mean 'line_count'?"
        >>> did_you_mean("zzz", ["line_count", "lyric"])
        '; known: line_count, lyric'
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(names)}" if names else ""
