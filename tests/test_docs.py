"""What the documents show is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
import yaml

from hengwen.plans.plan import Plan

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_give_what_it_says(page: Path) -> None:
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs_and_its_assertions_hold(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict = {"__name__": "__main__"}
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        if not block.startswith(">>>"):
            exec(block, names)  # our own pages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


def test_the_plan_in_the_readme_is_a_good_plan() -> None:
    (text,) = blocks("yaml")
    assert Plan.model_validate(yaml.safe_load(text)).checkpoints[2].backend == "subject"


def test_the_scorer_in_the_readme_is_a_scorer() -> None:
    from hengwen import Response, Sample
    from hengwen.protocols import Scorer

    (source,) = (block for block in blocks("python") if "class LineCount" in block)
    names: dict = {}
    exec(source, names)  # our own README
    scorer = names["LineCount"](expected=2)
    assert isinstance(scorer, Scorer)
    (score,) = scorer.score(Sample(id="1"), Response(sample_id="1", text="一\n二"))
    assert (score.name, score.value, score.signature) == ("line_count.match", 1, "line_count|expected:2|v:1")


def test_every_verb_and_option_in_the_readme_exists(capsys: pytest.CaptureFixture[str]) -> None:
    from typer.main import get_command

    from hengwen.cli import app

    root = get_command(app)
    for line in "\n".join(blocks("console")).splitlines():
        if not line.startswith("$ hengwen"):
            continue
        words = line.removeprefix("$ hengwen").partition("#")[0].split()
        command = root
        while hasattr(command, "commands") and words:
            assert words[0] in command.commands, line
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line
