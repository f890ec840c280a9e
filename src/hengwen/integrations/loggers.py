"""Scores in tools that draw a training's curves (``log_run``), or as OpenTelemetry's (``emit_results``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError

from hengwen.documents.render.write import write_document
from hengwen.documents.run.document import report_document
from hengwen.errors import ConfigError, PluginError
from hengwen.plans.plan import LogSpec
from hengwen.records import Run, Score
from hengwen.results.score_summaries import task_scores
from hengwen.runs.run_plan import RunResult
from hengwen.store.store import Store, opened_store

if TYPE_CHECKING:
    Metrics = dict[str, float]
    Write = Callable[[Metrics, int], object]
    Attach = Callable[[Path, int], object]
    """Takes the HTML report and the last step."""


PREFIX = "hengwen"
STEP = f"{PREFIX}/step"
REPORT = f"{PREFIX}/report"


class Log(Protocol):
    """Anything that takes metrics with a step, such as the module ``swanlab`` or verl's ``Tracking``."""

    def log(self, data: dict[str, float], *, step: int) -> object:
        """Log metrics at a step."""
        ...


def log_run(
    result: RunResult | Sequence[Run],
    to: str | dict[str, str] | LogSpec | Log,
    *,
    store: Store | str | None = None,
    step: int | None = None,
) -> int:
    """Log headline scores as ``hengwen/TASK/SCORE``, with ``/low``, ``/high``, ``/coverage``, ``/failures``.

    A score without a value has no mean there, only its coverage and failures: a failure is no 0. The HTML
    report becomes an artefact, except in TensorBoard, which has none.

    Args:
        result: What ``run_plan`` returned, or runs of the store.
        to: ``wandb``, ``swanlab``, ``trackio``, ``mlflow``, ``{"tensorboard": FOLDER}``, or an object with
            ``log(data, step=...)``. W&B gets a run of its own, in the group of the run that is open: rows of
            an earlier step in the trainer's run would make it lose rows of its own. The other tools take
            steps in any order and use the run that is open, or one of their own.
        store: The open store, or its path or URL; default: that of the result.
        step: Step of a run that has none, if there is only one run.

    Returns:
        The number of runs that were logged.

    Raises:
        ConfigError: A run has no step, or the tool is unknown.
        PluginError: The tool is not installed.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import open_store, run_plan
        >>> class Curves:
        ...     def log(self, data, *, step):
        ...         print(step, [name for name in data if name.endswith("total/failures")])
        >>> with open_store("sqlite://") as store:
        ...     result = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
        ...     log_run(result.runs[:1], Curves(), store=store)
        1000 ['hengwen/lyrics/lyric.total/failures']
        1
    """
    runs = result.runs if isinstance(result, RunResult) else tuple(result)
    location = result.store if store is None and isinstance(result, RunResult) else store
    if location is None:
        raise ConfigError("pass the store of the runs: log_run(runs, ..., store=store)")
    steps = {run.id: step if run.step is None and len(runs) == 1 else run.step for run in runs}
    without = [run.checkpoint for run in runs if not _is_whole(steps[run.id])]
    if without:
        raise ConfigError(f"no whole step of {', '.join(without)}: give each checkpoint of the plan a step")
    with opened_store(location) as opened, ExitStack() as stack:
        by_step = [(int(steps[run.id] or 0), _metrics(opened, run)) for run in runs]
        logged = sorted(by_step, key=itemgetter(0))
        if isinstance(to, (str, dict, LogSpec)):
            spec = _spec(to)
            write, attach = stack.enter_context(_TOOLS[spec.tool](tool_of(spec), runs[0].plan, spec.folder))
        else:
            write, attach = lambda metrics, at: to.log(metrics, step=at), None
        for at, metrics in logged:
            write(metrics, at)
        if attach is not None:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            attach(write_document(report_document(opened, runs), folder / "report.html"), logged[-1][0])
    return len(runs)


def tool_of(spec: LogSpec) -> Any:
    """Return the module of a logger."""
    name = "tensorboardX" if spec.tool == "tensorboard" else spec.tool
    try:
        with _empty_folder():
            return import_module(name)
    except ImportError:
        raise PluginError(f"{name} is not installed: pip install {name}") from None


@contextmanager
def _empty_folder() -> Iterator[Path]:
    """Work in an empty folder: tools take addresses from files of the working folder.

    That may be a stranger's. Yields it, as the files of the tool belong there.
    """
    working = Path.cwd()
    with TemporaryDirectory() as empty, chdir(empty):
        yield working


def _spec(to: str | dict[str, str] | LogSpec) -> LogSpec:
    try:
        return to if isinstance(to, LogSpec) else LogSpec.model_validate(to)
    except ValidationError:
        known = ", ".join(name for name in _TOOLS if name != "tensorboard")
        raise ConfigError(
            f"no logger {to!r}; known: {known}, {{'tensorboard': FOLDER}}, or an object with a method log"
        ) from None


def _is_whole(step: float | None) -> bool:
    return step is not None and float(step).is_integer()


def _metrics(store: Store, run: Run) -> Metrics:
    metrics: Metrics = {}
    for task in task_scores([run], store.table([run])):
        for score in task.tested:
            summary, name = score.summaries[0], f"{PREFIX}/{score.address}"
            if summary is None:
                continue
            if summary.mean is not None:
                metrics[name] = summary.mean
            if summary.interval is not None:
                metrics[f"{name}/low"], metrics[f"{name}/high"] = summary.interval
            metrics[f"{name}/coverage"] = summary.least_coverage
            metrics[f"{name}/failures"] = float(summary.failed)
    return metrics


