"""The command line. Each command imports its dependencies only when it runs, so that ``--help`` is fast."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Any

import typer

from hengwen.cli.commands import (
    batch,
    calibrate,
    demo,
    doctor,
    import_,
    init,
    peer_review,
    report,
    run,
    runs,
    schema,
    score,
    validate,
)
from hengwen.cli.commands import view
from hengwen.cli.commands import compare
from hengwen.cli.commands import drift
from hengwen.cli.commands import gate
from hengwen.cli.commands import judge_drift
from hengwen.cli.commands import power
from hengwen.cli.commands import sequence
from hengwen.cli.ui.inputs import lenient_streams, print_error
from hengwen.cli.ui.usage import Commands, OneLineGroup
from hengwen.errors import ConfigError, HengwenError

app = Commands(
    name="hengwen",
    help="Hengwen 衡文 evaluates text written by language models: "
    "objective scorers and rubric judges in one report.",
    epilog="Exit codes: 0 ok, 1 endpoint or store failed, 2 usage or data error, "
    "3 gate failed, judge not admitted or alarm, 4 inconclusive, 5 budget, 130 interrupted.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
PANELS: dict[str, tuple[Any, ...]] = {
    "Everybody": (demo.demo, init.init, run.run, report.report, view.view),
    "Decide": (compare.compare, drift.drift, gate.gate, power.power),
    "Judges": (
        *(doctor.doctor, view.label, calibrate.calibrate, judge_drift.judge_drift),
        peer_review.peer_review,
    ),
    "Data": (
        *(validate.validate, score.score, sequence.sequence),
        *(batch.app, import_.app, runs.export, runs.app, schema.schema, score.serve_reward),
    ),
}
"""The commands by the panel of the help in which they stand."""
GROUPS = {id(batch.app): "batch", id(runs.app): "runs", id(import_.app): "import"}
for panel, members in PANELS.items():
    for member in members:
        name = GROUPS.get(id(member)) or member.__name__.replace("_", "-")
        OneLineGroup.order = (*OneLineGroup.order, name)
        if id(member) in GROUPS:
            app.add_typer(member, name=name, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(member)


def _print_version(requested: bool) -> None:
    if requested:
        from hengwen._internal.version import __version__

        typer.echo(f"hengwen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=_print_version, is_eager=True
    ),
) -> None:
    """Evaluate what language models write."""


def main() -> None:
    """Run the program; a HengwenError, or a system error about a file, is printed as one line on stderr."""
    gc.set_threshold(50_000, 20, 50)  # most objects are of modules, and never garbage
    atexit.register(gc.freeze)  # skip the garbage collection at exit, which takes a fifth of a short run
    with lenient_streams():
        try:
            app()
        except HengwenError as error:
            for text in (str(error), *getattr(error, "__notes__", ())):
                print_error(text)
            sys.exit(error.exit_code)
        except OSError as error:
            if not isinstance(error.filename, (str, os.PathLike)):  # an OSError that does not name a file
                raise
            print_error(f"{error.filename}: {(error.strerror or str(error)).lower()}")
            sys.exit(ConfigError.exit_code)
