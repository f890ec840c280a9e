"""Intervals, ROUGE, n-gram counts and the choice of a tokenizer: by hand, with the ends of each range."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from rows import each_row

from hengwen.objective import rouge
from hengwen.objective.overlap import scorers as corpus
from hengwen.objective.overlap.bleu import all_ngrams, bleu_counts, closest_length
from hengwen.objective.overlap.rouge import lcs_indices
from hengwen.objective.overlap.scorers import corpus_interval
from hengwen.objective.text import choose_bleu_tokenizer, fold_width

NUMBERS = [17 * number % 31 for number in range(40)]


def mean(sums: list[float]) -> float:
    return sums[0] / sums[1]


ROWS = [[float(number), 1.0] for number in NUMBERS]
NAMES = [str(index) for index in range(40)]


def test_the_bootstrap_is_used_from_30_clusters_on() -> None:
    few = [corpus_interval(ROWS[:29], mean, NAMES[:29], seed=seed) for seed in (0, 1)]
    many = [corpus_interval(ROWS[:30], mean, NAMES[:30], seed=seed) for seed in (0, 1)]
    assert few[0] == few[1]
    assert many[0] != many[1]


def test_the_seed_is_0_by_default_and_one_sample_is_allowed() -> None:
    assert corpus_interval(ROWS, mean, NAMES) == corpus_interval(
        ROWS, mean, NAMES, confidence=0.95, resamples=1000, seed=0
    )
    interval = corpus_interval(ROWS, mean, NAMES, resamples=1)
    assert interval[0] == interval[1]


def test_the_interval_does_not_depend_on_the_size_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = corpus_interval(ROWS, mean, NAMES, resamples=70)
    for counts in (1, 100, 1000):
        monkeypatch.setattr(corpus, "_MAX_BATCH_COUNTS", counts)
        assert corpus_interval(ROWS, mean, NAMES, resamples=70) == expected


def test_the_interval_of_the_bootstrap_holds_the_share_of_its_level() -> None:
    values: list[float] = []

    def note(sums: list[float]) -> float:
        values.append(mean(sums))
        return values[-1]

    interval = corpus_interval(ROWS, note, NAMES, confidence=0.5)
    assert len(values) == 1000
    assert np.mean([value < interval[0] for value in values]) == pytest.approx(0.25, abs=0.01)
    assert np.mean([value > interval[1] for value in values]) == pytest.approx(0.25, abs=0.01)


@each_row("clusters", [["a"], ["a", "a", "a"]])
def test_one_cluster_has_no_interval(clusters: list[str]) -> None:
    assert corpus_interval([[1.0, 1.0]] * len(clusters), mean, clusters) is None
    assert corpus_interval([[1, 1], [2, 1]], mean, ["a", "b"]) is not None


def test_the_jackknife_sums_the_texts_of_a_cluster() -> None:
    rows = [[1, 1], [2, 1], [6, 1], [3, 2]]
    together = corpus_interval(rows, mean, ["x", "y", "x", "z"])
    assert together == corpus_interval([[7, 2], [2, 1], [3, 2]], mean, ["a", "b", "c"])


@each_row(
    ("hypothesis", "reference", "beta", "f"),
    [
        ("a b c d", "a b", 1, 2 / 3),
        ("a b c d", "a b", 2, 5 * 0.5 / (1 + 4 * 0.5)),
        ("a b", "a b c d", 2, 5 * 0.5 / (0.5 + 4)),
        ("a b c d", "a b", 0.5, 1.25 * 0.5 / (1 + 0.25 * 0.5)),
        ("a c", "a b c d e", 3, 10 * 0.4 / (0.4 + 9)),
    ],
)
def test_f_is_the_weighted_harmonic_mean(hypothesis: str, reference: str, beta: float, f: float) -> None:
    assert rouge(hypothesis, reference, beta=beta).f == pytest.approx(f)


@each_row("kind", ["rouge1", "rougeL", "rougeLsum"])
def test_full_width_letters_are_folded_where_the_width_is_folded(kind: str) -> None:
    assert rouge("ＡＢ c", "ab c", kind, width="fold") == (1, 1, 1)
    assert rouge("ＡＢ c", "ab c", kind).f == pytest.approx(1 / 2)


def test_a_text_without_a_token_after_folding_is_refused() -> None:
    with pytest.raises(ValueError, match="^the hypothesis has no token: it has no letter or digit$"):
        rouge("！", "你好", width="fold")


def test_the_first_of_the_best_references_counts() -> None:
    result = rouge("a b c d", ["a b", "a b c d e f g h"])
    assert result == (0.5, 1, pytest.approx(2 / 3))
    assert rouge("a b c d", ["a b c d e f g h", "a b"]) == (1, 0.5, pytest.approx(2 / 3))


@each_row(
    ("end", "sentences", "recall"),
    [
        ("。", "punctuation", 1),
        ("！”", "punctuation", 1),
        ("？！", "punctuation", 1),
        ("…", "punctuation", 1),
        ("\n", "punctuation", 1),
        ("，", "punctuation", 1 / 2),
        ("\n", "newline", 1),
        ("。", "newline", 1 / 2),
    ],
)
def test_sentences_are_lines_or_end_at_punctuation(end: str, sentences: str, recall: float) -> None:
    result = rouge(f"甲乙{end}丙丁", f"丙丁{end}甲乙", "rougeLsum", sentences=sentences)
    assert result.recall == recall


@pytest.mark.slow
def test_a_longest_common_subsequence_is_that_of_the_plain_table() -> None:
    texts = ["".join(letters) for size in range(1, 5) for letters in product("abc", repeat=size)]
    for a, b in product(texts, texts):
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a, 1):
            for j, y in enumerate(b, 1):
                table[i][j] = table[i - 1][j - 1] + 1 if x == y else max(table[i - 1][j], table[i][j - 1])
        indices, i, j = [], len(a), len(b)
        while i and j:
            if a[i - 1] == b[j - 1]:
                indices.append(i - 1)
                i, j = i - 1, j - 1
            elif table[i][j - 1] > table[i - 1][j]:
                j -= 1
            else:
                i -= 1
        assert lcs_indices(a, b) == indices, (a, b)


def test_counts_are_clipped_by_the_reference_with_most_of_an_n_gram() -> None:
    references = [list("aab"), list("abab"), list("c")]
    assert bleu_counts(list("aaab"), references) == [4, 4, 3, 2, 1, 0, 4, 3, 2, 1]
    assert bleu_counts(list("aa"), references) == [2, 1, 2, 1, 0, 0, 2, 1, 0, 0]
    assert bleu_counts([], [["a"]]) == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]


@each_row(("lengths", "length", "closest"), [([5, 3], 4, 3), ([3, 5], 4, 3), ([9, 6], 6, 6), ([7], 1, 7)])
def test_the_shorter_of_two_equally_close_lengths_is_the_closest(
    lengths: list[int], length: int, closest: int
) -> None:
    assert closest_length(lengths, length) == closest


def test_n_grams_of_four_lengths_are_counted() -> None:
    counts = all_ngrams("abcdea")
    assert {len(gram): sum(1 for other in counts if len(other) == len(gram)) for gram in counts} == {
        1: 5,
        2: 5,
        3: 4,
        4: 3,
    }
    assert counts["a",] == 2
    assert counts["b", "c", "d", "e"] == 1


@each_row(
    ("references", "tokenizer"),
    [
        (["我" * 19 + "の"], "char"),
        (["我" * 20 + "の"], "zh"),
        (["我" * 19, "の"], "char"),
        (["rock", "我"], "zh"),
        (["rock"], "13a"),
        (["2"], "13a"),
        (["😊", "！"], "char"),
        ([], "char"),
    ],
)
def test_one_letter_in_twenty_decides_for_characters(references: list[str], tokenizer: str) -> None:
    assert choose_bleu_tokenizer(references) == tokenizer


def test_the_width_is_kept_by_default() -> None:
    assert fold_width("Ａ，") == fold_width("Ａ，", "keep") == "Ａ，"
    assert fold_width("Ａ，", "fold") == "A,"
