"""Two systems on one corpus: the p-values are those of sacrebleu."""

from __future__ import annotations

import random

import pytest
from rows import each_row
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from hengwen.objective import compare_systems, corpus_scores
from hengwen.objective.overlap import paired_tests
from hengwen.objective.overlap.corpus_rows import ter_rows
from hengwen.objective.overlap.ter import TerOptions

RNG = random.Random(3)
CHARACTERS = "今晚月色真美我想和你走在风里看海"
REFERENCES = ["".join(RNG.choice(CHARACTERS) for _ in range(12)) for _ in range(40)]


def noisy(text: str, edits: int) -> str:
    characters = list(text)
    for _ in range(edits):
        characters[RNG.randrange(len(text))] = RNG.choice(CHARACTERS)
    return "".join(characters)


SYSTEM = [noisy(text, RNG.randint(1, 5)) for text in REFERENCES]
BASELINE = [noisy(text, RNG.randint(1, 6)) for text in REFERENCES]
PEERS = {"BLEU": BLEU(tokenize="zh"), "chrF2": CHRF(), "TER": TER(normalized=True, asian_support=True)}


@pytest.mark.slow
@each_row("test", ["ar", "bs"])
def test_p_values_and_scores_are_those_of_sacrebleu(test: str) -> None:
    systems = [("baseline", BASELINE), ("system", SYSTEM)]
    _, expected = PairedTest(systems, PEERS, [REFERENCES], test, 300)()
    comparisons = compare_systems(
        SYSTEM, BASELINE, REFERENCES, metrics=["bleu", "chrf", "ter"], test=test, trials=300
    )
    for comparison, name in zip(comparisons, PEERS, strict=True):
        baseline, system = expected[name]
        assert comparison.p == system.p_value
        assert (comparison.baseline, comparison.system) == pytest.approx((baseline.score, system.score))
        assert comparison.difference == comparison.system - comparison.baseline
        assert (comparison.test, comparison.trials, comparison.seed, comparison.n) == (test, 300, 12345, 40)


def test_the_defaults_are_those_of_sacrebleu() -> None:
    (ar,) = compare_systems(SYSTEM[:5], BASELINE[:5], REFERENCES[:5], metrics=["rougeL"])
    (bs,) = compare_systems(SYSTEM[:5], BASELINE[:5], REFERENCES[:5], metrics=["rougeL"], test="bs")
    assert (ar.trials, bs.trials) == (10_000, 1000)


@pytest.mark.slow
def test_values_are_those_of_the_corpus_and_the_seed_decides() -> None:
    metrics = ["bleu", "chrf", "ter", "rougeL"]
    first, again = (
        compare_systems(SYSTEM, BASELINE, REFERENCES, metrics=metrics, trials=50, seed=seed)
        for seed in (7, 7)
    )
    assert first == again
    for comparison, score in zip(first, corpus_scores(SYSTEM, REFERENCES, metrics=metrics), strict=True):
        assert (comparison.name, comparison.signature) == (score.name, score.signature)
        assert comparison.system == pytest.approx(score.value)
    (other,) = compare_systems(SYSTEM, SYSTEM[::-1], REFERENCES, metrics=["ter"], trials=50, seed=8)
    assert other.p < 0.1


def test_a_system_does_not_differ_from_itself() -> None:
    for test in ("ar", "bs"):
        (comparison,) = compare_systems(SYSTEM, SYSTEM, REFERENCES, metrics=["bleu"], test=test, trials=50)
        assert comparison.difference == 0
        assert comparison.p > 0.01


def test_rouge_is_tested_on_the_texts_that_have_one_in_both_systems() -> None:
    system, baseline = ["！", *SYSTEM[1:]], [BASELINE[0], "……", *BASELINE[2:]]
    (comparison,) = compare_systems(system, baseline, REFERENCES, metrics=["rougeL"], trials=50)
    (expected,) = compare_systems(SYSTEM[2:], BASELINE[2:], REFERENCES[2:], metrics=["rougeL"], trials=50)
    assert comparison == expected
    with pytest.raises(ValueError, match=r"no text has rouge_l.mean for both systems"):
        compare_systems(["！", "好"], ["好", "！"], ["好", "好"], metrics=["rougeL"])


def test_texts_without_a_reference_are_no_part_of_the_test() -> None:
    references = ["", *REFERENCES[1:]]
    (comparison,) = compare_systems(SYSTEM, BASELINE, references, metrics=["bleu"], trials=50)
    (expected,) = compare_systems(SYSTEM[1:], BASELINE[1:], REFERENCES[1:], metrics=["bleu"], trials=50)
    assert comparison == expected


def test_a_resample_of_references_without_tokens_has_the_ter_of_sacrebleu() -> None:
    value_of = ter_rows(["今晚"], [["今晚"]], TerOptions()).value_of
    peer = TER()._compute_score_from_stats
    for sums in ([0.0, 0.0], [3.0, 0.0], [1.0, 4.0]):
        assert value_of(sums) == peer(sums).score


@each_row(
    ("options", "message"),
    [
        ({"test": "t"}, "test must be ar or bs, got 't'"),
        ({"trials": 0}, "trials must be a whole number >= 1"),
        ({"seed": 0}, "seed must be a whole number >= 1"),
        ({"metrics": ["blue"]}, "unknown metric 'blue'"),
    ],
)
def test_wrong_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_systems(SYSTEM, BASELINE, REFERENCES, **options)


def test_a_test_that_needs_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired_tests, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"10000 trials on 40 texts need .* lower the number of trials"):
        compare_systems(SYSTEM, BASELINE, REFERENCES, metrics=["bleu"])
