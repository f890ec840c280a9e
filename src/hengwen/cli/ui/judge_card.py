"""``hengwen doctor --judge NAME``: test a judge with the admission test and the packaged attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from hengwen.cli.ui.canary_table import canary_table, warn_of_missing_verdicts
from hengwen.cli.ui.messages import print_info, print_warning
from hengwen.cli.ui.progress import count_bar
from hengwen.plans.overrides import RULES_JUDGE, judge_spec
from hengwen.text.language import Bilingual
from hengwen.text.numbers import NOTHING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from rich.table import Table

    from hengwen.judges.trust.admission_report import AdmissionReport, Check
    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend, Judge
    from hengwen.records import Reply, Request
    from hengwen.text.language import Language

CONCURRENCY = 8
"""Maximum number of concurrent calls."""
EXIT_CODES = {"admitted": 0, "not admitted": 3, "inconclusive": 4}
CHECK_TITLES = {
    "examples_exact": Bilingual("示例：等级相同", "examples, exact"),
    "examples_near": Bilingual("示例：相差不超过一级", "examples, within one level"),
    "persona_swap": Bilingual("人设替换后得分更低", "persona swapped, lower"),
    "degraded": Bilingual("劣化后得分更低", "degraded, lower"),
    "padded": Bilingual("加入空话后不升、至多降一级", "padded, not higher"),
    "repeats": Bilingual("重复评审结果相同", "repeats, same level"),
}
LEGEND = Bilingual(
    """\
示例：判某条示例时，评分标准中不含该示例。人设替换：用另一个人设评判本来符合人设的回答。
劣化：好的回答与其劣化版比较。加入空话：加几句没有内容的话，等级可降一级，不得升。
无结论：既不算通过也不算失败。比例：通过 / (通过 + 失败)，附按回答计的 95% Wilson 区间。
门槛：比例达到门槛为通过，整个区间低于门槛为失败，否则为不明""",
    """\
examples: each is judged with a rubric that does not contain it. persona swapped: an answer in character is
judged with the description of another character. degraded: a good answer is compared with a degraded copy.
padded: sentences that say nothing are added; the level may fall by one and must not rise. no verdict:
neither passed nor failed. share: passed / (passed + failed), with its 95 % Wilson interval by answer.
threshold: a check passes if the share reaches it, fails if the whole interval is below it, and is unclear
otherwise""",
)
COLUMNS = tuple(
    Bilingual(zh, en)
    for zh, en in (
        ("检查项", "admission"),
        ("通过", "passed"),
        ("共", "of"),
        ("无结论", "no verdict"),
        ("比例", "share"),
        ("门槛", "threshold"),
        ("结果", "result"),
    )
)


def print_judge_card(
    judge: str,
    base_url: str | None,
    rubric_name: str,
    *,
    language: Language,
    generator: str | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Print how many judgments are needed, test the judge, print the results, and end the program."""
    import asyncio

    from hengwen.prompts import load_rubric
    from hengwen.prompts.one_language import ONE_LANGUAGE

    rubric = load_rubric(rubric_name)
    if rubric.is_in_one_language:
        print_warning(ONE_LANGUAGE.format(rubric.name))
    if judge != RULES_JUDGE:
        judge_spec(judge, base_url)  # raises an error for a wrong name before anything is printed
    print_info(cost_text(judge, rubric, language))
    if dry_run:
        raise typer.Exit
    admission = asyncio.run(_test_judge(judge, base_url, rubric, language))
    canaries = admission.attacks
    if admission.silent:
        failed = next(trial for check in admission.checks for trial in check.trials if trial.message)
        print_warning(f"no verdict at all, attacks skipped; first: {failed.message}")
        raise typer.Exit(1)
    _print_results(judge, rubric, admission, language, as_json=as_json)
    for warning in family_warnings(judge, generator):
        print_warning(warning)
    if canaries is not None and warn_of_missing_verdicts(canaries):
        raise typer.Exit(1)
    raise typer.Exit(EXIT_CODES[admission.verdict])


def cost_text(judge: str, rubric: Rubric, language: Language) -> str:
    """Return a sentence with the number of judgments and calls that the test of a judge needs."""
    from hengwen.judges.trust.admission_plan import plan_admission
    from hengwen.judges.trust.canaries import load_canaries

    checks, attacks = len(plan_admission(rubric, language=language).queries), 2 * len(load_canaries())
    count = f"{checks + attacks} verdicts, {checks} for admission, {attacks} for attacks"
    cost = "no calls" if judge == RULES_JUDGE else "one call each, up to two more to repair a reply"
    return f"{judge} on {rubric.name}: {count}; {cost}"


