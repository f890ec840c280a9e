"""Plans: what is accepted, and what a typo is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from hengwen.errors import ConfigError
from hengwen.plans.plan import CheckpointSpec, load_plan

GOOD = """\
name: p
tasks:
  - name: lyrics
    samples: prompts.jsonl
    scorers: [{lyric: {rules: muchin}}, distinct_n]
    judges:
      - {rubric: lyric_craft, backend: judge}
      - {rubric: own/rubric.yaml, name: own}
checkpoints:
  - {name: a, step: 1, responses: a.jsonl}
  - {name: live, backend: subject}
backends:
  judge: {provider: openai, model: m}
  subject: {provider: openai, model: s}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_step_is_a_number_such_as_an_epoch_and_whole_ones_stay_whole() -> None:
    steps = [CheckpointSpec(name="a", step=step, responses=Path("a.jsonl")).step for step in (0.5, 2.0, 3)]
    assert [(step, type(step)) for step in steps] == [(0.5, float), (2, int), (3, int)]
    for wrong in (float("nan"), float("inf"), "x"):
        with pytest.raises(ValidationError):
            CheckpointSpec(name="a", step=wrong, responses=Path("a.jsonl"))


def test_a_good_plan_has_absolute_paths_and_the_order_of_training(tmp_path: Path) -> None:
    plan = load_plan(write(tmp_path, GOOD))
    task = plan.tasks[0]
    assert task.samples == tmp_path / "prompts.jsonl"
    assert [(s.name, s.options) for s in task.scorers] == [
        ("lyric", {"rules": "muchin"}),
        ("distinct_n", {}),
    ]
    assert [judge.plugin for judge in task.judges] == ["rubric", "rules"]
    assert task.judges[1].rubric == str(tmp_path / "own/rubric.yaml")
    assert [(c.name, c.step) for c in plan.checkpoints] == [("a", 1), ("live", None)]


def test_loggers_are_named_and_write_only_within_the_folder_of_the_plan(tmp_path: Path) -> None:
    plan = load_plan(write(tmp_path, GOOD + "log: [wandb, {tensorboard: runs/}]\n"))
    assert [(spec.tool, spec.folder) for spec in plan.log] == [
        ("wandb", None),
        ("tensorboard", tmp_path / "runs"),
    ]
    for log, message in {
        "[{tensorboard: ../runs}]": "'../runs' is not within the folder of the plan",
        "[{tensorboard: /tmp}]": "'/tmp' is not within the folder of the plan",
        "[tensorboard]": "plan.yaml:15: .*tensorboard: FOLDER says where",
        "[{wandb: project}]": "a logger is a name, or tensorboard: FOLDER",
        "[aim]": "'wandb', 'swanlab', 'trackio', 'mlflow' or 'tensorboard'",
    }.items():
        with pytest.raises(ConfigError, match=message):
            load_plan(write(tmp_path, GOOD + f"log: {log}\n"))


def test_a_prompt_that_ends_in_j2_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "persona.md.j2").write_text("你是墨团", encoding="utf-8")
    text = GOOD.replace("    scorers:", "    prompt: {system: persona.md.j2}\n    scorers:")
    prompt = load_plan(write(tmp_path, text)).tasks[0].prompt
    assert prompt is not None
    assert (prompt.system, prompt.user) == ("你是墨团", "{{ input }}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("samples:", "sampels:", r"plan.yaml:4: unknown key 'sampels'; did you mean 'samples'\?"),
        (
            "rubric: lyric_craft,",
            "rubrik: lyric_craft,",
            r"plan.yaml:7: unknown key 'rubrik'; did you mean 'rubric'",
        ),
        ("name: live", "name: a", r"plan.yaml:11: checkpoint 'a' is named twice, first on line 10"),
        ("backend: judge", "backend: jugde", r"plan.yaml:7: unknown backend 'jugde'; did you mean 'judge'"),
        ("backend: subject}", "backend: sbject}", r"plan.yaml:11: unknown backend 'sbject'"),
        (
            ", backend: subject}",
            "}",
            r"plan.yaml:11: checkpoints.1: checkpoint 'live' needs either responses",
        ),
        ("name: lyrics", "name: ../lyrics", r"plan.yaml:3: tasks.0.name: a name starts with"),
        ("step: 1", "step: first", r"plan.yaml:10: checkpoints.0.step: .*number"),
        (
            "{lyric: {rules: muchin}}",
            "{lyric: muchin}",
            r"plan.yaml:5: .*the options of 'lyric' must be a mapping",
        ),
        (
            "rubric: lyric_craft, backend: judge",
            "rubric: lyric_craft, judge: rubric",
            r"plan.yaml:7: judge 'rubric' needs a backend",
        ),
        (
            "rubric: lyric_craft, backend: judge",
            "rubric: lyric_craft, backend: judge, panel: [judge, subject]",
            r"plan.yaml:7: .*either a backend or a panel",
        ),
        (
            "backend: judge}",
            "panel: [judge]}",
            r"plan.yaml:7: .*a panel names at least two backends, each once",
        ),
        ("backend: judge}", "panel: [judge, sbject]}", r"plan.yaml:7: unknown backend 'sbject'"),
        (
            "backend: judge}",
            "panel: [judge, subject], quorum: 3}",
            r"plan.yaml:7: .*a quorum of 3 cannot be met",
        ),
        ("backend: judge}", "backend: judge, quorum: 1}", r"plan.yaml:7: .*a quorum is for a panel"),
        ("checkpoints:", "checkpoints: []\nx:", r"plan.yaml:10: unknown key 'x'"),
    ],
)
def test_a_wrong_plan_is_named_by_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError, match=message):
        load_plan(write(tmp_path, GOOD.replace(old, new, 1)))


