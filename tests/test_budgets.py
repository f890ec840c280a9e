"""The size of the source only falls: who needs lines takes them from elsewhere, and says from where."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from hengwen.cli import app
from size import lines_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "hengwen"
CODE_LINES = {
    "__init__": 94,
    "__main__": 3,
    "_internal": 399,
    "backends": 1114,
    "cli": 2843,
    "demo": 0,
    "documents": 8586,
    "engine": 1544,
    "errors": 48,
    "importers": 1948,
    "integrations": 733,
    "io": 857,
    "judges": 4021,
    "labels": 619,
    "monitoring": 4347,
    "objective": 4531,
    "peer_review": 1748,
    "personas": 471,
    "plans": 1736,
    "prompts": 589,
    "protocols": 136,
    "records": 240,
    "registry": 105,
    "relevance_metrics": 1344,
    "results": 1746,
    "runs": 2340,
    "score_id": 96,
    "stats": 1638,
    "store": 1571,
    "text": 257,
    "view": 1780,
}
"""Lines of code of each package and each module beside them, as `tools/size.py` counts them."""
MODULES, RECORDS, COMMANDS, OPTIONS = 328, 437, 30, 275
TEST_LINES = 47488
"""The options of all commands, also those that several share; lines of code of tests."""


@cache
def code_lines(folder: Path) -> Counter[str]:
    """Return the lines of code of each package."""
    lines: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        lines[path.relative_to(folder).parts[0].removesuffix(".py")] += lines_of(path.read_text("utf-8"))[0]
    return lines


def records(tree: ast.AST) -> Iterator[str]:
    """Yield the classes that hold fields: dataclasses, named tuples, models of pydantic, typed dicts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            words = ast.unparse([*node.decorator_list, *node.bases])
            if any(word in words for word in ("dataclass", "NamedTuple", "Model", "TypedDict")):
                yield node.name


def commands(command: Any) -> Iterator[Any]:
    """Yield a command and those in it; a group that only holds commands is none itself."""
    children = getattr(command, "commands", {}).values()
    if not children:
        yield command
    for child in children:
        yield from commands(child)


@pytest.mark.parametrize("package", sorted(CODE_LINES))
def test_a_package_keeps_its_budget_of_code_lines(package: str) -> None:
    assert code_lines(SRC)[package] <= CODE_LINES[package]


def test_every_package_has_a_budget() -> None:
    assert set(code_lines(SRC)) == set(CODE_LINES)


def test_modules_records_and_tests_keep_their_budgets() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in SRC.rglob("*.py")]
    assert len(trees) <= MODULES
    assert sum(len(list(records(tree))) for tree in trees) <= RECORDS
    assert code_lines(ROOT / "tests").total() <= TEST_LINES


def test_commands_and_options_keep_their_budgets() -> None:
    shown = list(commands(get_command(app)))
    assert len(shown) <= COMMANDS
    options = [item for command in shown for item in command.params]
    assert len(options) <= OPTIONS