def family_warnings(judge: str, generator: str | None) -> list[str]:
    """Return warnings that the judge may favour the texts of the judged model."""
    from hengwen.judges.trust.model_families import families_of, same_family_warning

    if generator is None or judge == RULES_JUDGE:
        return []
    if warning := same_family_warning(judge, generator):
        return [warning]
    unknown = [name for name in (judge, generator) if not families_of(name)]
    return [f"{name}: unknown model family: a same-family preference cannot be ruled out" for name in unknown]


async def _test_judge(
    judge: str, base_url: str | None, rubric: Rubric, language: Language
) -> AdmissionReport:
    from contextlib import asynccontextmanager
    from dataclasses import replace

    from hengwen.judges import admission_test
    from hengwen.judges.trust.canaries import run_canaries

    async with asynccontextmanager(_open_judge)(judge, base_url, rubric, language) as opened:
        admission = await admission_test(opened, rubric, language=language, concurrency=CONCURRENCY)
        if admission.silent:
            return admission
        return replace(admission, attacks=await run_canaries(opened, rubric, concurrency=CONCURRENCY))


async def _open_judge(
    judge: str, base_url: str | None, rubric: Rubric, language: Language
) -> AsyncIterator[Judge]:
    from hengwen.engine.committer import Committer
    from hengwen.engine.limits.limiter import Limiter
    from hengwen.engine.memory_ledger import MemoryLedger
    from hengwen.engine.metered_backend import CallContext
    from hengwen.judges import RubricJudge, RulesJudge
    from hengwen.plans.suite import build_backend

    if judge == RULES_JUDGE:
        yield RulesJudge(rubric=rubric, language=language)
        return
    backend = build_backend(judge_spec(judge, base_url))
    ledger = MemoryLedger()
    metered = CallContext(ledger, Committer(ledger), "doctor").wrap(backend, "judge", Limiter(CONCURRENCY))
    try:
        with count_bar("calls", quiet=False) as progress:
            counting = _counting(metered, progress) if progress else metered
            yield RubricJudge(rubric=rubric, backend=counting, language=language)
    finally:
        await backend.close()


def _counting(backend: Backend, progress: Callable[[int], None]) -> Backend:
    """Wrap a backend so that it reports the number of its completed calls."""
    from hengwen.judges.trust.admission_variants import FreshCallBackend

    class CountingBackend(FreshCallBackend):
        done = 0

        async def complete(self, request: Request) -> Reply:
            try:
                return await super().complete(request)
            finally:
                self.done += 1
                progress(self.done)

    return CountingBackend(backend, 0)


def _print_results(
    judge: str, rubric: Rubric, admission: AdmissionReport, language: Language, *, as_json: bool
) -> None:
    canaries = admission.attacks
    if as_json:
        import json

        results: dict[str, Any] = {"schema": 1, "admission": admission.as_dict()}
        results["canaries"] = canaries.as_dict() if canaries else None
        typer.echo(json.dumps(results, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_table(judge, rubric, admission, language))
    console.print(LEGEND.in_language(language), style="dim")
    if canaries is not None:
        console.print(canary_table(judge, rubric.name, canaries))
    verdict = Text(f"{judge} on {rubric.name}: ")
    verdict.append(admission.verdict, style="bold" if admission.verdict == "admitted" else "bold red")
    if canaries is not None:
        counts = canaries.counts
        verdict.append(f"; fooled by {counts['fooled']} of {len(canaries.results)} attacks")
    console.print(verdict)
    if admission.reasons:
        console.print(Text(f"because: {'; '.join(admission.reasons)}"))


def _table(judge: str, rubric: Rubric, admission: AdmissionReport, language: Language) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{judge}, {rubric.name}, {admission.verdicts} verdicts")
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    first, *numbers, last = (column.in_language(language) for column in COLUMNS)
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right")
    table.add_column(last)
    for check in admission.checks:
        _add_check(table, check, language)
    return table


def _add_check(table: Table, check: Check, language: Language) -> None:
    from rich.text import Text

    from hengwen.judges.trust.admission_report import CRITERIA

    style = {"failed": "bold red", "not_applicable": "dim"}.get(check.status, "")
    result = Text(f"{check.status}: {check.note}" if check.note else check.status)
    numbers = (str(check.passed), str(check.n), str(check.no_verdict), _share(check))
    title = CHECK_TITLES[check.name].in_language(language)
    table.add_row(title, *numbers, f"{CRITERIA[check.name].rate:.2f}", result, style=style)
    if check.name != "degraded":
        return
    for kind, counts in check.by_kind.items():
        decided = counts["passed"] + counts["failed"]
        cells = (str(counts["passed"]), str(decided), str(counts["no_verdict"]))
        table.add_row(f"  {kind}", *cells, "", "", "", style="dim")


def _share(check: Check) -> str:
    if check.rate is None or check.interval is None:
        return NOTHING
    return f"{check.rate:.2f} [{check.interval[0]:.2f}, {check.interval[1]:.2f}]"
