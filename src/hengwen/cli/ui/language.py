"""Choose the language in which a command shows reports, tables and the label form."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.text.catalogue import locale_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Run
    from hengwen.text.language import Language

Lang = Annotated[
    str | None,
    typer.Option(
        "--lang", envvar="HENGWEN_LANG", help="zh or en; default: language of the plan, else of the locale."
    ),
]


def choose_language(
    option: str | None, plan: object = None, environment: Mapping[str, str] = os.environ
) -> Language:
    """Return the language that the option names, else that of the plan, else that of the locale."""
    if option is not None:
        return options.parse_language(option)
    if plan in ("zh", "en"):
        return "en" if plan == "en" else "zh"
    return locale_language(environment)


def report_language(option: str | None, runs: Sequence[Run]) -> Language:
    """Return the language of a report: from the option, else the newest run's plan, else the locale."""
    return choose_language(option, runs[-1].facts.get("language") if runs else None)
