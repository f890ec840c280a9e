"""``hengwen doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_existing_store, print_line
from hengwen.cli.ui.output import Face
from hengwen.cli.ui.usage import Without
from hengwen.errors import ConfigError, HengwenError

if TYPE_CHECKING:
    from hengwen.cli.admission import JudgeToTest

EXTRA_MODULES = {
    "inspect": "zipfile_zstd",
    "langchain-openai": "langchain_openai",
    "parquet": "pyarrow",
    "postgres": "psycopg",
    "ray": "ray",
    "text": "nltk",
}
"""For each optional dependency group, a module that shows whether the group is installed."""


def doctor(
    plan: Annotated[
        Path | None, typer.Argument(help="Plan (.yaml) whose judges are tested as it sets them.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    rubric: Annotated[
        str,
        typer.Option("--rubric", help="Rubric of --judge: a packaged rubric, or the path of one."),
    ] = "persona_generic",
    prompt_lang: options.PromptLang = "zh",
    dry_run: options.DryRun = False,
    trust: options.Trust = False,
    *,
    face: Annotated[Face, Without("quiet")],
) -> None:
    """Show what is installed; with PLAN or --judge, test whether judges can be trusted with their rubrics.

    The test checks whether the judge reproduces the levels of the rubric's examples, notices a swapped
    persona and degraded answers, ignores padding, repeats its own verdicts, and withstands packaged attacks.
    Exit codes: 0 admitted, 3 not admitted, 4 inconclusive, 1 no verdict at all. Of several
    judges, the first of 1, 3, 4 and 0 that one has.
    """
    if plan is not None or judge is not None:
        from hengwen.cli.admission import judge_by_name, judges_of_plan

        prompts = options.parse_language(prompt_lang, "--prompt-lang")
        if plan is not None:
            judges = judges_of_plan(plan, judge=judge, base_url=base_url, trust=trust)
        else:
            judges = [judge_by_name(str(judge), base_url, rubric, prompts)]
        raise typer.Exit(_test(judges, store, face, dry_run=dry_run))
    import os
    import platform
    from importlib.metadata import requires
    from importlib.util import find_spec

    from hengwen import registry
    from hengwen.runs.run_job import package_versions

    print_line(f"python {platform.python_version()} on {platform.system()} {platform.machine()}")
    print_line(", ".join(" ".join(item) for item in package_versions().items()))
    core = [name for name in requires("hengwen") or () if "extra ==" not in name]
    print_line(f"core dependencies: {len(core)} declared")
    for extra, module in EXTRA_MODULES.items():
        status = "installed" if find_spec(module) else f"not installed (pip install 'hengwen[{extra}]')"
        print_line(f"extra {extra}: {status}")
    for group in registry.BUILTINS:
        print_line(f"{group}: {', '.join(registry.known(group))}")
    key = "set" if os.environ.get("OPENAI_API_KEY") else "not set"
    print_line(f"OPENAI_API_KEY: {key}; used only if a plan or --judge names a judge that needs it")
    print_line(_store_line(store))


def _test(judges: list[JudgeToTest], store: str, face: Face, *, dry_run: bool) -> int:
    """Test judges one after the other; return the exit code of the worst."""
    from hengwen.cli.admission import EXIT_CODES, admission_of, exit_code, store_admission
    from hengwen.documents.judges.doctor import doctor_document

    face.check()
    if len(judges) > 1 and (face.as_json or face.output):
        names = ", ".join(judge.name for judge in judges)
        raise ConfigError(f"the plan has {len(judges)} judges ({names}); --json and --output take one judge")
    codes = []
    for judge in judges:
        admission = admission_of(judge, dry_run=dry_run)
        if admission is None:
            continue
        if not admission.silent:
            store_admission(store, admission)
            document = doctor_document(judge.name, judge.rubric_source, admission, judge.plan)
            face.show(document, face.language())
        codes.append(exit_code(admission))
    worst_first = (1, EXIT_CODES["not admitted"], EXIT_CODES["inconclusive"])
    return next((code for code in worst_first if code in codes), 0)


def _store_line(location: str) -> str:
    try:
        with open_existing_store(location) as opened:
            return f"store {opened.name}: {len(opened.runs())} runs"
    except HengwenError as error:
        return f"store: {error}"
