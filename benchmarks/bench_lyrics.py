"""Time the lyric scorer on 360 real lyrics, compared with a version of it that uses plain difflib.

    .venv/bin/python -m pytest benchmarks/bench_lyrics.py --benchmark-only

Each round scores all 360 lyrics; with ``--benchmark-json`` the extra information of each result contains
``lyrics_per_second``. Requires ``../shared/data/muchin-checkpoints.jsonl``.
"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hengwen.objective import score_lyric, score_lyrics
from hengwen.objective.lyrics import parse, parse_document, parse_muchin, phases
from hengwen.objective.matching.blocks import ratio
from hengwen.objective.rhyme import lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "muchin-checkpoints.jsonl"
RULES = pytest.mark.parametrize("rules", ["document", "muchin"])

Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    if not DATA.exists():
        pytest.skip("../shared/data/muchin-checkpoints.jsonl is not beside this checkout")
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    return [(row["lyric"], row["template"]) for row in rows]


def measure(benchmark: BenchmarkFixture, work: Callable[[], object], count: int, rounds: int = 11) -> None:
    benchmark.pedantic(work, rounds=rounds, warmup_rounds=1 if rounds > 1 else 0)
    benchmark.extra_info["lyrics_per_second"] = round(count / benchmark.stats.stats.median)


@RULES
def test_warm(benchmark: BenchmarkFixture, pairs: Pairs, rules: str) -> None:
    measure(benchmark, lambda: [score_lyric(*pair, rules=rules) for pair in pairs], len(pairs))


@RULES
def test_with_cold_caches(benchmark: BenchmarkFixture, pairs: Pairs, rules: str) -> None:
    """Score with empty caches of lines, endings and templates, but with jieba's dictionary loaded."""
    lookup.rhyme_class("听音乐")

    def work() -> None:
        for cached in (
            parse_document._parse_short_line,
            parse_muchin._parse_short_line,
            lookup._class_of_short_run,
            parse._parse_short_template,
        ):
            cached.cache_clear()
        for pair in pairs:
            score_lyric(*pair, rules=rules)

    measure(benchmark, work, len(pairs))


@RULES
def test_plain_difflib(
    benchmark: BenchmarkFixture, pairs: Pairs, rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plain(a: str, b: str, *, autojunk: bool = False) -> float:
        return SequenceMatcher(None, a, b, autojunk).ratio()

    monkeypatch.setattr(phases, "ratio", plain)
    sample = pairs[:60] if rules == "document" else pairs
    measure(benchmark, lambda: [score_lyric(*pair, rules=rules) for pair in sample], len(sample), rounds=1)


@pytest.mark.parametrize("autojunk", [False, True])
def test_matcher_alone(benchmark: BenchmarkFixture, pairs: Pairs, autojunk: bool) -> None:
    rules = "muchin" if autojunk else "document"
    texts = [(template, score_lyric(lyric, template, rules=rules).msstr) for lyric, template in pairs]
    measure(benchmark, lambda: [ratio(a, b, autojunk=autojunk) for a, b in texts], len(texts))


@pytest.mark.parametrize("workers", [1, 2])
def test_bulk(benchmark: BenchmarkFixture, pairs: Pairs, workers: int) -> None:
    many = pairs * 20
    measure(benchmark, lambda: score_lyrics(many, workers=workers), len(many), rounds=1)
