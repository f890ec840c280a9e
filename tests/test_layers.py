"""Imports go down: a module imports from its own floor or below. The floors are drawn in CONTRIBUTING.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "hengwen"

FLOORS = {
    "errors": 0,
    "garbage": 0,
    "lazy": 0,
    "parallel": 1,
    "records": 1,
    "relevance_metrics": 1,
    "spool": 1,
    "table": 1,
    "yamlfile": 1,
    "aggregate": 2,
    "prompts": 2,
    "rowfile": 2,
    "rowwriter": 2,
    "protocols": 2,
    "backends": 3,
    "datasets": 3,
    "importers": 3,
    "personas": 3,
    "judges": 3,
    "objective": 3,
    "plan": 3,
    "registry": 3,
    "bulk": 4,
    "engine": 4,
    "human": 4,
    "published": 4,
    "store": 4,
    "suite": 4,
    "checkpoint_run": 5,
    "judging": 5,
    "reports": 5,
    "runner": 5,
    "cli": 6,
    "demo": 6,
    "__main__": 7,
    "": 7,
}
ARROWS = {
    ("records", "errors"),
    ("table", "records"),
    ("protocols", "records"),
    ("aggregate", "table"),
    ("judges", "objective"),
    ("judges", "backends"),
    ("importers", "objective"),
    ("importers", "personas"),
    ("importers", "plan"),
    ("human", "suite"),
    ("suite", "published"),
    ("store", "datasets"),
    ("runner", "checkpoint_run"),
    ("judging", "runner"),
    ("cli", "demo"),
    ("__main__", "cli"),
}
"""Which parts may know one of their own floor."""


def part_of(path: Path) -> str:
    relative = path.relative_to(SRC)
    return (
        relative.parts[0].removesuffix(".py")
        if relative.name != "__init__.py" or len(relative.parts) > 1
        else ""
    )


def imports(path: Path) -> set[str]:
    """The parts that a module imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            deeper = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "hengwen" else []
            )
            names = deeper or [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("hengwen.")}
    return found


MODULES = sorted(SRC.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_from_its_own_part_or_from_below(path: Path) -> None:
    part = part_of(path)
    assert part in FLOORS, f"{part} has no floor yet: give it one here and in CONTRIBUTING.md"
    for other in imports(path) - {part}:
        known = other in FLOORS
        assert known, f"{path.relative_to(SRC)} imports {other}, which has no floor"
        below = FLOORS[other] < FLOORS[part]
        assert below or (part, other) in ARROWS, (
            f"{path.relative_to(SRC)} (floor {FLOORS[part]}) imports {other} (floor {FLOORS[other]}): "
            "imports go down; move what is shared to a lower floor"
        )


@pytest.mark.parametrize("pure", ["objective", "relevance_metrics"])
def test_the_sciences_know_neither_judges_nor_backends(pure: str) -> None:
    for path in (SRC / pure).rglob("*.py"):
        assert not imports(path) & {"judges", "backends", "engine", "store"}


def test_the_engine_does_not_know_the_store() -> None:
    for path in (SRC / "engine").rglob("*.py"):
        assert "store" not in imports(path)


def test_no_file_grows_beyond_four_hundred_lines() -> None:
    long = {
        str(p.relative_to(SRC)): n for p in MODULES if (n := len(p.read_text("utf-8").splitlines())) > 400
    }
    assert not long, f"look for the second idea in {long}"
