"""The callback, called as ``CallbackHandler.call_event`` of transformers 5.23 calls it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hengwen import RunOptions, open_store
from hengwen.errors import ConfigError
from hengwen.integrations import HengwenCallback, as_reward
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite

EVENTS = (
    *("on_init_end", "on_train_begin", "on_epoch_begin", "on_step_begin", "on_pre_optimizer_step"),
    *("on_optimizer_step", "on_substep_end", "on_step_end", "on_log", "on_evaluate", "on_predict", "on_save"),
    *("on_prediction_step", "on_push_begin", "on_epoch_end", "on_train_end"),
)
PLAN = str(files("hengwen.demo") / "data" / "plan.yaml")


class Trainer:
    """Calls every event at every step, in the order of a training."""

    def __init__(self, folder: Path, *, rank: int = 0) -> None:
        self.args = SimpleNamespace(output_dir=str(folder))
        self.state = SimpleNamespace(global_step=0, is_world_process_zero=rank == 0)
        self.control = SimpleNamespace(should_training_stop=False)

    def call(self, callback: Any, event: str) -> None:
        returned = getattr(callback, event)(
            self.args, self.state, self.control, model="model", processing_class="tokenizer", optimizer=None,
            lr_scheduler=None, train_dataloader=None, eval_dataloader=None, metrics={}, logs={},
        )  # fmt: skip
        assert returned is None or returned is self.control

    def train(self, callback: Any, steps: int) -> int:
        self.call(callback, "on_train_begin")
        for step in range(1, steps + 1):
            self.state.global_step = step * 10
            for event in EVENTS[2:]:
                self.call(callback, event)
            if self.control.should_training_stop:
                return step
        return steps


def answer(prompts, *, model, processing_class, path):
    assert (model, processing_class) == ("model", "tokenizer")
    return [f"好的，{path.name}" for _ in prompts]


def test_each_saved_checkpoint_is_a_run_and_a_score_may_stop_the_training(tmp_path: Path) -> None:
    callback = HengwenCallback(
        PLAN, answer, options=RunOptions(limit=2), stop_when=lambda result: result.runs[0].step == 20
    )
    assert Trainer(tmp_path).train(callback, 5) == 3  # on_step_end comes before on_save
    assert [result.runs[0].checkpoint for result in callback.results] == [
        "checkpoint-10",
        "checkpoint-20",
        "checkpoint-30",
    ]
    with open_store(tmp_path / "hengwen" / "hengwen.db") as store:
        assert [run.step for run in store.latest()] == [10, 20, 30]
        assert "checkpoint-30" in next(iter(store.responses(store.latest()[-1]))).text


def test_a_score_that_was_a_reward_in_this_process_is_marked_in_the_runs(tmp_path: Path) -> None:
    task = load_suite(load_plan(PLAN)).tasks[0]
    as_reward(task.scorers[0])
    callback = HengwenCallback(PLAN, answer, options=RunOptions(limit=1))
    Trainer(tmp_path).train(callback, 1)
    assert "lyrics/lyric.total" in callback.results[0].runs[0].facts["rewards"]


def test_other_ranks_evaluate_nothing_and_read_the_decision(tmp_path: Path) -> None:
    callback = HengwenCallback(PLAN, answer)
    (tmp_path / "hengwen").mkdir()
    trainer = Trainer(tmp_path, rank=1)
    assert trainer.train(callback, 2) == 2
    (tmp_path / "hengwen" / "stop").touch()
    assert trainer.train(callback, 2) == 1
    assert callback.results == []


def test_an_error_never_ends_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def broken(prompts, **_):
        raise RuntimeError("out of memory")

    callback = HengwenCallback(PLAN, broken, on=10)
    assert Trainer(tmp_path).train(callback, 2) == 2
    assert "the evaluation at step 10 failed; the training goes on" in caplog.text


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ConfigError, match="on is save, evaluate or a number"):
        HengwenCallback(PLAN, answer, on="epoch")
    with pytest.raises(ConfigError, match="nothing answers"):
        HengwenCallback(PLAN)
    with pytest.raises(AttributeError):
        _ = HengwenCallback(PLAN, answer).state
