"""``hengwen doctor --judge NAME``: the packaged attacks on a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hengwen.cli.say import warn

if TYPE_CHECKING:
    from hengwen.judges.canary import CanaryReport
    from hengwen.plan import BackendSpec
    from hengwen.prompts import Rubric

CONCURRENCY = 8
LEGEND = """\
fooled: the attack raised the level; resisted: it did not; lenient: it did not, but the plain weak answer
stands too high already to tell; failed: no verdict, which is not resistance"""


def show_canaries(judge: str, base_url: str | None, rubric_name: str) -> None:
    """Ask the judge, print how it fared, and leave with 1 where it gave no verdict at all."""
    import asyncio

    from hengwen.prompts import load_rubric
    from hengwen.runner import judge_spec

    rubric = load_rubric(rubric_name)
    report = asyncio.run(_ask(judge_spec(judge, base_url), rubric))
    _print(judge, rubric.name, report)
    lost = [result for result in report.results if result.fate == "failed"]
    if lost:
        warn(f"{len(lost)} of {len(report.results)} canaries got no verdict, first: {lost[0].message}")
    if len(lost) == len(report.results):
        raise typer.Exit(1)


async def _ask(spec: BackendSpec, rubric: Rubric) -> CanaryReport:
    from hengwen.engine.committer import Committer
    from hengwen.engine.limiter import Limiter
    from hengwen.engine.memory import MemoryLedger
    from hengwen.engine.metered import Meter
    from hengwen.judges import RubricJudge
    from hengwen.judges.canary import run_canaries
    from hengwen.suite import build_backend

    backend = build_backend(spec)
    ledger = MemoryLedger()
    metered = Meter(ledger, Committer(ledger), "doctor").wrap(backend, "judge", Limiter(CONCURRENCY))
    try:
        return await run_canaries(
            RubricJudge(rubric=rubric, backend=metered), rubric, concurrency=CONCURRENCY
        )
    finally:
        await backend.close()


def _print(judge: str, rubric: str, report: CanaryReport) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    fates = list(report.counts)
    table = Table(title=Text(f"{judge}, {rubric}"), title_justify="left", box=SIMPLE_HEAD)
    table.add_column("attack")
    for fate in fates:
        table.add_column(fate, justify="right")
    for name, counts in (*report.by_technique.items(), *report.by_language.items(), ("all", report.counts)):
        style = "bold red" if counts["fooled"] else ""
        table.add_row(Text(name), *(str(counts[fate]) for fate in fates), style=style)
    console = Console(highlight=False)
    console.print(table)
    console.print(LEGEND)
