"""``hengwen doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.messages import print_line
from hengwen.cli.ui.output import Face
from hengwen.cli.ui.usage import Without

EXTRA_MODULES = {
    "inspect": "zipfile_zstd",
    "langchain-openai": "langchain_openai",
    "parquet": "pyarrow",
    "postgres": "psycopg",
    "ray": "ray",
    "text": "nltk",
    "view": "uvicorn",
}
"""For each optional dependency group, a module that shows whether the group is installed."""


def doctor(
    store: options.Store = options.DEFAULT_STORE,
    judge: options.Judge = None,
    base_url: options.BaseUrl = None,
    rubric: Annotated[
        str, typer.Option("--rubric", help="Rubric for the test: a packaged rubric, or the path of one.")
    ] = "persona_generic",
    prompt_lang: options.PromptLang = "zh",
    dry_run: options.DryRun = False,
    *,
    face: Annotated[Face, Without("quiet")],
) -> None:
    """Show what is installed; with --judge, test whether a judge can be trusted with a rubric.

    The test checks whether the judge reproduces the levels of the rubric's examples, notices a swapped
    persona and degraded answers, ignores padding, repeats its own verdicts, and withstands packaged attacks.
    Exit codes: 0 admitted, 3 not admitted, 4 inconclusive, 1 no verdict at all.
    """
    if judge is not None:
        from hengwen.cli.admission import admission_of, exit_code, store_admission
        from hengwen.documents.judges.doctor import doctor_document
        from hengwen.prompts import load_rubric

        face.check()
        loaded = load_rubric(rubric)
        prompts = options.parse_language(prompt_lang, "--prompt-lang")
        admission = admission_of(judge, base_url, loaded, prompts, dry_run=dry_run)
        store_admission(store, admission)
        face.show(doctor_document(judge, rubric, admission), face.language())
        raise typer.Exit(exit_code(admission))
    import os
    import platform
    from importlib.metadata import requires, version
    from importlib.util import find_spec

    from hengwen import registry
    from hengwen.runs.run_job import PACKAGES

    print_line(f"python {platform.python_version()} on {platform.system()} {platform.machine()}")
    print_line(", ".join(f"{name} {version(name)}" for name in PACKAGES))
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


def _store_line(location: str) -> str:
    from hengwen.cli.ui.existing_store import open_existing_store
    from hengwen.errors import HengwenError

    try:
        with open_existing_store(location) as opened:
            return f"store {opened.name}: {len(opened.runs())} runs"
    except HengwenError as error:
        return f"store: {error}"
