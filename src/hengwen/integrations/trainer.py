"""``HengwenCallback`` runs a plan at the checkpoints of a transformers or TRL trainer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from hengwen.errors import ConfigError
from hengwen.integrations.loggers import log_run
from hengwen.integrations.rewards import SERVED
from hengwen.io.output_files import atomic_write
from hengwen.plans.plan import CheckpointSpec, Plan, load_plan
from hengwen.plans.suite import LoadedTask, load_suite
from hengwen.runs.options import RunOptions
from hengwen.runs.run_plan import RunResult, run_plan
from hengwen.score_id import scores_of

FOLDER = "hengwen"
"""Folder in the trainer's output folder with the answers, the store and the decision to stop."""
_LOG = logging.getLogger(__name__)


class HengwenCallback:
    """Evaluate a plan while a trainer of transformers or TRL runs, as one of its ``callbacks``.

    Rank 0 evaluates, each time as one more checkpoint of the plan, and every rank stops if it decides so. An
    error is logged and never ends the training. Every event that it does not know is ignored.
    """

    def __init__(
        self,
        plan: Plan | str | Path,
        generate: Callable[..., Sequence[str]] | None = None,
        *,
        on: Literal["save", "evaluate"] | int = "save",
        store: str | Path | None = None,
        log: Sequence[str | dict[str, str]] | None = None,
        stop_when: Callable[[RunResult], bool] | None = None,
        options: RunOptions | None = None,
    ) -> None:
        """Prepare the evaluation.

        Args:
            plan: The plan, whose checkpoints are replaced by those of the trainer.
            generate: ``generate(prompts, model=..., processing_class=..., path=...)``, which returns an
                answer to each prompt. By default, the backend of the plan's first checkpoint answers. Rank 0
                alone calls it, so a model that is sharded over ranks needs a backend.
            on: ``save``, ``evaluate``, or a number of steps.
            store: Path or URL of the store; default: ``hengwen/hengwen.db`` in the trainer's output folder.
            log: Where the headline scores go, such as ``["wandb"]``; see ``log_run``. Default: the plan's.
            stop_when: Whether the training should stop after a result.
            options: How the plan is run.
        """
        if on not in ("save", "evaluate") and not (isinstance(on, int) and on > 0):
            raise ConfigError(f"on is save, evaluate or a number of steps, got {on!r}")
        self._plan = plan if isinstance(plan, Plan) else load_plan(plan)
        if generate is None and self._plan.checkpoints[0].backend is None:
            raise ConfigError("nothing answers: pass generate, or give the plan's first checkpoint a backend")
        self._generate = generate
        self._on = on
        self._store = store
        self._log = self._plan.log if log is None else log
        self._stop_when = stop_when
        self._options = options or RunOptions()
        self.results: list[RunResult] = []
        """Results so far, on rank 0."""

    def __getattr__(self, name: str) -> Any:
        """Return a method that ignores an event; newer versions of transformers have more of them."""
        if name.startswith("on_"):
            return _ignore
        raise AttributeError(name)

    def on_save(self, args: Any, state: Any, control: Any, **context: Any) -> Any:
        """Evaluate the checkpoint that was saved."""
        if self._on == "save":
            self._evaluate(args, state, context)
        return control

    def on_evaluate(self, args: Any, state: Any, control: Any, **context: Any) -> Any:
        """Evaluate the model."""
        if self._on == "evaluate":
            self._evaluate(args, state, context)
        return control

    def on_step_end(self, args: Any, state: Any, control: Any, **context: Any) -> Any:
        """Evaluate after the given number of steps, and stop if rank 0 decided so."""
        if isinstance(self._on, int) and state.global_step % self._on == 0:
            self._evaluate(args, state, context)
        if _stop_file(args).exists():
            control.should_training_stop = True
        return control

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Forget the decision to stop an earlier training."""
        if state.is_world_process_zero:
            _stop_file(args).unlink(missing_ok=True)
        return control

    def _evaluate(self, args: Any, state: Any, context: dict[str, Any]) -> None:
        if not state.is_world_process_zero:
            return
        try:
            result = self._result(Path(args.output_dir), int(state.global_step), context)
            self.results.append(result)
            for tool in self._log:
                log_run(result, tool)
            if self._stop_when is not None and self._stop_when(result):
                _stop_file(args).touch()
        except Exception:
            _LOG.exception(
                "hengwen: the evaluation at step %s failed; the training goes on", state.global_step
            )

    def _result(self, output: Path, step: int, context: dict[str, Any]) -> RunResult:
        folder, name = output / FOLDER, f"checkpoint-{step}"
        folder.mkdir(parents=True, exist_ok=True)
        template = self._plan.checkpoints[0]
        tasks = load_suite(self._plan.model_copy(update={"checkpoints": []})).tasks
        if self._generate is None:
            spec = template.model_copy(update={"name": name, "step": step})
        else:
            answers = folder / f"{name}.jsonl"
            self._write_answers(tasks, answers, output / name, context)
            spec = CheckpointSpec(name=name, step=step, responses=answers.resolve())
        plan = self._plan.model_copy(
            update={"checkpoints": [spec], "rewards": sorted({*self._plan.rewards, *_rewards(tasks)})}
        )
        return run_plan(plan, store=self._store or folder / "hengwen.db", options=self._options)

    def _write_answers(
        self, tasks: Sequence[LoadedTask], target: Path, path: Path, context: dict[str, Any]
    ) -> None:
        """Let the model answer all prompts of the plan."""
        assert self._generate is not None
        samples = [(task.spec.name, sample) for task in tasks for sample in task.samples.samples.values()]
        texts = self._generate(
            [sample.text for _, sample in samples],
            model=context.get("model"),
            processing_class=context.get("processing_class"),
            path=path,
        )
        with atomic_write(target) as temporary, temporary.open("w", encoding="utf-8") as file:
            for (task, sample), text in zip(samples, texts, strict=True):
                row = {"task": task, "id": sample.id, "output": text}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _rewards(tasks: Iterable[LoadedTask]) -> Iterator[str]:
    """Yield the addresses of the scores that ``as_reward`` gave this process to train on."""
    for task in tasks:
        for scorer in task.scorers:
            if scorer.signature in SERVED:
                yield from (
                    score.address for score in scores_of(scorer, task.spec.name, is_judge=False).values()
                )


def _ignore(*_: object, **__: object) -> None:
    return None


def _stop_file(args: Any) -> Path:
    return Path(args.output_dir, FOLDER, "stop")
