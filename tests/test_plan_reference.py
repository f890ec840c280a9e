"""The reference of plans, docs/plans.md, names every key, field and setting, and its examples are valid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from rows import each_row

from hengwen.io.strict_yaml import StrictModel
from hengwen.plans import plan as plan_models
from hengwen.plans.datasets import ANCHOR_FIELDS, LABEL_FIELDS, RESPONSE_FIELDS, SAMPLE_FIELDS
from hengwen.plans.plan import Plan, ScorerSpec, load_plan
from hengwen.plans.suite import load_suite

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "plans.md").read_text("utf-8")
MODELS: list[type[StrictModel]] = [
    model
    for model in vars(plan_models).values()
    if isinstance(model, type) and issubclass(model, StrictModel) and model is not StrictModel
]
KEYS_IN_YAML = {(ScorerSpec, "name"): "scorer", (ScorerSpec, "score_prefix"): "name"}
"""Keys that differ from the names of their fields."""
FIELDS = [(model, name) for model in MODELS for name in model.model_fields]


def section(title: str) -> str:
    """Return the text below a heading, up to the next heading."""
    (text,) = re.findall(rf"^##+ {re.escape(title)}\n(.*?)(?=^##+ |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return text


def rows(text: str) -> dict[str, list[str]]:
    """Return the rows of the tables in a text by their first cell, without the mark of code."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {name.strip("`"): others for name, *others in cells}


def row_of(model: type[StrictModel], field: str) -> list[str]:
    """Return type, default and meaning of a key."""
    table = rows(section(model.__name__.removesuffix("Spec")))
    return table[KEYS_IN_YAML.get((model, field), field)]


def choices(annotation: Any) -> Iterator[str]:
    """Yield the texts that an annotation allows."""
    for argument in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield str(argument)
        else:
            yield from choices(argument)


@each_row(("model", "field"), FIELDS)
def test_a_key_is_described_with_its_default_and_choices(model: type[StrictModel], field: str) -> None:
    info = model.model_fields[field]
    kind, default, meaning = row_of(model, field)
    if info.is_required():
        assert default == "required"
    elif info.default in (None, "", [], {}):
        assert default == "–"
    else:
        value = f"{info.default:g}" if isinstance(info.default, float) else str(info.default)
        assert default == f"`{value}`"
    if set(choices(info.annotation)) != {"any"}:
        assert all(f"`{choice}`" in kind for choice in choices(info.annotation))
    assert meaning.endswith(".")


@each_row(("model", "field"), FIELDS)
def test_a_former_key_stands_beside_the_present_one(model: type[StrictModel], field: str) -> None:
    formers = [former for former, present in model.former_keys.items() if present == field]
    assert re.findall(r"Former: `(\w+)`", row_of(model, field)[2]) == formers


def test_no_table_describes_a_key_that_does_not_exist() -> None:
    for model in MODELS:
        keys = {KEYS_IN_YAML.get((model, field), field) for field in model.model_fields}
        assert set(rows(section(model.__name__.removesuffix("Spec")))) == keys


def test_every_field_of_a_data_file_is_described() -> None:
    assert tuple(rows(section("Samples")))[: len(SAMPLE_FIELDS)] == SAMPLE_FIELDS
    assert tuple(rows(section("Answers"))) == RESPONSE_FIELDS
    labels = rows(section("Labels and anchors"))
    assert set(labels) == set(ANCHOR_FIELDS)
    assert [field for field, cells in labels.items() if cells[0] == "required"] == [
        *("task", "id", "checkpoint", "score", "value")
    ]
    for_anchors = {field for field, cells in labels.items() if cells[1] == "optional"}
    assert for_anchors == set(ANCHOR_FIELDS) - set(LABEL_FIELDS)


def test_every_setting_of_the_environment_is_described_with_its_option_and_commands() -> None:
    from typer.main import get_command

    from hengwen.cli import app

    commands: dict[str, set[str]] = {}
    options: dict[str, set[str]] = {}
    pending = list(get_command(app).commands.items())  # type: ignore[attr-defined]
    while pending:
        name, command = pending.pop()
        pending += [(f"{name} {inner}", item) for inner, item in getattr(command, "commands", {}).items()]
        for parameter in command.params:
            if parameter.envvar and not hasattr(command, "commands"):
                name = "batch" if name.startswith("batch ") else name
                commands.setdefault(parameter.envvar, set()).add(name)
                options.setdefault(parameter.envvar, set()).update(parameter.opts)
    table = rows(section("Environment and .env"))
    assert {name for name in table if name.startswith("HENGWEN_")} == set(options)
    for name, opts in options.items():
        option, described = table[name]
        assert option.strip("`") in opts
        if "all that" not in described:
            assert set(re.findall(r"`([a-z -]+)`", described)) == commands[name]


def fenced(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the files of the page: each is a block below its name."""
    for name, text in re.findall(r"^`([\w.-]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_the_plan_of_the_page_loads_with_its_files_and_without_a_warning(folder: Path) -> None:
    suite = load_suite(load_plan(folder / "plan.yaml"))
    assert [len(task.samples.samples) for task in suite.tasks] == [1, 2]
    assert (len(suite.labels), len(suite.anchors), suite.warnings) == (2, 1, ())
    assert "muchin.total" in [score.name for score in suite.tasks[0].scorer_scores]
    sample = suite.tasks[0].samples.samples["sea"]
    assert sample.metadata == {"template": "(verse)\ncccR\ncccR"}


def test_the_plan_of_the_page_can_be_estimated_without_a_key(folder: Path) -> None:
    from hengwen import open_store
    from hengwen.runs.run_plan import estimate_plan

    with open_store("sqlite://") as store:
        estimates = estimate_plan(folder / "plan.yaml", store=store)
    calls = {estimate.backend: estimate.usage.calls for estimate in estimates}
    assert sorted(name for name, count in calls.items() if count) == ["judge", "second", "subject"]
    assert {estimate.backend for estimate in estimates if estimate.cost is None} == {"subject"}


def test_the_page_has_one_plan_only() -> None:
    """More would need files of their own."""
    assert [name for name in fenced("yaml") if "tasks:" in name] == fenced("yaml")[:1]


PARTS = [
    pytest.param(text, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.glob("*.md"))
    for number, text in enumerate(fenced("yaml", page.read_text("utf-8")))
]


@each_row("text", PARTS)
def test_a_part_of_a_plan_in_the_docs_has_valid_keys_and_values(text: str) -> None:
    part = yaml.safe_load(text)
    plan: dict[str, Any] = {
        "name": "p",
        "tasks": [{"name": "t", "samples": "s.jsonl", "judges": [{"rubric": "relevance"}]}],
        "checkpoints": [{"name": "c", "responses": "r.jsonl"}],
    }
    if part.keys() <= Plan.model_fields.keys():
        plan |= part
    else:
        plan["tasks"][0] |= part
    Plan.model_validate(plan)


@pytest.mark.slow
@each_row("page", sorted(DOCS.glob("*.md")))
def test_every_command_and_option_of_a_page_exists(page: Path) -> None:
    from typer.main import get_command

    from hengwen.cli import app

    lines = "".join(fenced("console", page.read_text("utf-8"))).splitlines()
    for line in lines:
        if not line.startswith("$ hengwen"):
            continue
        words = line.removeprefix("$ hengwen").partition("#")[0].split()
        command: Any = get_command(app)
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line
