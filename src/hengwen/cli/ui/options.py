"""Options that several commands share, some of them also as variables HENGWEN_<OPTION>."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hengwen.cli.ui.inputs import load_trusted, print_waiting
from hengwen.errors import ConfigError
from hengwen.text.language import Language, check_language, locale_language

if TYPE_CHECKING:
    from hengwen.plans.plan import Plan
    from hengwen.runs.options import RunOptions

RARE = "Rarely needed"
"""Panel at the end of a help."""
DEFAULT_STORE = "hengwen.db"
DEFAULT_CONCURRENCY = 16

Store = Annotated[
    str,
    typer.Option(
        "--store", metavar="PATH", envvar="HENGWEN_STORE", show_envvar=False, help="Path or URL of the store."
    ),
]
StoreArgument = Annotated[
    str,
    typer.Argument(
        metavar="STORE", envvar="HENGWEN_STORE", show_envvar=False, help="Path or URL of the store."
    ),
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(
        "--engine",
        rich_help_panel=RARE,
        help="Score in processes here, or as tasks of Ray (RAY_ADDRESS).",
    ),
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Write .html, .md, .json, .csv or .parquet; repeatable."
    ),
]
Lang = Annotated[
    str | None,
    typer.Option(
        "--lang", metavar="zh|en", envvar="HENGWEN_LANG", show_envvar=False, help="Language of the result."
    ),
]
Scores = Annotated[
    list[str] | None,
    typer.Option("--score", help="Use only TASK/SCORE; repeatable; p-values are corrected for their number."),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        envvar="HENGWEN_SEED",
        show_envvar=False,
        rich_help_panel=RARE,
        help="Seed of resamples, permutations and simulations.",
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(
        "-j",
        "--concurrency",
        metavar="N",
        min=1,
        envvar="HENGWEN_CONCURRENCY",
        show_envvar=False,
        help="Calls at a time.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        envvar="HENGWEN_WORKERS",
        show_envvar=False,
        rich_help_panel=RARE,
        help="Processes that score; default: one per core.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--limit",
        metavar="N",
        min=1,
        envvar="HENGWEN_LIMIT",
        show_envvar=False,
        help="Only the first N samples of each task.",
    ),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="PROVIDER/MODEL",
        envvar="HENGWEN_JUDGE",
        show_envvar=False,
        help="Judge by this model, or by rules.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        envvar="HENGWEN_BASE_URL",
        show_envvar=False,
        help="Address of the server of --judge.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="COST",
        min=0,
        envvar="HENGWEN_BUDGET",
        show_envvar=False,
        help="Maximum cost of calls.",
    ),
]
Price = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="IN,OUT",
        envvar="HENGWEN_PRICE",
        show_envvar=False,
        rich_help_panel=RARE,
        help="Prices of a million tokens.",
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        min=0,
        envvar="HENGWEN_TIME_LIMIT",
        show_envvar=False,
        rich_help_panel=RARE,
        help="Stop after this time, to be resumed.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", metavar="", help="Estimate calls and cost, make no call.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", metavar="", rich_help_panel=RARE, help="Reuse no stored results.")
]
Wait = Annotated[
    bool,
    typer.Option("--wait", metavar="", rich_help_panel=RARE, help="Wait for another process with the plan."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", metavar="", rich_help_panel=RARE, help="Exit with 1 if any outcome failed."),
]
Json = Annotated[
    bool,
    typer.Option("--json", metavar="", rich_help_panel=RARE, help="Print one JSON object and nothing else."),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "-q",
        "--quiet",
        metavar="",
        envvar="HENGWEN_QUIET",
        show_envvar=False,
        rich_help_panel=RARE,
        help="Print no table and no progress.",
    ),
]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", metavar="", help="Print the details too.")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", metavar="", rich_help_panel=RARE, help="Trust the plan and its .env; see SECURITY.md."
    ),
]
PromptLang = Annotated[
    str, typer.Option("--prompt-lang", metavar="zh|en", help="Language of the judge's prompt.")
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", help="COLUMN=FIELD, such as lyric=output; repeatable.")
]
Pairs = Annotated[
    Path | None,
    typer.Option("--pairs", help="Write preference pairs (prompt, chosen, rejected) to this .jsonl or .csv."),
]


def parse_language(value: str, flag: str = "--lang") -> Language:
    """Return the value of an option that names a language."""
    try:
        return check_language(value)
    except ValueError:
        raise typer.BadParameter(f"{flag} is zh or en, got {value!r}") from None


def parse_pairs(flag: str, texts: list[str] | None) -> list[tuple[str, str]]:
    """Split texts of the form NAME=VALUE."""
    pairs = []
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{flag} takes NAME=VALUE, got {text!r}")
        pairs.append((name.strip(), value.strip()))
    return pairs


def parse_columns(texts: list[str] | None) -> list[tuple[str, str]]:
    """Split texts of the form FIELD=COLUMN,FIELD=COLUMN."""
    return [pair for text in texts or () for pair in parse_pairs("--columns", text.split(","))]


def parse_price(text: str | None) -> tuple[float, float] | None:
    """Return the value of ``--price``."""
    if text is None:
        return None
    try:
        prices = [float(part) for part in text.split(",")]
    except ValueError:
        prices = []
    if len(prices) != 2 or not all(0 <= price < inf for price in prices):
        raise typer.BadParameter(f"--price takes two prices, such as 0.15,0.6, got {text!r}")
    return prices[0], prices[1]


def parse_settings(texts: list[str] | None) -> dict[str, object]:
    """Return the options of ``--set``; their values are YAML, so that they have the types of a plan."""
    import yaml

    settings: dict[str, object] = {}
    for name, text in parse_pairs("--set", texts):
        try:
            settings[name] = yaml.safe_load(text)
        except yaml.YAMLError:
            settings[name] = text
    return settings


def refuse(context: typer.Context, reasons: Mapping[str, str]) -> None:
    """Refuse options that do not apply."""
    for name, reason in reasons.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise ConfigError(f"--{name.replace('_', '-')} {reason}")


def choose_language(option: str | None, plan: object = None) -> Language:
    """Return the language that the option names, else that of the plan, else that of the locale."""
    if option is not None:
        return parse_language(option)
    if plan in ("zh", "en"):
        return "en" if plan == "en" else "zh"
    return locale_language(os.environ)


@dataclass(frozen=True, slots=True)
class Calls:
    """Options that say which calls a command makes, and how many."""

    store: Store = DEFAULT_STORE
    judge: Judge = None
    base_url: BaseUrl = None
    concurrency: Concurrency = DEFAULT_CONCURRENCY
    limit: Limit = None
    budget: Budget = None
    price: Price = None
    time_limit: TimeLimit = None
    dry_run: DryRun = False
    fresh: Fresh = False
    wait: Wait = False
    trust: Trust = False

    def load(self, plan: Path) -> Plan:
        """Load a plan that the user trusts."""
        return load_trusted(plan, trust=self.trust, judge=self.judge, base_url=self.base_url)

    def run_options(self, **others: Any) -> RunOptions:
        """Return the options as those of a run."""
        from hengwen.runs.options import RunOptions

        return RunOptions(
            concurrency=self.concurrency,
            limit=self.limit,
            budget=self.budget,
            price=parse_price(self.price),
            time_limit=self.time_limit,
            fresh=self.fresh,
            wait=print_waiting if self.wait else False,
            **others,
        )
