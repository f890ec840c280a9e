"""What the program says beside its results: one line a message, on stderr, without control characters."""

from __future__ import annotations

import typer


def printable(text: str) -> str:
    """Return text on one line in which nothing moves the cursor or hides.

    Examples:
        >>> printable("a\\x1b[2Jb\\nc")
        'a\\\\x1b[2Jb c'
    """
    line = " ".join(text.split("\n"))
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)


def print_error(message: str) -> None:
    """Say what went wrong."""
    typer.echo(f"hengwen: {printable(message)}", err=True)


def print_warning(message: str) -> None:
    """Say what deserves a look."""
    typer.echo(f"hengwen: warning: {printable(message)}", err=True)


def print_info(message: str) -> None:
    """Say what is going on."""
    typer.echo(printable(message), err=True)
