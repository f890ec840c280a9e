"""``hengwen calibrate PLAN_OR_STORE…``: how far a judge agrees with people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.judges.calibration import Calibration
    from hengwen.labels.calibration_data import CalibrationRequest, ScoreSeries, StoredJudgments
    from hengwen.prompts import Rubric

INCONCLUSIVE = 4


def calibrate(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PLAN_OR_STORE]...",
            help="Plans (.yaml), whose runs are in --store, or stores; default: --store.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="Human values, .csv or .jsonl; default: the plan's, or the runs'."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the calibration, .json.")
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", help="Measure nothing: say whether this calibration still holds."),
    ] = None,
    score: Annotated[list[str] | None, typer.Option("--score", help="Only TASK/SCORE; repeatable.")] = None,
    rubric: Annotated[str | None, typer.Option("--rubric", help="Of the scores, without a plan.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=-1, max=1, help="What kappa's lower bound must reach; default 0.5."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of folds and bootstrap.")] = 0,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare a judge's scores with human labels: agreement, bias, calibration maps, corrected means.

    Leaves with 4 where the labels cannot tell (too few, all alike) or a calibration is stale.
    """
    from hengwen.errors import ConfigError

    if output is not None and output.suffix.lower() != ".json":
        raise ConfigError(f"a calibration is written as .json, got {str(output)!r}")
    if check is not None:
        raise typer.Exit(_check(check, (sources or [store])[0], store))
    made: list[Calibration] = []
    stale = False
    for source in sources or [store]:
        measured, outdated = _measure(source, labels, store, score or (), rubric, threshold, seed)
        made += measured
        stale = stale or outdated
    _show(made, output, as_json=as_json, quiet=quiet)
    raise typer.Exit(INCONCLUSIVE if stale or any(one.decision == "insufficient" for one in made) else 0)


def _read(source: str, labels: Path | None, store: str) -> tuple[CalibrationRequest, StoredJudgments]:
    from hengwen.cli.commands.runs import open_existing_store
    from hengwen.labels.calibration_data import ask, find

    is_plan = source.lower().endswith((".yaml", ".yml"))
    asked = ask(Path(source) if is_plan else None, labels)
    with open_existing_store(store if is_plan else source) as opened:
        return asked, find(opened, asked.plan)


def _measure(
    source: str,
    labels: Path | None,
    store: str,
    names: Sequence[str],
    rubric: str | None,
    threshold: float | None,
    seed: int,
) -> tuple[list[Calibration], bool]:
    """Calibrate what has labels; and say whether a score was judged by a rubric that has changed since."""
    from hengwen.errors import ConfigError
    from hengwen.labels.calibration_data import rubric_of, wanted

    asked, found = _read(source, labels, store)
    materials = wanted(asked, found, names)
    if not materials:
        raise ConfigError(
            f"{source}: no label is of a score that a judge gave; see task and score of the labels"
        )
    made = []
    for material in materials:
        used = rubric_of(asked, material, rubric)
        if not _outdated(material, used):
            made.append(_calibration(material, asked, found, used, threshold, seed))
    return made, len(made) < len(materials)


def _calibration(
    material: ScoreSeries,
    asked: CalibrationRequest,
    found: StoredJudgments,
    rubric: Rubric | None,
    threshold: float | None,
    seed: int,
) -> Calibration:
    from datetime import UTC, datetime

    from hengwen.cli.ui.messages import print_warning
    from hengwen.errors import DataError
    from hengwen.judges.calibration import calibrate as measure
    from hengwen.judges.calibration.certify import THRESHOLD
    from hengwen.labels.calibration_data import labels_of, levels_of

    if material.others:
        print_warning(
            f"{material.address}: {material.others} answers were scored by another judge before: left out"
        )
    try:
        return measure(
            labels_of(asked, found),
            material.answers,
            score=material.score,
            rubric=rubric,
            levels=levels_of(rubric, material),
            threshold=THRESHOLD if threshold is None else threshold,
            seed=seed,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    except ValueError as error:
        raise DataError(f"{material.address}: {error}") from None


def _outdated(material: ScoreSeries, rubric: Rubric | None) -> bool:
    """Whether the runs were judged by another rubric than the one that is there now; says so."""
    from hengwen.cli.ui.messages import print_error
    from hengwen.judges.calibration import rubric_hash_of

    judged_by = rubric_hash_of(material.signature)
    if rubric is None or not judged_by or judged_by == rubric.hash:
        return False
    print_error(
        f"{material.address}: judged by rubric {judged_by}, but {rubric.name} is now {rubric.hash}: "
        "run the plan again, then calibrate"
    )
    return True


def _check(file: Path, source: str, store: str) -> int:
    """Say of each calibration of a file whether it holds for the newest runs; return the exit code."""
    from hengwen.cli.ui.messages import print_error, print_info
    from hengwen.judges.calibration import is_stale, read_calibrations, rubric_hash_of

    calibrations = read_calibrations(file)
    asked, found = _read(source, None, store)
    code = 0
    for one in calibrations:
        place = one.task, one.score
        material = found.materials.get(place)
        if material is None:
            print_error(f"{one.address}: calibrated, but the newest runs have no such score")
            code = INCONCLUSIVE
            continue
        rubric = asked.rubrics.get(place)
        differences = is_stale(
            one, material.signature, rubric.hash if rubric else rubric_hash_of(material.signature)
        )
        for difference in differences:
            print_error(f"{one.address}: stale: {difference}")
        if not differences:
            print_info(f"{one.address}: {one.decision}, still holds")
        code = INCONCLUSIVE if differences else code
    return code


def _show(made: Sequence[Calibration], output: Path | None, *, as_json: bool, quiet: bool) -> None:
    from hengwen.cli.ui.messages import print_info, print_warning
    from hengwen.judges.calibration.artifact import calibrations_json, write_calibrations

    if as_json:
        typer.echo(calibrations_json(made), nl=False)
    elif not quiet:
        from hengwen.cli.ui.calibration_table import print_calibrations

        print_calibrations(made)
    for one in made:
        for warning in one.warnings:
            print_warning(f"{one.address}: {warning}")
    if output is not None and made:
        print_info(f"calibration: {write_calibrations(output, made)}")
