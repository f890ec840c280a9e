"""Print usage errors, like all other errors, as one line, which names the command's help."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

_UsageError: Any = typer.BadParameter.__mro__[1]
"""Base class of typer's usage errors, which typer itself does not export."""


class OneLineGroup(TyperGroup):
    """A group of commands whose usage errors are printed as one line."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the options of the group."""
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Parse the arguments of a command, and run it."""
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message of this error is the whole help text
            raise
        message = error.format_message().removeprefix("Invalid value: ").removesuffix(".")
        message = message.replace(". Did you mean", "; did you mean")
        raise ConfigError(f"{message}{_help_hint(error.ctx)}") from None


def _help_hint(ctx: Any) -> str:
    """Return the command line that shows the help of a command; "" if the command is unknown."""
    if ctx is None:
        return ""
    command = ctx.command_path.removeprefix(ctx.find_root().info_name)
    return f"; see: hengwen{command} --help"
