"""The command line. Each command imports its dependencies only when it runs, so that ``--help`` is fast."""

from __future__ import annotations

import atexit
import gc
import os
import sys

import typer

from hengwen._internal.gc_tuning import relaxed_gc
from hengwen.cli.commands import (
    batch,
    calibrate,
    corpus,
    demo,
    doctor,
    import_,
    init,
    judge,
    label,
    peer_review,
    report,
    run,
    runs,
    schema,
    score,
    validate,
)
from hengwen.cli.commands.monitoring import compare, drift, gate, judge_drift, power, sequence, view
from hengwen.cli.ui.inputs import read_env_file
from hengwen.cli.ui import options
from hengwen.cli.ui.messages import lenient_streams, print_error
from hengwen.cli.ui.usage import Commands
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
for group, name in ((batch.app, "batch"), (runs.app, "runs"), (import_.app, "import")):
    app.add_typer(group, name=name)
for command in (
    *(demo.demo, init.init, validate.validate, run.run, score.score, corpus.corpus, judge.judge, label.label),
    *(sequence.sequence, calibrate.calibrate, report.report, view.view, compare.compare, sequence.monitor),
    *(gate.gate, peer_review.peer_review, peer_review.peer_review_plan, power.power, drift.drift),
    *(judge_drift.judge_drift, runs.export, score.serve_reward, doctor.doctor, schema.schema),
):
    app.command(command.__name__.replace("_", "-"))(command)


def _print_version(requested: bool) -> None:
    if requested:
        from hengwen._internal.version import __version__

        typer.echo(f"hengwen {__version__}")
        raise typer.Exit


@app.callback()
def _root(  # noqa: PLR0913, PLR0917 - the options that commands inherit
    version: bool = typer.Option(  # noqa: ARG001 - its callback prints and exits
        False, "--version", help="Show the version.", callback=_print_version, is_eager=True
    ),
    store: options.Store = options.DEFAULT_STORE,  # noqa: ARG001 - commands inherit this and the following
    output: options.Outputs = None,  # noqa: ARG001
    score: options.Scores = None,  # noqa: ARG001
    seed: options.Seed = 0,  # noqa: ARG001
    lang: options.Lang = None,  # noqa: ARG001
    as_json: options.Json = False,  # noqa: ARG001
    quiet: options.Quiet = False,  # noqa: ARG001
    verbose: options.Verbose = False,  # noqa: ARG001
    judge: options.Judge = None,  # noqa: ARG001
    base_url: options.BaseUrl = None,  # noqa: ARG001
    trust: options.Trust = False,  # noqa: ARG001
    dry_run: options.DryRun = False,  # noqa: ARG001
    wait: options.Wait = False,  # noqa: ARG001
    fresh: options.Fresh = False,  # noqa: ARG001
    strict: options.Strict = False,  # noqa: ARG001
    concurrency: options.Concurrency = options.DEFAULT_CONCURRENCY,  # noqa: ARG001
    workers: options.Workers = None,  # noqa: ARG001
    limit: options.Limit = None,  # noqa: ARG001
    budget: options.Budget = None,  # noqa: ARG001
    price: options.Price = None,  # noqa: ARG001
    time_limit: options.TimeLimit = None,  # noqa: ARG001
) -> None:
    read_env_file()


def main() -> None:
    """Run the program; a HengwenError, or a system error about a file, is printed as one line on stderr."""
    atexit.register(gc.freeze)  # skip the garbage collection at exit, which takes a fifth of a short run
    with lenient_streams():
        try:
            with relaxed_gc(freeze=False):  # also while the command imports its modules
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
