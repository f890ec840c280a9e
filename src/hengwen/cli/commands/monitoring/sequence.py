"""``hengwen sequence FILE|-`` and ``hengwen monitor BASELINE STREAM|-``, which read scores in order."""

from __future__ import annotations

import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.output import Face
from hengwen.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.io.row_reader import DataRow
    from hengwen.monitoring.monitor import Monitor
    from hengwen.monitoring.monitor_state import MonitorState


FILE_HELP = "one score per line; '-' for standard input; or .jsonl or .csv with --column."
COLUMN_HELP = "Field of a .jsonl or .csv row that holds the score; with '-', of a JSON object per line."


def read_scores(file: Path, column: str | None) -> Iterator[tuple[DataRow, float]]:
    """Yield each row and its score. A line is read only when its score is needed."""
    from hengwen.io.row_reader import read_number

    for row in _rows(file, column):
        yield row, read_number(row, column or "")


def _rows(file: Path, column: str | None) -> Iterator[DataRow]:
    from hengwen.io.row_reader import bounded_lines, number_rows, open_data_file, read_rows, scan_jsonl

    if str(file) == "-" and column is not None:
        for row in scan_jsonl(bounded_lines(sys.stdin.buffer), file):
            if isinstance(row, DataError):
                raise row
            yield row
    elif str(file) == "-":
        yield from number_rows(bounded_lines(sys.stdin.buffer), file)
    elif file.suffix.lower() in (".jsonl", ".ndjson", ".csv"):
        if column is None:
            raise typer.BadParameter(f"{file} has several fields; name one with --column")
        yield from read_rows(file)
    elif column is not None:
        raise typer.BadParameter("--column is for .jsonl and .csv files")
    else:
        with open_data_file(file) as lines:
            yield from number_rows(bounded_lines(lines), file)


def sequence(
    file: Annotated[Path, typer.Argument(help=f"Scores in order, {FILE_HELP}")],
    column: Annotated[str | None, typer.Option("--column", help=COLUMN_HELP)] = None,
    m: Annotated[int, typer.Option("-m", min=2, max=10, help="Length of an ordinal pattern.")] = 3,
    delay: Annotated[
        int, typer.Option("--delay", min=1, help="Distance between the scores of a pattern.")
    ] = 1,
    top: Annotated[
        float | None, typer.Option("--top", help="Lowest score of the top box; default: the maximum.")
    ] = None,
    seed: options.Seed = 0,
    *,
    face: Face,
) -> None:
    """Describe a sequence of scores: level, permutation entropy, inversions, increasing subsequence."""
    from hengwen.documents.metrics import sequence_document
    from hengwen.relevance_metrics import summarize

    face.check([file])
    scores = [score for _, score in read_scores(file, column)]
    try:
        summary = summarize(scores, m=m, delay=delay, top=top, seed=seed)
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None
    face.show(sequence_document(summary), face.language())


ALARM_EXIT_CODE = 3


def monitor(
    baseline: Annotated[Path, typer.Argument(help="At least 100 earlier scores, in the order of time.")],
    stream: Annotated[Path, typer.Argument(help=f"Scores in order, {FILE_HELP}")],
    column: Annotated[str | None, typer.Option("--column", help=f"{COLUMN_HELP} For both files.")] = None,
    direction: Annotated[
        str, typer.Option("--direction", help="Changes that raise an alarm: both, down or up.")
    ] = "both",
    alpha: Annotated[
        float,
        typer.Option("--alpha", min=0.001, max=0.5, help="Probability of a false alarm within the horizon."),
    ] = 0.05,
    horizon: Annotated[
        int, typer.Option("--horizon", min=1, help="Number of scores for which alpha holds.")
    ] = 1000,
    scale: Annotated[
        tuple[float, float] | None,
        typer.Option("--scale", metavar="LOW HIGH", help="Lowest and highest possible score."),
    ] = None,
    stop: Annotated[
        bool, typer.Option("--stop", help="End at the alarm; default: at the last score.")
    ] = False,
    seed: options.Seed = 0,
    *,
    face: Face,
) -> None:
    """Compare a stream of scores with a baseline, score by score; print an alarm when the mean moves away.

    Exits with 3 if there was an alarm. Standard input is read line by line.
    """
    from hengwen.documents.monitor import alarm_text, monitor_document
    from hengwen.monitoring.monitor import Monitor

    _check_options(baseline, direction, scale)
    face.check([baseline, stream])
    language = face.language()
    scores = [score for _, score in read_scores(baseline, column)]
    try:
        stream_monitor = Monitor(
            scores,
            alpha=alpha,
            horizon=horizon,
            direction=direction,  # type: ignore[arg-type] # checked above
            scale=scale,
            seed=seed,
        )
    except ValueError as error:
        raise DataError(f"{baseline}: {error}") from None
    for state in _states(stream_monitor, stream, column):
        if state.alarm is not None and state.alarm.at == state.n:
            if not face.is_silent:
                typer.echo(alarm_text(state).in_language(language))
            if stop:
                break
    face.show(monitor_document(stream_monitor), language)
    if stream_monitor.alarm_at is not None:
        raise typer.Exit(ALARM_EXIT_CODE)


def _check_options(baseline: Path, direction: str, scale: tuple[float, float] | None) -> None:
    from typing import get_args

    from hengwen.monitoring.monitor_state import AlarmDirection

    if direction not in get_args(AlarmDirection):
        raise typer.BadParameter(f"--direction is both, down or up, got {direction!r}")
    if scale is not None and not -inf < scale[0] < scale[1] < inf:
        raise typer.BadParameter(
            f"--scale takes the lowest and the highest score, got {scale[0]:g} {scale[1]:g}"
        )
    if str(baseline) == "-":
        raise typer.BadParameter("only STREAM can be standard input; name a file for BASELINE")


def _states(stream_monitor: Monitor, stream: Path, column: str | None) -> Iterator[MonitorState]:
    """Yield the state after each score of the stream.

    Raises:
        DataError: A score is off the scale, or the stream has no scores.
    """
    for row, score in read_scores(stream, column):
        try:
            state = stream_monitor.update(score)
        except ValueError as error:
            row.fail(str(error))
        yield state
    if not stream_monitor.state.n:
        raise DataError(f"{stream}: there are no scores to monitor; pass at least one")