@pytest.mark.parametrize("section", ["tasks", "checkpoints"])
def test_a_plan_needs_tasks_and_checkpoints(tmp_path: Path, section: str) -> None:
    rest = {
        "tasks": GOOD[GOOD.index("checkpoints:") :],
        "checkpoints": GOOD[GOOD.index("tasks:") : GOOD.index("checkpoints:")],
    }[section]
    with pytest.raises(ConfigError, match=f"plan.yaml:2: {section}: .*at least 1 item"):
        load_plan(write(tmp_path, f"name: p\n{section}: []\n{rest}"))


def test_a_task_without_scorers_and_judges_is_refused(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("    scorers")] + GOOD[GOOD.index("checkpoints:") :]
    with pytest.raises(ConfigError, match="plan.yaml:3: .*task 'lyrics' has neither scorers nor judges"):
        load_plan(write(tmp_path, text))


RULED = """\
name: p
tasks:
  - name: live
    samples: live.jsonl
    repeats: 3
    rules: [broken, {near_duplicate: {zero_from: 0.9}}, {leakage: {corpus: data/train.jsonl}}]
    judges: [{rubric: muice_live, level_from: min_aspect, task_instruction: only the style}]
    scale: {mean_times: 10}
checkpoints:
  - {name: a, responses: a.jsonl}
"""


def test_rules_a_scale_and_what_a_judge_is_told_besides(tmp_path: Path) -> None:
    (task,) = load_plan(write(tmp_path, RULED)).tasks
    assert [(rule.name, rule.options) for rule in task.rules] == [
        ("broken", {}),
        ("near_duplicate", {"zero_from": 0.9}),
        ("leakage", {"corpus": str(tmp_path / "data/train.jsonl")}),
    ]
    assert task.scale is not None
    assert (task.scale.mean_times, task.scale.sum_divided_by) == (10, None)
    (judge,) = task.judges
    assert judge.task_instruction is not None
    assert (judge.level_from, judge.task_instruction.zh, judge.task_instruction.en) == (
        "min_aspect",
        "only the style",
        "only the style",
    )


def test_a_corpus_may_be_several_files(tmp_path: Path) -> None:
    text = RULED.replace("data/train.jsonl}", "[a.txt, /b.txt]}")
    rule = load_plan(write(tmp_path, text)).tasks[0].rules[2]
    assert rule.options == {"corpus": [str(tmp_path / "a.txt"), "/b.txt"]}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[broken,",
            "[brokn,",
            r"plan.yaml:6: tasks.0.rules.0.name: .*unknown rule 'brokn'; did you mean 'broken'",
        ),
        ("[broken,", "[broken, broken,", r"plan.yaml:3: .*rule 'broken' is named twice"),
        ("{mean_times: 10}", "{}", r"plan.yaml:8: .*a scale is either mean_times or sum_divided_by"),
        ("mean_times: 10", "mean_times: 10, sum_divided_by: 10", r"plan.yaml:8: .*either mean_times or"),
        ("mean_times: 10", "mean_times: 0", r"plan.yaml:8: .*greater than 0"),
        ("mean_times: 10", "mean: 10", r"plan.yaml:8: unknown key 'mean'"),
        ("min_aspect", "max_aspect", r"plan.yaml:7: .*'holistic', 'min_aspect' or 'median_aspect'"),
        ("task_instruction: only the style", "task_instruction: ''", r"plan.yaml:7: .*a text is empty"),
        (
            "    judges: [{rubric: muice_live, level_from: min_aspect, task_instruction: only the style}]\n",
            "    scorers: [distinct_n]\n",
            r"plan.yaml:3: .*task 'live' has rules or a scale, but no judges",
        ),
    ],
)
def test_wrong_rules_and_scales_are_named_by_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in RULED
    with pytest.raises(ConfigError, match=message):
        load_plan(write(tmp_path, RULED.replace(old, new, 1)))


def test_former_keys_mean_the_present_ones(tmp_path: Path) -> None:
    judge = "{rubric: muice_live, panel: [a, b], reduce: mean, note: only the style}"
    former = RULED.replace("    repeats: 3", "    repeats: 3\n    reduce: worst")
    former = former.replace(
        "{rubric: muice_live, level_from: min_aspect, task_instruction: only the style}", judge
    )
    former += "backends:\n  a: {provider: openai, model: m}\n  b: {provider: openai, model: n}\n"
    present = former.replace("reduce: worst", "repeat_reducer: worst").replace("note:", "task_instruction:")
    present = present.replace("reduce: mean", "panel_reducer: mean")
    (task,) = load_plan(write(tmp_path, former)).tasks
    assert (task.repeat_reducer, task.judges[0].panel_reducer) == ("worst", "mean")
    assert [task] == load_plan(write(tmp_path, present)).tasks


def test_a_former_key_beside_the_present_one_is_an_error(tmp_path: Path) -> None:
    text = RULED.replace("    repeats: 3", "    reduce: worst\n    repeat_reducer: best")
    with pytest.raises(ConfigError, match="'reduce' is the former name of 'repeat_reducer': give only one"):
        load_plan(write(tmp_path, text))
