"""Messages of one line without control characters, and streams on which a failed write ends no command."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer

from hengwen.text.language import localized

if TYPE_CHECKING:
    from collections.abc import Iterator


def printable(text: str) -> str:
    """Return text on one line, with control and invisible characters escaped."""
    line = " ".join(text.split("\n"))
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)


def print_line(message: str) -> None:
    """Print a line of a result on stdout."""
    typer.echo(localized(printable(message)))


def print_error(message: str) -> None:
    """Print an error message."""
    typer.echo(f"hengwen: {localized(printable(message))}", err=True)


def print_warning(message: str) -> None:
    """Print a warning."""
    typer.echo(f"hengwen: {localized('warning')}: {localized(printable(message))}", err=True)


def print_info(message: str) -> None:
    """Print an informational message."""
    typer.echo(localized(printable(message)), err=True)


def print_waiting(owner: str) -> None:
    """Print for which process a command waits: a process that runs the same plan in the same store."""
    print_info(f"waiting for {owner}, which runs the same plan")


class LenientFile(io.FileIO):
    """A file that remembers the first failed write instead of raising an error, and drops later data."""

    error: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write data, or drop it if an earlier write failed."""
        if self.error is None:
            try:
                return super().write(data)
            except OSError as error:
                self.error = error
        return memoryview(data).nbytes


@contextmanager
def lenient_streams() -> Iterator[None]:
    """Let a command finish its work even if its output cannot be written."""
    streams = sys.stdout, sys.stderr
    sys.stdout, output = _lenient(sys.stdout)
    sys.stderr, _ = _lenient(sys.stderr)
    succeeded = False
    try:
        yield
        succeeded = True
    except SystemExit as exiting:
        succeeded = exiting.code in (0, None)
        raise
    finally:
        if output is not None:
            sys.stdout.flush()
        error = output.error if output is not None else None
        failed = error is not None and not isinstance(error, BrokenPipeError)
        if failed:
            print_error(f"standard output cannot be written: {error.strerror if error else ''}")
        if sys.stderr is not None:
            sys.stderr.flush()
        sys.stdout, sys.stderr = streams
        if failed and succeeded:
            sys.exit(1)


def _lenient(stream: TextIO) -> tuple[TextIO, LenientFile | None]:
    """Return a stream that raises no error if a write fails, and the file to which it writes."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream, None
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if not isinstance(raw, io.FileIO):
        stream.reconfigure(errors="backslashreplace")
        return stream, None
    file = LenientFile(raw.fileno(), "wb", closefd=False)
    wrapper = io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    return wrapper, file
