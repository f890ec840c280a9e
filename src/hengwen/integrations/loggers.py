"""``log_run`` writes the headline scores of runs to the tools that draw a training's curves."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from hengwen.errors import ConfigError, PluginError
from hengwen.results.score_summaries import task_scores
from hengwen.runs.run_plan import RunResult, opened_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Run
    from hengwen.store.store import Store

    Metrics = dict[str, float]

PREFIX = "hengwen"
TOOLS = ("wandb", "swanlab", "trackio", "mlflow", "tensorboard:FOLDER")


class Log(Protocol):
    """Anything that takes metrics with a step, such as the module ``swanlab`` or verl's ``Tracking``."""

    def log(self, data: dict[str, float], *, step: int) -> object:
        """Log metrics at a step."""
        ...


def log_run(
    result: RunResult | Sequence[Run],
    to: str | Log,
    *,
    store: Store | str | None = None,
    step: int | None = None,
) -> int:
    """Log headline scores as ``hengwen/TASK/SCORE``, with ``/low``, ``/high``, ``/coverage``, ``/failures``.

    A score without a value has no mean there, only its coverage and failures: a failure is no 0.

    Args:
        result: What ``run_plan`` returned, or runs of the store.
        to: ``wandb``, ``swanlab``, ``trackio``, ``mlflow``, ``tensorboard:FOLDER``, or an object with
            ``log(data, step=...)``. W&B gets a run of its own, in the group of the run that is open: rows of
            an earlier step in the trainer's run would make it lose rows of its own. The other tools take
            steps in any order and use the run that is open.
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
    with opened_store(location) as opened:
        logged = [(int(steps[run.id] or 0), _metrics(opened, run)) for run in runs]
    with_steps = sorted(logged, key=lambda item: item[0])
    if isinstance(to, str):
        _log_to(to, with_steps, runs)
    else:
        for at, metrics in with_steps:
            to.log(metrics, step=at)
    return len(runs)


def _is_whole(step: float | None) -> bool:
    return step is not None and float(step).is_integer()


def _metrics(store: Store, run: Run) -> Metrics:
    """Return the headline scores of a run by their names in a logger."""
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


def _log_to(tool: str, logged: Sequence[tuple[int, Metrics]], runs: Sequence[Run]) -> None:
    name, _, folder = tool.partition(":")
    if name == "tensorboard" and folder:
        writer = _tool("tensorboardX").SummaryWriter(folder)
        for step, metrics in logged:
            for tag, value in metrics.items():
                writer.add_scalar(tag, value, global_step=step)
        writer.close()
    elif tool == "wandb":
        _log_to_wandb(_tool("wandb"), logged, runs)
    elif tool == "mlflow":
        mlflow = _tool("mlflow")
        for step, metrics in logged:
            mlflow.log_metrics(metrics, step=step)
    elif tool in ("swanlab", "trackio"):
        module = _tool(tool)
        for step, metrics in logged:
            module.log(metrics, step=step)
    else:
        raise ConfigError(f"no logger {tool!r}; known: {', '.join(TOOLS)}, or an object with a method log")


def _log_to_wandb(wandb: Any, logged: Sequence[tuple[int, Metrics]], runs: Sequence[Run]) -> None:
    """Log to a run of its own, beside the run of the trainer."""
    trainer = wandb.run
    settings = {} if trainer is None else {"project": trainer.project, "group": trainer.group or trainer.id}
    own = wandb.init(**settings, name=f"{PREFIX} {runs[0].plan}", job_type="evaluation", reinit="create_new")
    own.define_metric(f"{PREFIX}/*", step_metric=f"{PREFIX}/step")
    for step, metrics in logged:
        own.log({**metrics, f"{PREFIX}/step": step})
    own.finish()


def _tool(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise PluginError(f"{name} is not installed: pip install {name}") from None
