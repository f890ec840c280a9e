"""Groups of commands, which print usage errors, like all errors, as one line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, getdoc, signature
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from hengwen.errors import ConfigError
from hengwen.text.language import localized

PANEL_TEXTS = (
    *("ARGUMENTS_PANEL_TITLE", "OPTIONS_PANEL_TITLE", "COMMANDS_PANEL_TITLE"),
    *("DEFAULT_STRING", "ENVVAR_STRING", "REQUIRED_LONG_STRING"),
)
"""Names of the words that typer writes around helps."""
Function = TypeVar("Function", bound="Callable[..., Any]")
_UsageError: Any = typer.BadParameter.__mro__[1]
"""Base class of typer's usage errors, which typer itself does not export."""


class Without:
    """Mark, in ``Annotated``, the options of a dataclass that a command does not take."""

    def __init__(self, *names: str) -> None:
        self.names = names


def spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes the fields of each dataclass among its parameters one by one."""
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in signature(function, eval_str=True).parameters.values():
        annotation = parameter.annotation
        group, *marks = get_args(annotation) if get_origin(annotation) is Annotated else [annotation]
        if not is_dataclass(group):
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        omitted = {name for mark in marks if isinstance(mark, Without) for name in mark.names}
        options = [option for option in fields(group) if option.name not in omitted]
        hints = get_type_hints(group, include_extras=True)
        groups[parameter.name] = group, [option.name for option in options]
        parameters += [
            Parameter(
                option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[option.name]
            )
            for option in options
        ]

    def call(**values: Any) -> Any:
        for name, (group, names) in groups.items():
            values[name] = group(**{option: values.pop(option) for option in names})
        return function(**values)

    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


class LazyCommand(TyperCommand):
    """A command whose options are read from its function when it is used, as typer needs 5 ms for that."""

    @property
    def params(self) -> list[Any]:
        """Arguments and options of the command."""
        function = getattr(self.callback, "function", None)
        if function is not None:
            command = get_command_from_info(
                CommandInfo(callback=spread(function)), pretty_exceptions_short=False, rich_markup_mode=None
            )
            self.callback, self._params = command.callback, list(command.params)
            for param in self._params:
                if param.param_type_name == "argument" and param.metavar is None:
                    param.metavar = param.name.upper()
        return self._params

    @params.setter
    def params(self, params: list[Any]) -> None:
        self._params = params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help in the language of messages."""
        _localize(self, ctx)
        super().format_help(ctx, formatter)

    def get_usage(self, ctx: Any) -> str:
        """Return the line of usage."""
        return localized(super().get_usage(ctx))


class OneLineGroup(TyperGroup):
    """A group of commands whose usage errors are printed as one line."""

    order: Sequence[str] = ()
    """Names of commands in the order of the help; others stand behind them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return sorted(self.commands, key=[*self.order, *self.commands].index)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help in the language of messages."""
        _localize(self, ctx)
        super().format_help(ctx, formatter)

    def get_usage(self, ctx: Any) -> str:
        """Return the line of usage."""
        return localized(super().get_usage(ctx))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the options of the group."""
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Parse the arguments of a command, and run it."""
        with _one_line():
            return super().invoke(ctx)


class Commands(typer.Typer):
    """A group of commands; the last of them that are added stand last in its help."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(cls=OneLineGroup, no_args_is_help=True, **kwargs)

    def command(self, name: str | None = None, **kwargs: Any) -> Callable[[Function], Function]:
        """Add a function as a command, whose parameters are read when the command is used."""

        def register(function: Function) -> Function:
            def unread() -> None:
                """Stand for the function until its parameters are read."""

            unread.function = function  # type: ignore[attr-defined]
            paragraphs = [" ".join(text.split("\n")) for text in (getdoc(function) or "").split("\n\n")]
            add = super(Commands, self).command(
                name or function.__name__, cls=LazyCommand, help="\n\n".join(paragraphs), **kwargs
            )
            add(unread)
            return function

        return register


def _localize(command: Any, ctx: Any) -> None:
    """Put the help of a command, its options and its subcommands into the language of messages."""
    from rich import columns
    from rich.table import Table
    from typer import rich_utils

    class FoldingTable(Table):
        """Breaks a long line without spaces, which rich would cut."""

        def add_row(self, *cells: Any, **options: Any) -> None:
            super().add_row(*cells, **options)
            for column in self.columns:
                column.overflow = "fold"

    for module in (rich_utils, columns):
        module.Table = FoldingTable  # type: ignore[attr-defined]
    for name in PANEL_TEXTS:
        setattr(rich_utils, name, localized(getattr(rich_utils, name)))
    for item in (command, *command.get_params(ctx), *getattr(command, "commands", {}).values()):
        item.help = localized(getattr(item, "help", None) or "")
        if getattr(item, "rich_help_panel", None):
            item.rich_help_panel = localized(item.rich_help_panel)
    command.epilog = localized(command.epilog or "")


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message of this error is the whole help text
            raise
        message = error.format_message().removeprefix("Invalid value: ").removesuffix(".")
        variable = getattr(getattr(error, "param", None), "envvar", None)
        if variable and variable in os.environ:
            message = message.replace(": ", f" (env var: '{variable}'): ", 1)
        message = message.replace(". Did you mean", "; did you mean")
        raise ConfigError(f"{message}{_help_hint(error.ctx)}") from None


def _help_hint(ctx: Any) -> str:
    """Return the command line that shows the help of a command; "" if the command is unknown."""
    if ctx is None:
        return ""
    command = ctx.command_path.removeprefix(ctx.find_root().info_name)
    return f"; see: hengwen{command} --help"
