"""Options that several verbs share; each can be set by the environment as HENGWEN_<FLAG>."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hengwen.prompts.language import Language, check_language

DEFAULT_STORE = "hengwen.db"

Store = Annotated[
    str, typer.Option("--store", envvar="HENGWEN_STORE", help="Path or SQLAlchemy URL of the store.")
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="Write a report: .html, .md or .json by extension; repeatable."),
]
Concurrency = Annotated[
    int,
    typer.Option(
        "-j", "--concurrency", min=1, envvar="HENGWEN_CONCURRENCY", help="Calls in flight at a time."
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "-n", "--limit", min=1, envvar="HENGWEN_LIMIT", help="Only the first N samples of each task."
    ),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        min=1,
        envvar="HENGWEN_REPEAT",
        help="Answers that backends give to each sample, in the place of the plan's.",
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge", envvar="HENGWEN_JUDGE", help="PROVIDER/MODEL in the place of every judge of the plan."
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", envvar="HENGWEN_BASE_URL", help="Of an OpenAI-compatible server, for --judge."
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget", min=0, envvar="HENGWEN_BUDGET", help="What calls may cost, by the prices of the plan."
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0,
        envvar="HENGWEN_TIME_LIMIT",
        help="Seconds; then calls in flight end, and the same command goes on later.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Count the calls, tokens and cost that this would take; ask nobody.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start again: use nothing of before.")]
Strict = Annotated[bool, typer.Option("--strict", help="Leave with 1 where any row failed.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", envvar="HENGWEN_QUIET", help="No table, no progress.")]
Columns = Annotated[
    list[str] | None, typer.Option("--column", help="THEIRS=OURS, such as lyric=output; repeatable.")
]


def parse_language(value: str) -> Language:
    """Return the value of ``--lang``.

    Raises:
        BadParameter: The language is unknown.
    """
    try:
        return check_language(value)
    except ValueError:
        raise typer.BadParameter(f"--lang is zh or en, got {value!r}") from None


def pairs(flag: str, texts: list[str] | None) -> list[tuple[str, str]]:
    """Read NAME=VALUE texts.

    Raises:
        BadParameter: One has no name or no equals sign.
    """
    found = []
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{flag} wants NAME=VALUE, got {text!r}")
        found.append((name.strip(), value.strip()))
    return found
