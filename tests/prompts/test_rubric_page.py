"""docs/rubrics.md names every field of a rubric, with its default and the values that it takes."""

from __future__ import annotations

import re
from pathlib import Path

from rows import each_row

from hengwen.io.strict_yaml import StrictModel
from hengwen.prompts.rubric import CLAUSES, Example, Level, Rubric, RubricRules

PAGE = (Path(__file__).parents[2] / "docs" / "rubrics.md").read_text("utf-8")


@each_row("model", [Rubric, Level, Example, RubricRules])
def test_the_page_has_each_field_of_a_model_and_whether_it_is_required(model: type[StrictModel]) -> None:
    (section,) = re.findall(rf"(?ms)^## {model.__name__}\n(.*?)(?=^## |\Z)", PAGE)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if "`" in line]
    required = {name: row[2] == "required" for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert required == {name: field.is_required() for name, field in model.model_fields.items()}


def test_the_page_has_each_clause() -> None:
    for clause in CLAUSES:
        assert f"`{clause}`" in PAGE
