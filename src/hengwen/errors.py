"""The errors that Hengwen raises. Each class is also a subclass of the builtin error in parentheses.

::

    HengwenError
    ├── ConfigError (ValueError)        a plan, a rubric or an option is wrong               exit 2
    ├── DataError (ValueError)          a file or a row in it is wrong                       exit 2
    ├── PluginError (ImportError)       a plug-in or optional dependency cannot be loaded    exit 2
    ├── StoreError (OSError)            the store cannot be opened, read or written          exit 1
    │   └── StoreBusyError              another process runs the plan in this store
    ├── WorkerError (RuntimeError)      a worker process died                                exit 1
    ├── TimeLimitError (TimeoutError)   the time limit of a run is reached; it can resume    exit 130
    └── JudgeError (RuntimeError)       no usable verdict; becomes a Failure                 exit 1
        └── BackendError                no usable reply from an endpoint

An error message says what is wrong, where, and how to fix it, in lower case without a full stop. Metric
functions (``hengwen.objective``, ``hengwen.relevance_metrics``) raise plain ``ValueError`` and ``TypeError``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar


class HengwenError(Exception):
    """Base class of all errors. The command line prints the message and exits with ``exit_code``."""

    exit_code: ClassVar[int] = 1


class ConfigError(HengwenError, ValueError):
    """A plan, a rubric or an option is wrong."""

    exit_code = 2


class DataError(HengwenError, ValueError):
    """A data file, or a row in it, is wrong.

    Args:
        message: What is wrong, with the file and, if it is known, the line.
        line: Number of the wrong line, if it is known.
    """

    exit_code = 2

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class PluginError(HengwenError, ImportError):
    """A plug-in or an optional dependency cannot be loaded."""

    exit_code = 2


class StoreError(HengwenError, OSError):
    """The store (database of results) cannot be opened, read or written; committed data is kept."""


class StoreBusyError(StoreError):
    """Another process runs the same plan in this store.

    Args:
        message: What is wrong.
        owner: What is known of the other process: its id, its host and when it started.
    """

    def __init__(self, message: str, *, owner: str) -> None:
        super().__init__(message)
        self.owner = owner


class WorkerError(HengwenError, RuntimeError):
    """A worker process died; the results of the samples that it was working on are lost."""


class TimeLimitError(HengwenError, TimeoutError):
    """A run reached its time limit; its results are kept, and running the same command again resumes it."""

    exit_code = 130


class JudgeError(HengwenError, RuntimeError):
    """A judge gave no usable verdict.

    Args:
        message: What happened.
        status: Status of the ``Failure`` that is recorded for the answer.
        raw: Raw reply, which is stored.
    """

    def __init__(self, message: str, *, status: str = "parse_error", raw: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.raw = raw


class BackendError(JudgeError):
    """An endpoint gave no usable reply.

    Args:
        message: What happened.
        status: Status of the ``Failure`` that is recorded for the answer.
        raw: Raw body of the reply, which is stored.
        retryable: Whether the same request may succeed later.
        retry_after: Seconds to wait before a retry, if the endpoint set them.
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
        self.is_outage = False
        """Whether the endpoint failed for every call at that time; such a failure uses up no retry."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint about an unknown name: ``"; did you mean 'x'?"`` with the most similar known name.

    If no known name is similar, the hint lists all known names. Without known names, the hint is empty.

    Examples:
        >>> did_you_mean("line_cout", ["line_count", "lyric"])
        "; did you mean 'line_count'?"
        >>> did_you_mean("zzz", ["line_count", "lyric"])
        '; known: line_count, lyric'
    """
    names = sorted(known)
    matches = difflib.get_close_matches(name, names, n=1)
    if matches:
        return f"; did you mean {matches[0]!r}?"
    return f"; known: {', '.join(names)}" if names else ""
