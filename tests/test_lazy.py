"""A quick look at the program loads no heavy library."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest
from rows import each_row

HEAVY = (
    "scipy.stats",
    "openai",
    "langchain",
    "jieba",
    "opencc",
    "pypinyin",
    "sqlalchemy",
    "numpy",
    "pydantic",
)


def loaded(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True
    )
    return {
        line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time")
    }


@pytest.mark.slow
@each_row("arguments", [("-m", "hengwen", "--help"), ("-c", "import hengwen")], ids=["help", "import"])
def test_no_heavy_library_is_loaded(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert "hengwen" in modules
    heavy_modules = sorted(m for m in modules for heavy in HEAVY if m == heavy or m.startswith(f"{heavy}."))
    assert not heavy_modules


@pytest.mark.slow
def test_a_store_in_a_file_loads_no_dialect_of_a_server() -> None:
    modules = loaded("-c", "from hengwen import open_store; open_store('sqlite://').close()")
    assert "sqlalchemy.dialects.sqlite" in modules
    assert "sqlalchemy.dialects.postgresql" not in modules


def test_every_public_name_can_be_imported() -> None:
    import hengwen

    packages = [info.name for info in pkgutil.walk_packages(hengwen.__path__, "hengwen.") if info.ispkg]
    for package in map(importlib.import_module, ["hengwen", *packages]):
        for name in getattr(package, "__all__", ()):
            assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = hengwen.no_such_name  # type: ignore[attr-defined]


@each_row(
    "package",
    [
        "",
        ".backends",
        ".judges",
        ".objective",
        ".peer_review",
        ".prompts",
        ".relevance_metrics",
        ".store",
    ],
)
def test_no_public_name_is_also_the_name_of_a_module_beside_it(package: str) -> None:
    """Else it would be the module or the function, depending on what was imported first."""
    module = importlib.import_module(f"hengwen{package}")
    modules = {info.name for info in pkgutil.iter_modules(module.__path__)}
    assert not modules & set(dir(module))
