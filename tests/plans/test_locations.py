"""Errors that show after a plan was parsed name its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hengwen.errors import ConfigError, DataError, PluginError
from hengwen.plans.locations import locate, located
from hengwen.plans.plan import Plan, load_plan

TEXT = """\
name: p
tasks:
  - name: t
    samples: s.jsonl
    scorers:
      - length
      - lyric:
          rules: muchin
      - name: regex
        options:
          pattern: x
checkpoints:
  - {name: a, responses: a.jsonl}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "plan.yaml").write_text(TEXT, "utf-8")
    return load_plan(tmp_path / "plan.yaml")


@pytest.mark.parametrize(
    ("scorer", "message", "line"),
    [
        (0, "scorer 'length': wrong", 6),
        (1, "scorer 'lyric': wrong", 7),
        (1, "scorer 'lyric': rules must be one of muchin", 8),
        (1, "scorer 'lyric': overrules", 7),
        (2, "scorer 'regex': pattern 'x' is wrong", 11),
    ],
)
def test_the_line_is_that_of_the_option_in_the_message(
    plan: Plan, scorer: int, message: str, line: int
) -> None:
    assert locate(plan, "tasks", 0, "scorers", scorer, mentioned_in=message).endswith(f"plan.yaml:{line}: ")


@pytest.mark.parametrize("kind", [ConfigError, DataError, PluginError])
def test_an_error_keeps_its_type_and_gets_its_line(plan: Plan, kind: type[Exception]) -> None:
    with (
        pytest.raises(kind, match=r"plan.yaml:4: samples: x: no such file$"),
        located(plan, "tasks", 0, "samples", title="samples"),
    ):
        raise kind("x: no such file")


def test_the_line_of_another_file_stays(plan: Plan) -> None:
    with pytest.raises(DataError) as error, located(plan, "tasks", 0, "samples"):
        raise DataError("/a b/s.jsonl:7: not valid JSON", line=7)
    assert (str(error.value), error.value.line) == ("/a b/s.jsonl:7: not valid JSON", 7)


def test_a_plan_of_python_and_a_value_of_an_option_have_no_line(plan: Plan) -> None:
    assert locate(plan, "backends", "--judge") == ""
    built = Plan.model_validate(plan.model_dump())
    assert (built.file, locate(built, "tasks", 0)) == (None, "")
    with pytest.raises(ConfigError, match="^wrong$"), located(built, "tasks", 0):
        raise ConfigError("wrong")
