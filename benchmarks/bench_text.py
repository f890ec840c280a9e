"""Time text metrics against other libraries: ROUGE-L and BLEU (20,000 pairs), near duplicates (80,000 texts).

    .venv/bin/python -m pytest benchmarks/bench_text.py --benchmark-only

Targets: ROUGE-L is at least 10 times as fast as rouge-chinese, BLEU is no slower than sacrebleu, and near
duplicates of 80,000 texts take at most 1.5 times as long, for each text, as those of 20,000. rouge-score and
rouge-chinese are measured where they are installed. The texts are lines of
``../shared/data/muchin-checkpoints.jsonl`` with three characters in ten replaced.
"""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.figures import HENGWEN, measure
from hengwen.objective import bleu, corpus_bleu, near_duplicates, rouge, self_bleu

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "muchin-checkpoints.jsonl"
COUNT = 20_000

Pairs = list[tuple[str, str]]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    if not DATA.exists():
        pytest.skip("../shared/data/muchin-checkpoints.jsonl is not beside this checkout")
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    texts = {line for row in rows for line in row["lyric"].split("\n")}
    return sorted(line for line in texts if sum("一" <= character <= "龥" for character in line) > 6)


@pytest.fixture(scope="module", params=[1, 5], ids=["one line", "five lines"])
def pairs(request: pytest.FixtureRequest, lines: list[str]) -> Pairs:
    rng = random.Random(0)
    count = COUNT // request.param**2  # the peers' time grows with the square of the length

    def noisy(text: str) -> str:
        return "".join(
            rng.choice(rng.choice(lines)) if rng.random() < 0.3 else character for character in text
        )

    references = ["，".join(rng.choices(lines, k=request.param)) for _ in range(count)]
    return [(noisy(reference), reference) for reference in references]


@pytest.fixture
def size(pairs: Pairs) -> str:
    return "one line" if len(pairs) == COUNT else "five lines"


def measure_texts(
    benchmark: BenchmarkFixture, work: Callable[[], object], case: str, count: int, **options: Any
) -> None:
    measure(benchmark, work, case, count=count, unit="µs", **options)


@pytest.mark.parametrize("kind", ["rougeL", "rouge1", "rouge2", "rougeLsum"])
def test_rouge(benchmark: BenchmarkFixture, pairs: Pairs, size: str, kind: str) -> None:
    measure_texts(
        benchmark, lambda: [rouge(*pair, kind) for pair in pairs], f"{kind}, {size}, a pair", len(pairs)
    )