@contextmanager
def _wandb(wandb: Any, plan: str, _: Path | None) -> Iterator[tuple[Write, Attach]]:
    """Open a run of its own, beside the run of the trainer."""
    trainer = wandb.run
    settings = {} if trainer is None else {"project": trainer.project, "group": trainer.group or trainer.id}
    with _empty_folder() as working:
        settings |= {"dir": str(working)} if trainer is None else {}
        own = wandb.init(**settings, name=f"{PREFIX} {plan}", job_type="evaluation", reinit="create_new")
    own.define_metric(f"{PREFIX}/*", step_metric=STEP)
    try:
        yield (
            lambda metrics, step: own.log({**metrics, STEP: step}),
            lambda page, _: own.log_artifact(str(page), type="report"),
        )
    finally:
        own.finish()


@contextmanager
def _swanlab(swanlab: Any, plan: str, _: Path | None) -> Iterator[tuple[Write, Attach]]:
    is_open = swanlab.has_run()
    if not is_open:
        with _empty_folder() as working:
            folders = {"log_dir": os.environ.get("SWANLAB_LOGDIR", str(working / "swanlog"))}
            project = os.environ.get("SWANLAB_PROJ_NAME", working.name)
            swanlab.init(project=project, name=f"{PREFIX} {plan}", job_type="evaluation", **folders)
    try:
        yield (
            lambda metrics, step: swanlab.log(metrics, step=step),
            lambda page, step: swanlab.log_html(key=REPORT, data=page.read_text("utf-8"), step=step),
        )
    finally:
        if not is_open:
            swanlab.finish()


@contextmanager
def _trackio(trackio: Any, plan: str, _: Path | None) -> Iterator[tuple[Write, Attach]]:
    is_open = trackio.context_vars.current_run.get() is not None
    if not is_open:
        trackio.init(project=PREFIX, name=plan)
    try:
        yield (
            lambda metrics, step: trackio.log(metrics, step=step),
            lambda page, _: trackio.log_artifact(page, type="report"),
        )
    finally:
        if not is_open:
            trackio.finish()


@contextmanager
def _mlflow(mlflow: Any, plan: str, _: Path | None) -> Iterator[tuple[Write, Attach]]:
    with ExitStack() as stack:
        if mlflow.active_run() is None:
            stack.enter_context(mlflow.start_run(run_name=f"{PREFIX} {plan}"))
        yield (
            lambda metrics, step: mlflow.log_metrics(metrics, step=step),
            lambda page, _: mlflow.log_artifact(str(page), PREFIX),
        )


@contextmanager
def _tensorboard(tensorboard: Any, _: str, folder: Path | None) -> Iterator[tuple[Write, None]]:
    with tensorboard.SummaryWriter(str(folder)) as writer:

        def write(metrics: Metrics, step: int) -> None:
            for tag, value in metrics.items():
                writer.add_scalar(tag, value, global_step=step)

        yield write, None


_TOOLS: dict[str, Any] = {
    "wandb": _wandb,
    "swanlab": _swanlab,
    "trackio": _trackio,
    "mlflow": _mlflow,
    "tensorboard": _tensorboard,
}


EVENT = "gen_ai.evaluation.result"


def emit_results(store: Store | str, runs: Sequence[Run | str] = (), *, provider: Any = None) -> int:
    """Emit each score of single answers as an event of OpenTelemetry; a failure has an error, and no value.

    The convention is in development; the event has its required name, value, explanation and
    ``error.type``, and as attributes of Hengwen the run, checkpoint, sample, repeat and signature.

    Args:
        store: The open store, or its path or URL.
        runs: Runs, ids or names of checkpoints; default: the newest run of each checkpoint.
        provider: A ``LoggerProvider``; default: the global one.

    Returns:
        The number of events.

    Raises:
        PluginError: OpenTelemetry is not installed.

    Examples:
        >>> emit_results("hengwen.db")                                         # doctest: +SKIP
        480
    """
    try:
        from opentelemetry._logs import get_logger_provider
    except ImportError:
        raise PluginError("opentelemetry is not installed: pip install opentelemetry-sdk") from None
    logger = (provider or get_logger_provider()).get_logger("hengwen")
    count = 0
    with opened_store(store) as opened:
        chosen = [opened.find(run) for run in runs] or opened.latest()
        for row in opened.rows(chosen):
            if row.sample_id is not None and row.score.role == "answer":
                logger.emit(event_name=EVENT, attributes=_attributes(row.score.address, row.outcome, row))
                count += 1
    return count


def _attributes(address: str, outcome: Any, row: Any) -> dict[str, str | float]:
    about = {
        "gen_ai.evaluation.name": address,
        "hengwen.run": row.run_id,
        "hengwen.checkpoint": row.checkpoint,
        "hengwen.sample": row.sample_id,
        "hengwen.repeat": row.repeat,
        "hengwen.signature": outcome.signature,
    }
    if not isinstance(outcome, Score):
        return {**about, "error.type": outcome.status, "gen_ai.evaluation.explanation": outcome.message}
    explanation = {"gen_ai.evaluation.explanation": outcome.reason} if outcome.reason else {}
    return {**about, "gen_ai.evaluation.score.value": outcome.value, **explanation}
