"""``hengwen gate PLAN``."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import open_existing_store, print_warning
from hengwen.cli.ui.output import Face
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.gates.results import GateReport
    from hengwen.plans.plan import Plan
    from hengwen.text.language import Language

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
"""Environment variable in which GitHub Actions names the summary file of a workflow step."""


def gate(
    plan: Annotated[
        Path,
        typer.Argument(help="The plan, a YAML file; or with --gate the name of a plan in the store."),
    ],
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            help="Run to check: id, prefix or checkpoint; default: the newest run of the last checkpoint.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="Run, checkpoint or git:REF to compare with; default: the pinned run."
        ),
    ] = None,
    expressions: Annotated[
        list[str] | None,
        typer.Option("--gate", help="Check this gate instead of those of the plan; repeatable."),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            "--calibration",
            help="File written by hengwen calibrate; gates on judges without a certificate in it only warn.",
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option("--summary", help="Write a summary in Markdown.")] = None,
    comment: Annotated[
        Path | None, typer.Option("--comment", help="Write a comment for a pull request in Markdown.")
    ] = None,
    store: options.Store = options.DEFAULT_STORE,
    *,
    face: Face,
) -> None:
    """Check whether a stored run meets the gates (conditions on scores) of a plan.

    The mean of a score is not enough to decide: a gate uses a confidence interval or a statistical test.
    Exits with 0 if all gates pass, 3 if a gate fails, 4 if a gate is inconclusive, 1 if no answer has the
    score of a gate.
    """
    from hengwen.documents.gates.gate import gate_document
    from hengwen.io.output_files import check_output
    from hengwen.judges.calibration import read_calibrations
    from hengwen.monitoring.gates.baselines import Baselines
    from hengwen.monitoring.gates.evaluate_gates import evaluate_run, plan_gates, run_under_test
    from hengwen.plans.overrides import input_files
    from hengwen.plans.plan import load_plan
    from hengwen.store import store_files

    loaded = _named_plan(plan, expressions or ()) or load_plan(plan)
    files = {"--junit": junit, "--summary": summary, "--comment": comment}
    inputs = [plan, *input_files(loaded), *([calibration] if calibration else ()), *store_files(store)]
    for path in files.values():
        if path is not None:
            check_output(path, inputs)
    face.check(inputs)
    _check_different({**files, **{f"--output {path}": path for path in face.output or ()}})
    gates, locations = plan_gates(loaded, expressions or ())
    calibrations = read_calibrations(calibration) if calibration else ()
    with open_existing_store(store) as opened:
        tested = run_under_test(opened, loaded, run)
        baselines = Baselines(store=opened, plan=loaded, run=tested, default=baseline)
        report = evaluate_run(gates, baselines, calibrations, locations=locations)
    language = face.report_language([report.run])
    _write(report, language, junit=junit, summary=summary, comment=comment)
    if face.is_silent:
        for warning in report.warnings:
            print_warning(warning)
    face.show(gate_document(report), language)
    raise typer.Exit(report.exit_code)


def _named_plan(plan: Path, expressions: Sequence[str]) -> Plan | None:
    """Return a plan that has only its name, as imported scores have it; None if a file is meant."""
    from hengwen.plans.plan import Plan

    if not expressions or plan.suffix.lower() in (".yaml", ".yml") or plan.exists():
        return None
    return Plan.model_construct(name=str(plan), tasks=[], checkpoints=[])


def _check_different(files: Mapping[str, Path | None]) -> None:
    """Raise an error if two options, or an option and GitHub's summary variable, name the same file."""
    from hengwen.io.output_files import is_same_file

    step_summary = os.environ.get(SUMMARY_VARIABLE)
    named = {**files, SUMMARY_VARIABLE: Path(step_summary) if step_summary else None}
    paths = [(name, path) for name, path in named.items() if path is not None]
    for (name, path), (other_name, other) in combinations(paths, 2):
        if is_same_file(path, other):
            raise ConfigError(f"{name} and {other_name} name the same file; name different files")


def _write(
    report: GateReport,
    language: Language,
    *,
    junit: Path | None,
    summary: Path | None,
    comment: Path | None,
) -> None:
    from hengwen.cli.gate_files import comment_markdown, junit_xml, summary_markdown
    from hengwen.io.output_files import atomic_write

    texts = {junit: junit_xml, summary: summary_markdown, comment: comment_markdown}
    for path, text_of in texts.items():
        if path is not None:
            with atomic_write(path) as temporary:
                temporary.write_text(text_of(report, language), encoding="utf-8", newline="\n")
    step_summary = os.environ.get(SUMMARY_VARIABLE)
    if step_summary:
        with Path(step_summary).open("a", encoding="utf-8", newline="\n") as file:
            file.write(summary_markdown(report, language))
