"""``hengwen calibrate PLAN_OR_STORE…``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.inputs import load_trusted, open_existing_store, print_error, print_info, print_warning
from hengwen.cli.ui.output import Face
from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from hengwen.judges.calibration import Calibration
    from hengwen.labels.calibration_data import CalibrationRequest, JudgedScore, StoredJudgments
    from hengwen.monitoring.judge_trust import JudgeTrust

NOT_CERTIFIED = 3
"""Exit code if a judge is not certified."""
INCONCLUSIVE = 4
"""Exit code if the labels are inconclusive, or a calibration is stale (made for another judge or rubric)."""


def calibrate(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAN_OR_STORE",
            help="Plans (.yaml) whose runs are in --store, or stores; default: --store.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", help="Human labels, .csv or .jsonl; default: those of the plan, or of the runs."
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Only check whether the calibrations in this file are still valid."),
    ] = None,
    score: options.Scores = None,
    rubric: Annotated[
        str | None, typer.Option("--rubric", help="Rubric of the scores; default: the plan's.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            min=-1,
            max=1,
            help="Minimum of kappa's lower bound for a certificate; default 0.5.",
        ),
    ] = None,
    raters: Annotated[
        str,
        typer.Option(
            "--raters", help="Value of several raters: their mean, the majority's, or the name of one rater."
        ),
    ] = "mean",
    seed: options.Seed = 0,
    store: options.Store = options.DEFAULT_STORE,
    trust: options.Trust = False,
    *,
    face: Face,
) -> None:
    """Compare a judge's scores with human labels: agreement, bias, corrected means.

    If a judge used the same rubric in several tasks, there is one calibration for each task, and another for
    all these tasks together. Exits with 3 if a judge is not certified, else with 4 if labels are inconclusive
    (too few, or all alike) or a calibration is stale.
    """
    from hengwen.documents.judges.calibrate import calibrate_document
    from hengwen.documents.judges.calibration_words import remark_text

    if check is not None:
        raise typer.Exit(_check(check, (sources or [store])[0], store, trust=trust))
    face.check(_inputs(sources or [store], labels, store) if face.output else ())
    how: dict[str, Any] = {"threshold": threshold, "seed": seed, "raters": raters}
    calibrations: list[Calibration] = []
    judges: list[JudgeTrust] = []
    stale = False
    for source in sources or [store]:
        new, judges_of_source, outdated = _calibrate_source(
            source, labels, store, score or (), rubric, trust=trust, **how
        )
        calibrations += new
        judges += judges_of_source
        stale = stale or outdated
    if face.is_silent:
        for calibration in calibrations:
            for warning in calibration.warnings:
                print_warning(f"{calibration.address}: {remark_text(warning).en}")
    if not calibrations:
        face = replace(face, output=None)
    face.show(calibrate_document(calibrations, judges), face.language())
    decisions = {calibration.decision for calibration in calibrations}
    if "not certified" in decisions:
        raise typer.Exit(NOT_CERTIFIED)
    raise typer.Exit(INCONCLUSIVE if stale or "insufficient" in decisions else 0)


def _inputs(sources: Sequence[str], labels: Path | None, store: str) -> list[Path]:
    """Return the files that are read, which no output may replace."""
    from hengwen.plans.overrides import input_files
    from hengwen.plans.plan import load_plan
    from hengwen.store import store_files

    inputs = [*store_files(store), *([labels] if labels else ())]
    for source in sources:
        inputs += [Path(source), *input_files(load_plan(source))] if _is_plan(source) else store_files(source)
    return inputs


def _is_plan(source: str) -> bool:
    return source.lower().endswith((".yaml", ".yml"))


def _read(
    source: str, labels: Path | None, store: str, *, trust: bool
) -> tuple[CalibrationRequest, StoredJudgments]:
    from hengwen.labels.calibration_data import load_request, read_judgments

    plan = load_trusted(Path(source), trust=trust) if _is_plan(source) else None
    request = load_request(plan, labels, trust=True)
    with open_existing_store(store if _is_plan(source) else source) as opened:
        return request, read_judgments(opened, request.plan)


def _calibrate_source(
    source: str,
    labels: Path | None,
    store: str,
    scores: Sequence[str],
    rubric: str | None,
    *,
    trust: bool,
    **how: Any,
) -> tuple[list[Calibration], tuple[JudgeTrust, ...], bool]:
    """Return calibrations, what else is known of judges, and whether a changed rubric left out a score."""
    from hengwen.labels.calibration_data import (
        calibrate_score,
        labels_for,
        merge_scores,
        pool_scores,
        rubric_change,
        rubric_for,
        select_scores,
    )
    from hengwen.monitoring.judge_trust import judge_trust

    request, judgments = _read(source, labels, store, trust=trust)
    selected = select_scores(request, judgments, scores)
    if not labels_for(request, judgments):
        raise ConfigError(
            f"{source}: there are no labels to compare with; label answers with: hengwen label PLAN, or name "
            "a file of labels: --labels FILE, or labels: in the plan"
        )
    if not selected:
        raise ConfigError(f"{source}: no label names a judged score; check task and score of the labels")
    current: list[JudgedScore] = []
    for judged in selected:
        change = rubric_change(judged, rubric_for(request, judged, rubric))
        if change:
            print_error(f"{judged.address}: {change}: run the plan again, then calibrate")
            continue
        if judged.excluded:
            print_warning(f"{judged.address}: excluded {judged.excluded} answers scored by an earlier judge")
        current.append(judged)
    pooled = [merge_scores(group) for group in pool_scores(current)]
    calibrations = [
        calibrate_score(judged, request, judgments, rubric=rubric_for(request, judged, rubric), **how)
        for judged in [*current, *pooled]
    ]
    with open_existing_store(store if _is_plan(source) else source) as opened:
        used = {judged.address for judged in current}
        judges = judge_trust(opened, judgments.runs, calibrations, used=used)
    return calibrations, judges, len(current) < len(selected)


def _check(file: Path, source: str, store: str, *, trust: bool) -> int:
    """Print whether each calibration of a file is valid for the newest runs, and return the exit code."""
    from hengwen.judges.calibration import read_calibrations
    from hengwen.labels.calibration_data import why_invalid

    calibrations = read_calibrations(file)
    request, judgments = _read(source, None, store, trust=trust)
    code = 0
    for calibration in calibrations:
        reasons = why_invalid(calibration, request, judgments)
        for reason in reasons:
            print_error(f"{calibration.address}: {reason}")
        if reasons:
            code = INCONCLUSIVE
        else:
            print_info(f"{calibration.address}: {calibration.decision}, still valid")
    return code
