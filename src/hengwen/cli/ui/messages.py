"""Print messages on stderr, one line each, without control characters."""

from __future__ import annotations

import typer

from hengwen.text.catalogue import localized


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
