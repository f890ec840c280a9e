"""A package imports packages of lower layers only; `docs/architecture.md` draws the layers."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TypeVar

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.slow

Node = TypeVar("Node", bound=Hashable)
SRC = Path(__file__).resolve().parents[1] / "src" / "hengwen"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("demo", "errors", "score_id", "stats", "text"),
    ("io", "records", "registry"),
    ("_internal", "protocols", "results"),
    ("backends", "objective", "prompts", "relevance_metrics", "store"),
    ("engine", "judges", "personas"),
    ("importers", "plans"),
    ("labels", "peer_review", "runs"),
    ("monitoring",),
    ("documents",),
    ("integrations", "view"),
    ("cli",),
    ("__init__", "__main__"),
)
"""The parts of `hengwen`, bottom layer first. A part knows only the layers below its own."""

LAYER_OF = {part: layer for layer, parts in enumerate(LAYERS) for part in parts}
MODULES = sorted(SRC.rglob("*.py"))
MAX_MODULES = 20
"""Modules in one package, ``__init__`` not counted."""
MAX_LINES = 650
BROUGHT_OR_OPTIONAL = {
    *("langchain_core", "langsmith", "markupsafe", "pydantic_core"),  # required by declared ones
    *(
        "evalscope",
        "inspect_ai",
        "mlflow",
        "opencompass",
        "opentelemetry",
    ),  # users of integrations have them
    *("pandas", "pypinyin_dict"),  # imported only where the user, or a developer of the project, has them
}
"""Imports that no declared dependency provides by itself."""
NAMES_EVERY_LAYER = {"registry"}
"""The registry lists built-in scorers, judges and backends as other packages list their plug-ins: by a name,
which is imported when somebody asks for it. No other part names a module of a higher layer."""
MUTUAL_IMPORTS = {
    frozenset({"hengwen.plans.loaded_plan_checks", "hengwen.plans.suite"}),
    frozenset({"hengwen.results.comparability", "hengwen.results.score_table"}),
}
"""Pairs of modules of which one needs the other for its types only; do not add to them."""
DOTTED_NAME = re.compile(r"hengwen(?:\.\w+)+(?=:|$)")


def part_of(path: Path) -> str:
    """Return the top-level package or module that a file belongs to."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def dotted_name(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULE_NAMES = {dotted_name(path) for path in MODULES}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """Return the dotted names of the project's modules that a file imports, also inside functions."""
    modules: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules |= {name if name in MODULE_NAMES else node.module for name in names}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return frozenset(name for name in modules if name.split(".")[0] == "hengwen")


def modules_in_strings(tree: ast.Module) -> set[str]:
    """Return the dotted names of the project's modules that strings begin with, as in ``"module:Class"``."""
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    matches = (DOTTED_NAME.match(value) for value in strings if isinstance(value, str))
    return {match.group() for match in matches if match} & MODULE_NAMES


def parts(modules: Iterable[str]) -> set[str]:
    return {name.split(".")[1] if "." in name else "__init__" for name in modules}


def on_cycles(graph: Mapping[Node, set[Node]]) -> list[Node]:
    """Return the nodes of a graph that are on a cycle or between two of them."""
    remaining = dict(graph)
    while True:
        targets = set().union(*remaining.values())
        loose = [node for node in remaining if node not in targets or not remaining[node] & remaining.keys()]
        if not loose:
            return list(remaining)
        for node in loose:
            del remaining[node]


def test_every_part_has_a_layer_and_every_layer_names_parts_that_exist() -> None:
    assert {part_of(path) for path in MODULES} == set(LAYER_OF)


def test_a_module_imports_only_its_own_part_and_lower_layers() -> None:
    """Imports go down: move what both need to a lower layer."""
    upwards = [
        f"{path.relative_to(SRC)} (layer {LAYER_OF[part_of(path)]}) imports {other} (layer {LAYER_OF[other]})"
        for path in MODULES
        for other in sorted(parts(imported_modules(path)) - {part_of(path)})
        if LAYER_OF[other] >= LAYER_OF[part_of(path)]
    ]
    assert upwards == []


def test_a_module_names_no_module_of_a_higher_layer_in_a_string() -> None:
    upwards = [
        f"{path.relative_to(SRC)} (layer {LAYER_OF[part_of(path)]}) names {other} (layer {LAYER_OF[other]})"
        for path in MODULES
        if part_of(path) not in NAMES_EVERY_LAYER
        for other in sorted(parts(modules_in_strings(tree_of(path))) - {part_of(path)})
        if LAYER_OF[other] >= LAYER_OF[part_of(path)]
    ]
    assert upwards == []


def test_a_name_in_a_string_is_one_of_a_module() -> None:
    tree = ast.parse('a = "hengwen.cli:main", "hengwen.db", "see hengwen.cli", "hengwen.runs.run_plan"')
    assert modules_in_strings(tree) == {"hengwen.cli", "hengwen.runs.run_plan"}


def test_a_part_stands_no_higher_than_its_imports_require() -> None:
    misplaced = {}
    for part in set(LAYER_OF) - set(LAYERS[-1]):
        imports = set().union(*(parts(imported_modules(path)) for path in MODULES if part_of(path) == part))
        layer = max((LAYER_OF[other] for other in imports - {part}), default=-1) + 1
        if LAYER_OF[part] != layer:
            misplaced[part] = f"fits on layer {layer}: move it in LAYERS"
    assert misplaced == {}


def test_packages_do_not_import_each_other_in_a_cycle() -> None:
    """A package may import its own sub-packages, and they the modules beside them."""
    graph: dict[Path, set[Path]] = {}
    for path in MODULES:
        if path.name == "__init__.py":
            continue
        for name in imported_modules(path):
            target = SRC.parent.joinpath(*name.split("."))
            folder = target if target.is_dir() else target.parent
            related = folder.is_relative_to(path.parent) or path.parent.is_relative_to(folder)
            if path.parent != SRC and not related:
                graph.setdefault(path.parent, set()).add(folder)
    assert [str(folder.relative_to(SRC)) for folder in on_cycles(graph)] == []


def test_modules_do_not_import_each_other_in_a_cycle() -> None:
    """Neither for types: move what both need to the lower one, or to a module of its own."""
    graph = {dotted_name(path): set(imported_modules(path)) for path in MODULES if path.name != "__init__.py"}
    for first, second in MUTUAL_IMPORTS:
        graph.get(first, set()).discard(second)
        graph.get(second, set()).discard(first)
    assert on_cycles(graph) == []


def test_no_package_has_more_than_twenty_modules() -> None:
    sizes = {
        str(folder.relative_to(SRC)): len([path for path in MODULES if path.parent == folder]) - 1
        for folder in {path.parent for path in MODULES}
    }
    assert not {name: size for name, size in sizes.items() if size > MAX_MODULES}


def test_no_file_grows_beyond_its_limit() -> None:
    lengths = {str(path.relative_to(SRC)): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert not {name: length for name, length in lengths.items() if length > MAX_LINES}


def test_every_import_of_the_source_is_declared() -> None:
    project = tomllib.loads((SRC.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    declared = {Requirement(line).name.lower() for line in (*project["dependencies"], *extras)}
    names = {
        name.partition(".")[0]
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [item.name for item in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
            else []
        )
    }
    packages = packages_distributions()
    others = {
        name
        for name in names - set(sys.stdlib_module_names) - {"hengwen"}
        if not declared & {package.lower() for package in packages.get(name, [name.replace("_", "-")])}
    }
    assert others == BROUGHT_OR_OPTIONAL
