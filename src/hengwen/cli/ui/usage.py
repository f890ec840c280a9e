"""Groups of commands: they share options, and print usage errors, like all errors, as one line."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, getdoc, signature
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from hengwen.errors import ConfigError
from hengwen.text.catalogue import localized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_JUDGING = "rejudge judge base-url concurrency budget time-limit dry-run fresh wait trust"
FORMER_OPTIONS: dict[tuple[str | None, str], str] = {
    **{("drift", f"--{name}"): "hengwen judge-drift PLAN" for name in _JUDGING.split()},
    ("run", "--batch"): "hengwen batch export PLAN DIR",
    ("run", "--repeat"): "the key repeats of a task in the plan",
    ("score", "--refs"): "hengwen corpus FILE --refs FILE",
    ("score", "--metrics"): "hengwen corpus FILE --refs FILE --metrics",
    ("score", "--baseline"): "hengwen corpus FILE --refs FILE --baseline",
    ("judge", "--lang"): "--prompt-lang",
    **{
        ("peer-review", f"--{name}"): f"hengwen peer-review-plan PLAN --{name}"
        for name in (
            *("opponents", "matches", "store", "judge", "base-url", "concurrency", "limit"),
            *("budget", "time-limit", "dry-run", "fresh", "wait", "trust"),
        )
    },
}
"""For a command and an option that it had before, the present spelling."""
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


class InheritingCommand(TyperCommand):
    """A command that takes options from the groups above it; one that both declare belongs to the group."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.inherited: list[Any] = []
        self._groups: list[list[Any]] = []

    @property
    def params(self) -> list[Any]:
        """Arguments and options of the command, without those that it takes from its groups."""
        function = getattr(self.callback, "function", None)
        if function is not None:  # the first use: typer needs 5 ms for the options of a command
            command = get_command_from_info(
                CommandInfo(callback=spread(function)), pretty_exceptions_short=False, rich_markup_mode=None
            )
            self.callback, own = command.callback, list(command.params)
            for param in own:
                if param.param_type_name == "argument" and param.metavar is None:
                    param.metavar = param.name.upper()
            for group in self._groups:
                names = {param.name for param in own}
                self.inherited += [param for param in group if param.name in names]
                shared = {param.name for param in group}
                own = [param for param in own if param.name not in shared]
            self._params = own
        return self._params

    @params.setter
    def params(self, params: list[Any]) -> None:
        self._params = params

    def inherit(self, group: list[Any]) -> None:
        """Use the options of a group instead of the command's own options of the same name."""
        self._groups.append(group)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the command, then those of its groups, then ``--help``."""
        last = len(self.params)
        own = super().get_params(ctx)
        return [*own[:last], *self.inherited, *own[last:]]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help in the language of messages."""
        _localize(self, ctx)
        super().format_help(ctx, formatter)

    def get_usage(self, ctx: Any) -> str:
        """Return the line of usage."""
        return localized(super().get_usage(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command with the options that stand before its name."""
        names = {param.name for param in self.inherited}
        for group in _ancestors(ctx):
            for name, value in group.params.items():
                if group.get_parameter_source(name).name != "COMMANDLINE":
                    continue
                if name not in names:
                    (option,) = (param.opts[-1] for param in group.command.params if param.name == name)
                    raise ConfigError(f"{option} does not apply here{_help_hint(ctx)}")
                if ctx.get_parameter_source(name).name != "COMMANDLINE":
                    ctx.params[name] = value
                    ctx.set_parameter_source(name, group.get_parameter_source(name))
        return super().invoke(ctx)


def _ancestors(ctx: Any) -> Iterator[Any]:
    """Yield the contexts of the groups above a command, from the nearest to the program."""
    while ctx.parent is not None:
        ctx = ctx.parent
        yield ctx


class OneLineGroup(TyperGroup):
    """A group of commands that inherit its options, and whose usage errors are printed as one line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inherit(self.params)

    def inherit(self, group: list[Any]) -> None:
        """Let all commands of the group use the options of a group."""
        for command in self.commands.values():
            command.inherit(group)  # type: ignore[attr-defined]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, without the options that the commands inherit and explain."""
        shared, self.params = self.params, [param for param in self.params if param.is_eager]
        try:
            _localize(self, ctx)
            super().format_help(ctx, formatter)
        finally:
            self.params = shared

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
    """A group of commands for ``OneLineGroup``."""

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
                name or function.__name__, cls=InheritingCommand, help="\n\n".join(paragraphs), **kwargs
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
    command.epilog = localized(command.epilog or "")


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message of this error is the whole help text
            raise
        former = FORMER_OPTIONS.get((getattr(error.ctx, "info_name", ""), getattr(error, "option_name", "")))
        if former:
            raise ConfigError(f"{error.option_name} is now: {former}") from None
        message = error.format_message().removeprefix("Invalid value: ").removesuffix(".")
        message = message.replace(". Did you mean", "; did you mean")
        raise ConfigError(f"{message}{_help_hint(error.ctx)}") from None


def _help_hint(ctx: Any) -> str:
    """Return the command line that shows the help of a command; "" if the command is unknown."""
    if ctx is None:
        return ""
    command = ctx.command_path.removeprefix(ctx.find_root().info_name)
    return f"; see: hengwen{command} --help"