def test_rouge_l_of_rouge_score(benchmark: BenchmarkFixture, pairs: Pairs, size: str) -> None:
    peer = pytest.importorskip("rouge_score.rouge_scorer")

    class Characters:
        def tokenize(self, text: str) -> list[str]:
            return list(text)

    scorer = peer.RougeScorer(["rougeL"], tokenizer=Characters())
    some = pairs[: len(pairs) // 5]
    measure_texts(
        benchmark,
        lambda: [scorer.score(*reversed(pair)) for pair in some],
        f"rougeL, {size}, a pair",
        len(some),
        system="rouge-score",
        rounds=1,
    )


def test_rouge_l_of_rouge_chinese(benchmark: BenchmarkFixture, pairs: Pairs, size: str) -> None:
    peer = pytest.importorskip("rouge_chinese").Rouge(metrics=["rouge-l"], exclusive=False)
    some = pairs[: len(pairs) // 5]
    texts = [[" ".join(pair[side]) for pair in some] for side in (0, 1)]
    measure_texts(
        benchmark,
        lambda: peer.get_scores(*texts),
        f"rougeL, {size}, a pair",
        len(some),
        system="rouge-chinese",
        rounds=1,
        ratio_high=0.1,
    )


def clear_peer_caches() -> None:
    """Clear the caches of sacrebleu's tokenizers, which hold 65,536 lines."""
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

    TokenizerZh.__call__.cache_clear()
    TokenizerRegexp.__call__.cache_clear()


def measure_bleu(
    benchmark: BenchmarkFixture,
    run_hengwen: Callable[[], object],
    run_peer: Callable[[], object],
    case: str,
    pairs: Pairs,
    library: str,
) -> None:
    if library == HENGWEN:
        measure_texts(benchmark, run_hengwen, case, len(pairs))
    else:
        measure_texts(benchmark, run_peer, case, len(pairs), system=library, ratio_high=1.0)


@pytest.mark.parametrize("library", [HENGWEN, "sacrebleu"])
def test_sentence_bleu(benchmark: BenchmarkFixture, pairs: Pairs, size: str, library: str) -> None:
    from sacrebleu.metrics import BLEU

    peer = BLEU(tokenize="zh", effective_order=True)

    def run_hengwen() -> object:
        clear_peer_caches()
        return [bleu(*pair).score for pair in pairs]

    def run_peer() -> object:
        clear_peer_caches()
        return [peer.sentence_score(hypothesis, [reference]).score for hypothesis, reference in pairs]

    measure_bleu(benchmark, run_hengwen, run_peer, f"sentence BLEU, {size}, a pair", pairs, library)


@pytest.mark.parametrize("library", [HENGWEN, "sacrebleu"])
def test_corpus_bleu(benchmark: BenchmarkFixture, pairs: Pairs, size: str, library: str) -> None:
    from sacrebleu.metrics import BLEU

    hypotheses, references = ([pair[side] for pair in pairs] for side in (0, 1))

    def run_hengwen() -> object:
        clear_peer_caches()
        return corpus_bleu(hypotheses, references).score

    def run_peer() -> object:
        clear_peer_caches()
        return BLEU(tokenize="zh").corpus_score(hypotheses, [references]).score

    measure_bleu(benchmark, run_hengwen, run_peer, f"corpus BLEU, {size}, a pair", pairs, library)


@pytest.mark.parametrize("count", [1000, 4000])
def test_self_bleu(benchmark: BenchmarkFixture, lines: list[str], count: int) -> None:
    case = f"self-BLEU of {count:,} lines, a line"
    measure_texts(benchmark, lambda: self_bleu(lines[:count]), case, count, rounds=1)


@pytest.mark.parametrize("count", [5_000, 10_000, 20_000, 40_000, 80_000])
@pytest.mark.parametrize("kind", ["own words", "stock phrases"])
def test_near_duplicates(benchmark: BenchmarkFixture, lines: list[str], count: int, kind: str) -> None:
    """Search near duplicates in short answers; every tenth one copies an earlier answer with a few edits.

    An answer has 20 to 60 characters, and a copy has up to one edit in eight characters. With stock
    phrases, each answer has 2 to 6 of 11,000 lines, so the number of pairs that share a line grows with the
    square of the number of answers.
    """
    texts = answers(lines, count, stock=kind == "stock phrases")
    case = f"near duplicates of {count:,} texts ({kind}), a text"
    smaller = case.replace(f"{count:,}", "20,000")
    growth = (smaller, 1.5) if count == 80_000 else None
    measure_texts(benchmark, lambda: near_duplicates(texts), case, count, rounds=1, growth=growth)


def answers(lines: list[str], count: int, *, stock: bool) -> list[str]:
    rng = random.Random(0)
    following: dict[str, list[str]] = {}
    for line in lines:
        for first, second in pairwise(line):
            following.setdefault(first, []).append(second)

    def walk() -> str:
        """Return a random text in which characters follow each other as often as in the lines."""
        text = rng.choice(lines)[0]
        for _ in range(rng.randint(19, 59)):
            text += rng.choice(following.get(text[-1]) or rng.choice(lines))
        return text

    texts: list[str] = []
    for _ in range(count):
        if texts and rng.random() < 0.1:
            text = list(rng.choice(texts))
            for _ in range(rng.randint(0, len(text) // 8)):
                position = rng.randrange(len(text))
                text[position : position + 1] = rng.choice(
                    ("", text[position] + "啊", rng.choice(rng.choice(lines)))
                )
            texts.append("".join(text))
        else:
            texts.append("，".join(rng.choices(lines, k=rng.randint(2, 6))) if stock else walk())
    return texts
