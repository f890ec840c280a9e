"""A package imports packages of lower layers only; `docs/architecture.md` draws the layers."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "hengwen"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "records", "stats", "text"),
    ("_internal", "io", "protocols", "registry", "results"),
    ("backends", "objective", "prompts", "relevance_metrics", "store"),
    ("engine", "judges", "personas"),
    ("importers", "plans", "reports"),
    ("labels", "runs"),
    ("monitoring", "peer_review"),
    ("documents",),
    ("cli", "demo"),
    ("__init__", "__main__"),
)
"""The parts of `hengwen`, bottom layer first. A part knows only the layers below its own."""

LAYER_OF = {part: layer for layer, parts in enumerate(LAYERS) for part in parts}
MODULES = sorted(SRC.rglob("*.py"))
MAX_MODULES = 16
"""Modules in one package, ``__init__`` not counted."""


def part_of(path: Path) -> str:
    """Return the top-level package or module that a file belongs to."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def dotted_name(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULE_NAMES = {dotted_name(path) for path in MODULES}


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """Return the dotted names of the project's modules that a file imports, also inside functions."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules |= {name if name in MODULE_NAMES else node.module for name in names}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return frozenset(name for name in modules if name.split(".")[0] == "hengwen")


def imported_parts(path: Path) -> set[str]:
    return {name.split(".")[1] if "." in name else "__init__" for name in imported_modules(path)}


def test_every_part_has_a_layer_and_every_layer_names_parts_that_exist() -> None:
    assert {part_of(path) for path in MODULES} == set(LAYER_OF)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_its_own_part_and_lower_layers(path: Path) -> None:
    part = part_of(path)
    for other in imported_parts(path) - {part}:
        assert LAYER_OF[other] < LAYER_OF[part], (
            f"{path.relative_to(SRC)} (layer {LAYER_OF[part]}) imports {other} (layer {LAYER_OF[other]}): "
            "imports go down; move what both need to a lower layer"
        )


@pytest.mark.parametrize("part", sorted(set(LAYER_OF) - {*LAYERS[0], *LAYERS[-1], "demo", "documents"}))
def test_a_part_stands_no_higher_than_its_imports_require(part: str) -> None:
    imports = set().union(*(imported_parts(path) for path in MODULES if part_of(path) == part)) - {part}
    highest = max((LAYER_OF[other] for other in imports), default=-1)
    assert LAYER_OF[part] == highest + 1, f"{part} fits on layer {highest + 1}: move it in LAYERS"


def test_packages_do_not_import_each_other_in_a_cycle() -> None:
    graph: dict[Path, set[Path]] = {}
    for path in MODULES:
        if path.name == "__init__.py":
            continue
        for name in imported_modules(path):
            target = SRC.parent.joinpath(*name.split("."))
            folder = target if target.is_dir() else target.parent
            if SRC not in (folder, path.parent) and folder != path.parent:
                graph.setdefault(path.parent, set()).add(folder)
    remaining = dict(graph)
    while leaves := [folder for folder in remaining if not remaining[folder] & remaining.keys()]:
        for folder in leaves:
            del remaining[folder]
    assert not remaining, f"a cycle of packages among {sorted(str(f.relative_to(SRC)) for f in remaining)}"


def test_no_package_has_more_than_sixteen_modules() -> None:
    sizes = {
        str(folder.relative_to(SRC)): len([path for path in MODULES if path.parent == folder]) - 1
        for folder in {path.parent for path in MODULES}
    }
    assert not {name: size for name, size in sizes.items() if size > MAX_MODULES}


def test_no_file_grows_beyond_four_hundred_lines() -> None:
    lengths = {str(path.relative_to(SRC)): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert not {name: length for name, length in lengths.items() if length > 400}
