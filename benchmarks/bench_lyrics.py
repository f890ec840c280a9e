"""Time the lyric scorer on 360 real lyrics, compared with a version of it that uses plain difflib.

    .venv/bin/python -m pytest benchmarks/bench_lyrics.py --benchmark-only

Each round scores all 360 lyrics. Targets: 4,000 lyrics a second under the rules ``muchin``, and 600 under
``document``. Requires ``../shared/data/muchin-checkpoints.jsonl``.
"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.figures import measure
from hengwen.objective import rhyme, score_lyric, score_lyrics
from hengwen.objective.lyrics import parse_document, parse_muchin, phases
from hengwen.objective.lyrics import score_lyric as lyric_module
from hengwen.objective.matching import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "muchin-checkpoints.jsonl"
RULES = pytest.mark.parametrize("rules", ["document", "muchin"])

MAX_MICROSECONDS = {"document": 1e6 / 600, "muchin": 1e6 / 4000}

Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    if not DATA.exists():
        pytest.skip("../shared/data/muchin-checkpoints.jsonl is not beside this checkout")
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    return [(row["lyric"], row["template"]) for row in rows]


def measure_lyrics(
    benchmark: BenchmarkFixture, work: Callable[[], object], case: str, count: int, **options: Any
) -> None:
    measure(benchmark, work, case, count=count, unit="µs", **{"rounds": 11, **options})


@RULES
def test_warm(benchmark: BenchmarkFixture, pairs: Pairs, rules: str) -> None:
    measure_lyrics(
        benchmark,
        lambda: [score_lyric(*pair, rules=rules) for pair in pairs],
        f"{rules}, a lyric",
        len(pairs),
        high=MAX_MICROSECONDS[rules],
    )


@RULES
def test_with_cold_caches(benchmark: BenchmarkFixture, pairs: Pairs, rules: str) -> None:
    """Score with empty caches of lines, endings and templates, but with jieba's dictionary loaded."""
    rhyme.rhyme_class("听音乐")

    def work() -> None:
        for cached in (
            parse_document._parse_short_line,
            parse_muchin._parse_short_line,
            rhyme._class_of_short_run,
            lyric_module._parse_short_template,
        ):
            cached.cache_clear()
        for pair in pairs:
            score_lyric(*pair, rules=rules)

    measure_lyrics(benchmark, work, f"{rules}, cold caches, a lyric", len(pairs))


@RULES
def test_plain_difflib(
    benchmark: BenchmarkFixture, pairs: Pairs, rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plain(a: str, b: str, *, autojunk: bool = False) -> float:
        return SequenceMatcher(None, a, b, autojunk).ratio()

    monkeypatch.setattr(phases, "ratio", plain)
    sample = pairs[:60] if rules == "document" else pairs
    measure_lyrics(
        benchmark,
        lambda: [score_lyric(*pair, rules=rules) for pair in sample],
        f"{rules}, a lyric",
        len(sample),
        system="difflib",
        rounds=1,
    )


@pytest.mark.parametrize("autojunk", [False, True])
def test_matcher_alone(benchmark: BenchmarkFixture, pairs: Pairs, autojunk: bool) -> None:
    rules = "muchin" if autojunk else "document"
    texts = [(template, score_lyric(lyric, template, rules=rules).msstr) for lyric, template in pairs]
    measure_lyrics(
        benchmark,
        lambda: [ratio(a, b, autojunk=autojunk) for a, b in texts],
        f"{rules}, matcher alone, a lyric",
        len(texts),
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_bulk(benchmark: BenchmarkFixture, pairs: Pairs, workers: int) -> None:
    many = pairs * 20
    measure_lyrics(
        benchmark,
        lambda: score_lyrics(many, workers=workers),
        f"score_lyrics, {workers} processes, a lyric",
        len(many),
        rounds=1,
    )
