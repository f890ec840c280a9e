"""The callback, called as ``CallbackHandler.call_event`` of transformers 5.23 calls it."""

from __future__ import annotations

import runpy
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from real_tools import real_tool

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

    def __init__(
        self, folder: Path, *, rank: int = 0, model: object = "model", processing_class: object = "tokenizer"
    ) -> None:
        self.context = {"model": model, "processing_class": processing_class}
        self.args = SimpleNamespace(output_dir=str(folder))
        self.state = SimpleNamespace(global_step=0, is_world_process_zero=rank == 0)
        self.control = SimpleNamespace(should_training_stop=False)

    def call(self, callback: Any, event: str) -> None:
        returned = getattr(callback, event)(
            self.args, self.state, self.control, **self.context, optimizer=None,
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_handler_of_transformers_calls_it_at_every_event(tmp_path: Path) -> None:
    library = real_tool("transformers.trainer_callback")
    callback = HengwenCallback(
        PLAN, answer, options=RunOptions(limit=1), stop_when=lambda result: result.runs[0].step == 10
    )
    handler = library.CallbackHandler([callback], "model", "tokenizer", None, None)
    args = SimpleNamespace(output_dir=str(tmp_path))
    state = library.TrainerState(global_step=10, is_world_process_zero=True)
    control = library.TrainerControl()
    assert {name for name in dir(library.TrainerCallback) if name.startswith("on_")} == set(EVENTS)
    for event in EVENTS:
        control = handler.call_event(event, args, state, control, metrics={}, logs={})
    assert [result.runs[0].checkpoint for result in callback.results] == ["checkpoint-10"]
    assert handler.on_step_end(args, state, control).should_training_stop


@pytest.mark.slow
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


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ANSWER_PLAN = """\
name: p
tasks: [{name: short, samples: s.jsonl, scorers: [{length: {least: 2, most: 4}}]}]
backends: {served: {provider: replay, file: replies.jsonl}}
checkpoints: [{name: served, backend: served}]
"""
REPLY = '{"messages": [["user", "?"]], "text": "abc"}\n'


class Rows(list):
    """The rows of a data set, as ``datasets.load_dataset`` returns them."""

    column_names = ("text",)

    def map(self, function, *, remove_columns=()):
        return Rows(function(row) for row in self)


class Tokens(dict):
    def to(self, device):
        assert device == "cpu"
        return self


class Tokenizer:
    """What the example asks of a tokenizer of transformers 5.23: a token is a character."""

    from_pretrained = classmethod(lambda cls, name: cls())

    def __call__(self, text):
        return Tokens(input_ids=np.array([[ord(character) for character in text]]))

    def apply_chat_template(self, conversation, *, add_generation_prompt, return_dict, return_tensors):
        assert (add_generation_prompt, return_dict, return_tensors) == (True, True, "pt")
        return self(f"{conversation[0]['content']}:")

    def decode(self, tokens, *, skip_special_tokens):
        assert skip_special_tokens
        return "".join(map(chr, tokens))


class Model:
    """A model whose answer to every prompt is ``abc``."""

    device = "cpu"
    from_pretrained = classmethod(lambda cls, name: cls())
    is_training = True

    def eval(self):
        self.is_training = False

    def generate(self, *, input_ids, max_new_tokens):
        assert not self.is_training
        return np.array([[*input_ids[0], *map(ord, "abc")]])


class FakeTrainer:
    """A trainer with the arguments of ``Trainer`` of transformers 5.23, or ``GRPOTrainer`` of TRL 1.16."""

    def __init__(
        self, model, *, args, train_dataset, callbacks, reward_funcs=None, data_collator=None,
        processing_class=None,
    ) -> None:  # fmt: skip
        self.rows, self.callbacks, self.reward_funcs = train_dataset, callbacks, reward_funcs
        self.trainer = Trainer(Path(args.output_dir), model=model, processing_class=processing_class)

    def train(self) -> None:
        if self.reward_funcs is not None:
            completions = [[{"role": "assistant", "content": "x" * 30}] for _ in self.rows]
            prompts = [row["prompt"] for row in self.rows]
            ids = [[1] for _ in self.rows]
            rewards = self.reward_funcs(prompts=prompts, completions=completions, completion_ids=ids)
            assert rewards == [1.0 for _ in self.rows]
        for callback in self.callbacks:
            assert self.trainer.train(callback, 2) == 2


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a plan, and stubs of the libraries that the examples import."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.yaml").write_text(ANSWER_PLAN, "utf-8")
    (tmp_path / "s.jsonl").write_text('{"id": "1", "input": "?"}\n', "utf-8")
    (tmp_path / "replies.jsonl").write_text(REPLY, "utf-8")
    rows = Rows([{"text": "ab", "prompt": [{"role": "user", "content": "?"}]}])
    modules: dict[str, dict[str, Any]] = {
        "datasets": {"load_dataset": lambda kind, *, data_files, split: rows},
        "transformers": {
            "AutoModelForCausalLM": Model,
            "AutoTokenizer": Tokenizer,
            "DataCollatorForLanguageModeling": lambda tokenizer, mlm: None,
            "Trainer": FakeTrainer,
            "TrainingArguments": SimpleNamespace,
        },
        "trl": {"GRPOConfig": SimpleNamespace, "GRPOTrainer": FakeTrainer},
        "swift": {},
        "swift.callbacks": {"callbacks_map": {}},
        "swift.rewards": {"orms": {}},
    }
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    return tmp_path


def scores_of_training(folder: Path) -> list[tuple[str, float]]:
    """Return checkpoint and score of each evaluation."""
    with open_store(folder / "out" / "hengwen" / "hengwen.db") as store:
        runs = store.latest()
        return [(row.checkpoint, row.outcome.value) for row in store.rows(runs) if row.score.part == "within"]


@pytest.mark.slow
@pytest.mark.parametrize("script", ["trainer.py", "grpo.py"])
def test_the_example_evaluates_each_saved_checkpoint(
    trained: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [script, "model", "rows.jsonl", "plan.yaml"])
    runpy.run_path(str(EXAMPLES / script))
    assert scores_of_training(trained) == [("checkpoint-10", 1.0), ("checkpoint-20", 1.0)]


def test_the_plug_in_for_swift_is_a_reward_and_a_callback(trained: Path) -> None:
    runpy.run_path(str(EXAMPLES / "swift_plugin.py"))
    orm = sys.modules["swift.rewards"].orms["hengwen"](args=None)
    messages = [[{"role": "user", "content": "?"}]]
    assert orm(["x" * 30], messages=messages) == [1.0]
    trainer = Trainer(trained / "out")
    callback = sys.modules["swift.callbacks"].callbacks_map["hengwen"](trainer.args, trainer)
    assert trainer.train(callback, 1) == 1
    assert scores_of_training(trained) == [("checkpoint-10", 1.0)]
