"""Published figures come out of published data; the page that lists them has the same numbers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from hengwen import open_store

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("figures", ROOT / "benchmarks" / "published" / "figures.py")
assert SPEC is not None
assert SPEC.loader is not None
figures = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(figures)


def test_every_command_of_the_page_exists() -> None:
    page = (ROOT / "docs" / "published.md").read_text("utf-8")
    assert {name for name in figures.FIGURES if f"`figures.py {name}`" in page} == set(figures.FIGURES)


@pytest.mark.slow
@pytest.mark.skipif(not figures.DATA.exists(), reason="the published data are not here")
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "mtbench",
            ["turn 1: 66.8 % of 882 votes with ties, 85.8 % of 549", "67.9 % of 869", "85.4 % of 569"],
        ),
        (
            "pandalm",
            [
                "0.852",
                "0.879",
                "0.862",
                "71.56 % [68.7, 74.4] of 974 verdicts, 25 failures",
                "69.77 %",
                "71.07 %",
            ],
        ),
        ("llmdrift", ["gpt-4-0314: 84.3 %", "4 failures; 84.0 %", "gpt-4-0613: 51.1 %"]),
    ],
)
def test_a_published_figure_comes_out(name: str, parts: list[str], tmp_path: Path) -> None:
    with open_store("sqlite://") as store:
        text = "\n".join(figures.FIGURES[name](tmp_path, store))
    assert [part for part in parts if part not in text] == []
