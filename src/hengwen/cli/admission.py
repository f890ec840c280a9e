"""``hengwen doctor --judge NAME``: test a judge with the admission test and the packaged attacks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hengwen.cli.ui.inputs import load_trusted, open_or_create_store, print_info, print_warning
from hengwen.cli.ui.output import count_bar
from hengwen.errors import ConfigError
from hengwen.judges.trust.admission_report import AdmissionReport
from hengwen.judges.trust.canaries import CanaryReport
from hengwen.plans.overrides import RULES_JUDGE
from hengwen.plans.plan import BackendSpec
from hengwen.plans.suite import ConfiguredJudge
from hengwen.prompts.rubric import Rubric
from hengwen.protocols import Backend, Judge
from hengwen.records import Reply, Request
from hengwen.text.language import Language

CONCURRENCY = 8
"""Maximum number of concurrent calls."""
EXIT_CODES = {"admitted": 0, "not admitted": 3, "inconclusive": 4}


@dataclass(frozen=True, slots=True)
class JudgeToTest:
    """A judge with its settings, not yet connected to its model."""

    name: str
    """PROVIDER/MODEL, or the plug-in of a judge without a model, such as ``rules``."""
    rubric: Rubric
    rubric_source: str
    language: Language
    backend: BackendSpec | None
    build: Callable[..., Judge]
    """Build the judge with a ``backend``, or without one if it has no model."""
    plan: str = ""
    """Path of the plan that sets the judge."""


def judge_by_name(judge: str, base_url: str | None, rubric: str, language: Language) -> JudgeToTest:
    """Return the judge that ``--judge`` names, at temperature 0."""
    from hengwen.judges import RubricJudge, RulesJudge
    from hengwen.plans.overrides import judge_spec
    from hengwen.prompts import load_rubric

    loaded = load_rubric(rubric)
    spec = None if judge == RULES_JUDGE else judge_spec(judge, base_url)
    kind = RulesJudge if spec is None else RubricJudge
    return JudgeToTest(judge, loaded, rubric, language, spec, partial(kind, rubric=loaded, language=language))


def judges_of_plan(path: Path, *, judge: str | None, base_url: str | None, trust: bool) -> list[JudgeToTest]:
    """Return the judges of a plan as it sets them, each once, the members of a panel too."""
    from hengwen.plans.overrides import resolve_plan
    from hengwen.plans.suite import load_judges

    trusted = load_trusted(path, trust=trust, judge=judge, base_url=base_url)
    plan = resolve_plan(trusted, judge=judge, base_url=base_url)
    loaded = load_judges(plan, trust=True)
    judges: dict[str, JudgeToTest] = {}
    for configured in (configured for task in loaded.tasks for configured in task.panel):
        spec = configured.spec
        for backend in (*(plan.backends[name] for name in spec.backend_names),) or (None,):
            name = spec.plugin if backend is None else f"{backend.provider}/{backend.model}"
            build = partial(_member, configured)
            settings = (spec.rubric, spec.plugin, spec.language, spec.level_from, spec.options, backend)
            judges[repr(settings)] = JudgeToTest(
                name, configured.rubric, spec.rubric, spec.language, backend, build, str(path)
            )
    if not judges:
        raise ConfigError(
            f"{path}: the plan has no judge; add judges: to a task, or test --judge PROVIDER/MODEL alone"
        )
    return list(judges.values())


def _member(configured: ConfiguredJudge, **backend: Backend) -> Judge:
    return configured.members("", list(backend.values()))[0]


def admission_of(judge: JudgeToTest, *, dry_run: bool) -> AdmissionReport | None:
    """Print how many judgments are needed, and test the judge; None for a dry run."""
    import asyncio

    from hengwen.prompts.rubric import ONE_LANGUAGE

    if judge.rubric.is_in_one_language:
        print_warning(ONE_LANGUAGE.format(judge.rubric.name))
    print_info(cost_text(judge))
    if dry_run:
        return None
    return asyncio.run(_test_judge(judge))


def store_admission(location: str, admission: AdmissionReport) -> None:
    """Keep the result of an admission test in a store, so that reports on this judge can name it."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    from hengwen.judges.trust.admission_report import AdmissionRecord, judge_key

    tested = datetime.now(UTC).isoformat(timespec="seconds")
    record = AdmissionRecord.of(admission, tested)
    with open_or_create_store(location) as store:
        if store.read_only:
            print_warning(f"{store.name} is read-only: the result is not stored")
            return
        store.save_admission(judge_key(admission.judge), tested, asdict(record))
        print_info(f"{store.name}: the result is stored; reports of this store name it with the judge")


def exit_code(admission: AdmissionReport) -> int:
    """Print warnings about a tested judge, and return the exit code."""
    if admission.silent:
        failed = next(trial for check in admission.checks for trial in check.trials if trial.message)
        print_warning(f"no verdict at all, attacks skipped; first: {failed.message}")
        return 1
    return 1 if _warn_of_missing_verdicts(admission.attacks) else EXIT_CODES[admission.verdict]


def _warn_of_missing_verdicts(attacks: CanaryReport | None) -> bool:
    """Print a warning if the judge failed on some attacks; return whether it failed on all of them."""
    results = () if attacks is None else attacks.results
    failed = [result for result in results if result.outcome == "failed"]
    if failed:
        print_warning(f"{len(failed)} of {len(results)} attacks have no verdict; first: {failed[0].message}")
    return bool(failed) and len(failed) == len(results)


def cost_text(judge: JudgeToTest) -> str:
    """Return a sentence with the number of judgments and calls that the test of a judge needs."""
    from hengwen.judges.trust.admission_plan import plan_admission
    from hengwen.judges.trust.canaries import load_canaries

    checks = len(plan_admission(judge.rubric, language=judge.language).queries)
    attacks = 2 * len(load_canaries())
    count = f"{checks + attacks} verdicts, {checks} for admission, {attacks} for attacks"
    cost = "no calls" if judge.backend is None else "one call each, up to two more to repair a reply"
    return f"{judge.name} on {judge.rubric.name}: {count}; {cost}"


async def _test_judge(judge: JudgeToTest) -> AdmissionReport:
    from hengwen.judges import admission_test
    from hengwen.judges.trust.canaries import run_canaries

    async with _open_judge(judge) as opened:
        admission = await admission_test(
            opened, judge.rubric, language=judge.language, concurrency=CONCURRENCY
        )
        if admission.silent:
            return admission
        return replace(admission, attacks=await run_canaries(opened, judge.rubric, concurrency=CONCURRENCY))


@asynccontextmanager
async def _open_judge(judge: JudgeToTest) -> AsyncIterator[Judge]:
    from hengwen.engine.limits import Limiter
    from hengwen.engine.metered_backend import CallContext, Committer, LedgerBackend
    from hengwen.engine.recorder import MemoryLedger
    from hengwen.plans.suite import build_backend

    if judge.backend is None:
        yield judge.build()
        return
    backend = build_backend(judge.backend)
    ledger = MemoryLedger()
    context = CallContext(ledger, Committer(ledger), "doctor")
    metered = LedgerBackend(context, backend, "judge", Limiter(CONCURRENCY))
    try:
        with count_bar("calls", quiet=False) as progress:
            yield judge.build(backend=_counting(metered, progress) if progress else metered)
    finally:
        await backend.close()


def _counting(backend: Backend, progress: Callable[[int], None]) -> Backend:
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
