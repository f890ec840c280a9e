"""``hengwen doctor --judge NAME``: test a judge with the admission test and the packaged attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hengwen.cli.ui.messages import print_info, print_warning
from hengwen.cli.ui.progress import count_bar
from hengwen.plans.overrides import RULES_JUDGE, judge_spec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from hengwen.judges.trust.admission_report import AdmissionReport
    from hengwen.judges.trust.canaries import CanaryReport
    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend, Judge
    from hengwen.records import Reply, Request
    from hengwen.text.language import Language

CONCURRENCY = 8
"""Maximum number of concurrent calls."""
EXIT_CODES = {"admitted": 0, "not admitted": 3, "inconclusive": 4}


def admission_of(
    judge: str, base_url: str | None, rubric: Rubric, language: Language, *, dry_run: bool
) -> AdmissionReport:
    """Print how many judgments are needed, and test the judge; a dry run ends the program before the test."""
    import asyncio

    from hengwen.prompts.rubric import ONE_LANGUAGE

    if rubric.is_in_one_language:
        print_warning(ONE_LANGUAGE.format(rubric.name))
    if judge != RULES_JUDGE:
        judge_spec(judge, base_url)  # raises an error for a wrong name before anything is printed
    print_info(cost_text(judge, rubric, language))
    if dry_run:
        raise typer.Exit
    admission = asyncio.run(_test_judge(judge, base_url, rubric, language))
    if admission.silent:
        failed = next(trial for check in admission.checks for trial in check.trials if trial.message)
        print_warning(f"no verdict at all, attacks skipped; first: {failed.message}")
        raise typer.Exit(1)
    return admission


def store_admission(location: str, admission: AdmissionReport) -> None:
    """Keep the result of an admission test in a store, so that reports on this judge can name it."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    from hengwen.cli.ui.existing_store import open_or_create_store
    from hengwen.judges.trust.admission_report import AdmissionRecord, judge_key

    tested = datetime.now(UTC).isoformat(timespec="seconds")
    record = AdmissionRecord.of(admission, tested)
    with open_or_create_store(location) as store:
        if store.read_only:
            print_warning(f"{store.name} is read-only: the result is not stored")
            return
        store.save_admission(judge_key(admission.judge), tested, asdict(record))
        print_info(f"{store.name}: the result is stored; reports name it beside the scores of this judge")


def exit_code(admission: AdmissionReport) -> int:
    """Print warnings about a tested judge, and return the exit code."""
    return 1 if _warn_of_missing_verdicts(admission.attacks) else EXIT_CODES[admission.verdict]


def _warn_of_missing_verdicts(attacks: CanaryReport | None) -> bool:
    """Print a warning if the judge failed on some attacks; return whether it failed on all of them."""
    results = () if attacks is None else attacks.results
    failed = [result for result in results if result.outcome == "failed"]
    if failed:
        print_warning(f"{len(failed)} of {len(results)} attacks have no verdict; first: {failed[0].message}")
    return bool(failed) and len(failed) == len(results)


def cost_text(judge: str, rubric: Rubric, language: Language) -> str:
    """Return a sentence with the number of judgments and calls that the test of a judge needs."""
    from hengwen.judges.trust.admission_plan import plan_admission
    from hengwen.judges.trust.canaries import load_canaries

    checks, attacks = len(plan_admission(rubric, language=language).queries), 2 * len(load_canaries())
    count = f"{checks + attacks} verdicts, {checks} for admission, {attacks} for attacks"
    cost = "no calls" if judge == RULES_JUDGE else "one call each, up to two more to repair a reply"
    return f"{judge} on {rubric.name}: {count}; {cost}"


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
    from hengwen.judges.trust.admission_run import FreshCallBackend

    class CountingBackend(FreshCallBackend):
        done = 0

        async def complete(self, request: Request) -> Reply:
            try:
                return await super().complete(request)
            finally:
                self.done += 1
                progress(self.done)

    return CountingBackend(backend, 0)
