"""What the documents show is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from rows import each_row

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "README.zh.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


@pytest.mark.slow
@each_row("page", PAGES)
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


def test_every_promise_of_security_names_tests_that_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8").partition("## Promises and their tests")[2]
    promises = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")][2:]
    assert len(promises) >= 17
    for promise in promises:
        paths = re.findall(r"`((?:tests|benchmarks)/[^`]+)`", promise)
        assert paths, promise
        assert all((ROOT / path).is_file() for path in paths), promise


@each_row("page", PAGES)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_row("page", PAGES)
def test_links_to_a_heading_lead_to_one(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]*)\)", page.read_text("utf-8")):
        if "://" not in target:
            assert anchor in anchors(page.parent / target if target else page), (target, anchor)


def scorer_page(language: str) -> str:
    """Return the longest block in a language of the page on scorers."""
    page = (ROOT / "docs" / "scorers.md").read_text("utf-8")
    return max(re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL), key=len)


@pytest.fixture
def scorer_folder(tmp_path: Path) -> Path:
    """Write the scorer and the plan of the page on scorers, with a sample and an answer."""
    (tmp_path / "lines.py").write_text(scorer_page("python"), "utf-8")
    (tmp_path / "plan.yaml").write_text(scorer_page("yaml"), "utf-8")
    (tmp_path / "poem.jsonl").write_text('{"id": "1", "input": "写诗"}\n', "utf-8")
    (tmp_path / "day-1.jsonl").write_text('{"id": "1", "output": "一\\n二\\n三"}\n', "utf-8")
    return tmp_path


def test_the_plan_of_the_page_on_scorers_gives_its_scores(scorer_folder: Path) -> None:
    from hengwen import open_store, run_plan

    with open_store("sqlite://") as store:
        result = run_plan(scorer_folder / "plan.yaml", store=store, trust=True)
        scores = {row.score.name: row.outcome for row in store.rows(result.runs)}
    assert {name: score.value for name, score in scores.items()} == {
        "line_count.distance": 5,
        "quatrain.distance": 1,
    }
    assert not any(score.scale.higher_is_better for score in scores.values())


def test_the_entry_point_of_the_page_on_scorers_is_found(
    scorer_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tomllib

    from hengwen import registry

    project = tomllib.loads(scorer_page("toml"))["project"]
    ((group, points),) = project["entry-points"].items()
    metadata = scorer_folder / "line_scorers-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\n", "utf-8")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]), "utf-8")
    monkeypatch.syspath_prepend(str(scorer_folder))
    registry._installed.cache_clear()
    try:
        scorer = registry.build("scorers", "line_count", {"expected": 4})
    finally:
        registry._installed.cache_clear()
    assert scorer.signature == "line_count|expected:4|v:1"


@each_row("page", PAGES)
def test_every_verb_and_option_of_a_page_exists(page: Path) -> None:
    from typer.main import get_command

    from hengwen.cli import app

    root = get_command(app)
    for line in re.findall(r"^(?:\$ )?hengwen (?:.*)$", page.read_text("utf-8"), re.MULTILINE):
        words = line.removeprefix("$ ").partition("#")[0].split()[1:]
        command = root
        while hasattr(command, "commands") and words:
            assert words[0] in command.commands, line
            command = command.commands[words.pop(0)]
        parameters = command.params
        options = {option for parameter in parameters for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line


def test_the_architecture_names_only_what_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_]+/[\w./]*)`", text))
    roots = (ROOT, ROOT / "src" / "hengwen")
    missing = sorted(name for name in named if not any((root / name).exists() for root in roots))
    assert len(named) > 50
    assert not missing
