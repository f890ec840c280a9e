"""What a command reads: a store that must exist, a plan that the user must trust with its ``.env``."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from hengwen.errors import ConfigError
from hengwen.text.language import localized

if TYPE_CHECKING:
    from hengwen.plans.plan import Plan
    from hengwen.store import Store


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


def open_existing_store(location: str) -> Store:
    """Open a store that must exist."""
    from hengwen.store import store_files

    files = store_files(location)
    if files and not files[0].exists():
        raise ConfigError(f"{location}: no such store; name one with --store, or create it with: hengwen run")
    return open_or_create_store(location)


def name_plan(store: Store, taken: str, checkpoint: str = "") -> None:
    """Print which plan a command took from a store with several; of those with ``checkpoint``, if given."""
    others = {run.plan for run in store.runs() if checkpoint in ("", run.checkpoint)} - {taken}
    if others:
        print_info(
            f"plan {taken}, which ran last; also in {store.name}: {', '.join(sorted(others))} (--plan)"
        )


def open_or_create_store(location: str) -> Store:
    """Open a store, or create it if it does not exist."""
    from hengwen.store import open_store

    return open_store(location)


FILE_NAME = "trusted-plans"
"""File in the user's state folder; each line has the digest (sha256) of a trusted plan."""


def load_trusted(path: Path, *, trust: bool, judge: str | None = None, base_url: str | None = None) -> Plan:
    """Load a plan that the user trusts, with the ``.env`` beside it; its code may run afterwards."""
    from hengwen.plans.overrides import resolve_plan
    from hengwen.plans.plan import load_plan
    from hengwen.plans.trust import check_trust, env_needs, env_settings, trust_digest, trust_needs

    plan = load_plan(path)
    resolved = resolve_plan(plan, judge=judge, base_url=base_url)
    settings = env_settings(resolved)
    needs = [] if trust else [*trust_needs(resolved), *env_needs(settings)]
    if needs:
        digest = trust_digest(plan)
        trusted = _is_remembered(digest) or _ask(path, needs, digest)
        check_trust(resolved, trust=trusted, further=env_needs(settings))
    os.environ.update(settings)
    if settings:
        print_info(f"hengwen: {path.parent / '.env'}: read {', '.join(settings)}")
    return plan


def _ask(path: Path, needs: list[str], digest: str) -> bool:
    if not _is_terminal():
        return False
    print_info(f"{path} is more than data:")
    for need in needs:
        print_info(f"  {need}")
    trusted = typer.confirm("trust this plan until it changes?", err=True)
    if trusted:
        _remember(digest)
    return trusted


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _is_remembered(digest: str) -> bool:
    try:
        return digest in _state_file().read_text("utf-8", errors="replace").split()
    except OSError:
        return False


def _remember(digest: str) -> None:
    file = _state_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{digest}\n")
    except OSError as error:
        print_warning(f"{file}: cannot be written, so the next command asks again: {error.strerror}")


def _state_file() -> Path:
    from platformdirs import user_state_path

    return user_state_path("hengwen", appauthor=False) / FILE_NAME
