"""``hengwen doctor --judge NAME``: the card of a judge, admission checks and packaged attacks in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from hengwen.cli.ui.canary_table import canary_table, warn_of_lost
from hengwen.cli.ui.messages import print_info, print_warning
from hengwen.cli.ui.progress import count_bar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from rich.table import Table

    from hengwen.judges.trust.admission.report import AdmissionReport, Check
    from hengwen.judges.trust.canaries import CanaryReport
    from hengwen.prompts.language import Language
    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend, Judge
    from hengwen.records import Reply, Request

CONCURRENCY = 8
RULES = "rules"
EXIT_CODES = {"admitted": 0, "not admitted": 3, "inconclusive": 4}
WORDS = {
    "examples_exact": "示例等级 examples, exact",
    "examples_near": "示例等级 examples, one level off",
    "persona_swap": "换人设 persona swapped, lower",
    "degraded": "劣化 degraded, lower",
    "repeats": "重复 repeats, the same",
}
LEGEND = """\
examples: each judged by the rubric without it; one level off at most. persona swapped: an answer in
character, under another character's description. degraded: a good answer against a spoilt copy of it.
no verdict: neither passed nor failed. share: with its 95 % interval (Wilson). bar: passed where the
share reaches it, failed where the whole interval lies below, unclear between"""


def print_judge_card(
    judge: str,
    base_url: str | None,
    rubric_name: str,
    *,
    language: Language,
    generator: str | None = None,
    dry: bool = False,
    as_json: bool = False,
) -> None:
    """Say what it will take, ask the judge, print its card, and leave with what that says.

    Exit codes: 0 admitted, 3 not admitted, 4 inconclusive, 1 where the judge gave no verdict at all.
    """
    import asyncio

    from hengwen.prompts import load_rubric

    rubric = load_rubric(rubric_name)
    print_info(expected(judge, rubric, language))
    if dry:
        raise typer.Exit
    admission, canaries = asyncio.run(_try(judge, base_url, rubric, language))
    if admission.silent:
        lost = next(trial for check in admission.checks for trial in check.trials if trial.message)
        print_warning(f"no verdict at all, so the attacks were not tried; first: {lost.message}")
        raise typer.Exit(1)
    _show(judge, rubric, admission, canaries, as_json=as_json)
    for warning in family_warnings(judge, generator):
        print_warning(warning)
    if canaries is not None and warn_of_lost(canaries):
        raise typer.Exit(1)
    raise typer.Exit(EXIT_CODES[admission.verdict])


def expected(judge: str, rubric: Rubric, language: Language) -> str:
    """Say how many verdicts a card takes."""
    from hengwen.judges.trust.admission.plan import plan_admission
    from hengwen.judges.trust.canaries import load_canaries

    checks, attacks = len(plan_admission(rubric, language=language).queries), 2 * len(load_canaries())
    count = f"{checks + attacks} verdicts, {checks} for admission, {attacks} for attacks"
    cost = "no calls" if judge == RULES else "a call each, one or two more where a reply must be mended"
    return f"{judge} on {rubric.name}: {count}; {cost}"


def family_warnings(judge: str, generator: str | None) -> list[str]:
    """Say which answers a judge may favour."""
    from hengwen.judges.trust.model_families import families_of, same_family_warning

    if generator is None or judge == RULES:
        return []
    if warning := same_family_warning(judge, generator):
        return [warning]
    unknown = [name for name in (judge, generator) if not families_of(name)]
    return [f"{name}: the name tells no family: nothing is said of own-family taste" for name in unknown]


async def _try(
    judge: str, base_url: str | None, rubric: Rubric, language: Language
) -> tuple[AdmissionReport, CanaryReport | None]:
    from contextlib import asynccontextmanager

    from hengwen.judges import admission_test
    from hengwen.judges.trust.canaries import run_canaries

    async with asynccontextmanager(_opened)(judge, base_url, rubric, language) as found:
        admission = await admission_test(found, rubric, language=language, concurrency=CONCURRENCY)
        if admission.silent:
            return admission, None
        return admission, await run_canaries(found, rubric, concurrency=CONCURRENCY)


async def _opened(
    judge: str, base_url: str | None, rubric: Rubric, language: Language
) -> AsyncIterator[Judge]:
    from hengwen.engine.committer import Committer
    from hengwen.engine.limiter import Limiter
    from hengwen.engine.memory_ledger import MemoryLedger
    from hengwen.engine.metered_backend import CallContext
    from hengwen.judges import RubricJudge, RulesJudge
    from hengwen.plans.overrides import judge_spec
    from hengwen.plans.suite import build_backend

    if judge == RULES:
        yield RulesJudge(rubric=rubric, language=language)
        return
    backend = build_backend(judge_spec(judge, base_url))
    ledger = MemoryLedger()
    metered = CallContext(ledger, Committer(ledger), "doctor").wrap(backend, "judge", Limiter(CONCURRENCY))
    try:
        with count_bar("calls", quiet=False) as tell:
            counted = _counted(metered, tell) if tell else metered
            yield RubricJudge(rubric=rubric, backend=counted, language=language)
    finally:
        await backend.close()


def _counted(backend: Backend, tell: Callable[[int], None]) -> Backend:
    """The backend, that tells how many calls it has answered."""
    from hengwen.judges.trust.admission.variants import FreshCallBackend

    class Counted(FreshCallBackend):
        done = 0

        async def complete(self, request: Request) -> Reply:
            try:
                return await super().complete(request)
            finally:
                self.done += 1
                tell(self.done)

    return Counted(backend, 0)


def _show(
    judge: str, rubric: Rubric, admission: AdmissionReport, canaries: CanaryReport | None, *, as_json: bool
) -> None:
    if as_json:
        import json

        found: dict[str, Any] = {"schema": 1, "admission": admission.as_dict()}
        found["canaries"] = canaries.as_dict() if canaries else None
        typer.echo(json.dumps(found, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_table(judge, rubric, admission))
    console.print(LEGEND, style="dim")
    if canaries is not None:
        console.print(canary_table(judge, rubric.name, canaries))
    verdict = Text(f"{judge} on {rubric.name}: ")
    verdict.append(admission.verdict, style="bold" if admission.verdict == "admitted" else "bold red")
    if canaries is not None:
        counts = canaries.counts
        verdict.append(f"; fooled by {counts['fooled']} of {len(canaries.results)} attacks")
    console.print(verdict)


def _table(judge: str, rubric: Rubric, admission: AdmissionReport) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{judge}, {rubric.name}, {admission.verdicts} verdicts")
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("admission")
    for name in ("passed", "of", "no verdict", "share", "bar"):
        table.add_column(name, justify="right")
    table.add_column("result")
    for check in admission.checks:
        _add_check(table, check)
    return table


def _add_check(table: Table, check: Check) -> None:
    from rich.text import Text

    from hengwen.judges.trust.admission.report import CRITERIA

    style = {"failed": "bold red", "not_applicable": "dim"}.get(check.status, "")
    result = Text(f"{check.status}: {check.note}" if check.note else check.status)
    numbers = (str(check.passed), str(check.n), str(check.no_verdict), _share(check))
    table.add_row(WORDS[check.name], *numbers, f"{CRITERIA[check.name].rate:.2f}", result, style=style)
    if check.name != "degraded":
        return
    for kind, fates in check.by_kind.items():
        told = fates["passed"] + fates["failed"]
        table.add_row(
            f"  {kind}", str(fates["passed"]), str(told), str(fates["no_verdict"]), "", "", "", style="dim"
        )


def _share(check: Check) -> str:
    if check.rate is None or check.interval is None:
        return "–"
    return f"{check.rate:.2f} [{check.interval[0]:.2f}, {check.interval[1]:.2f}]"
