"""ROUGE: by hand, against a slow oracle, and against numbers of two public packages."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.errors import PluginError
from hengwen.objective import rouge
from hengwen.objective.overlap.rouge import RougeOptions, cached_options
from hengwen.objective.text import mixed_tokens

ENGLISH = [
    ("the cat sat on the mat", "the cat was found under the bed"),
    ("The the the the!", "the cat is on the mat"),
    ("Police killed the gunman.", "police kill the gunman, don't they?"),
    ("It's snake_case and state-of-the-art (2024).", "its snake case, and State of the Art 2024"),
    ("running runners ran quickly through forests", "the runner was running quicker in the forest"),
    ("a b c d e", "e d c b a"),
    ("line one here\nline two is there\nthe end", "here is line one\nand the end of line two"),
    ("one two three\none two three", "one two\nthree one two three four"),
    ("no overlap whatsoever", "completely different words"),
    ("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"),
]
# F of rouge1, rouge2, rougeL, rougeLsum by rouge-score 0.1.2 without stemming
ROUGE_SCORE = [
    (0.4615384615384615, 0.1818181818181818, 0.4615384615384615, 0.4615384615384615),
    (0.4, 0.0, 0.4, 0.4),
    (0.5454545454545454, 0.2222222222222222, 0.5454545454545454, 0.5454545454545454),
    (0.8421052631578948, 0.823529411764706, 0.8421052631578948, 0.8421052631578948),
    (0.14285714285714288, 0.0, 0.14285714285714288, 0.14285714285714288),
    (1.0, 0.0, 0.20000000000000004, 0.20000000000000004),
    (0.8421052631578948, 0.35294117647058826, 0.4210526315789474, 0.7368421052631577),
    (0.923076923076923, 0.9090909090909091, 0.923076923076923, 0.7692307692307692),
    (0.0, 0.0, 0.0, 0.0),
    (0.5333333333333333, 0.15384615384615383, 0.5333333333333333, 0.5333333333333333),
]
STEMMED = {2: (0.7272727272727273, 0.6666666666666666), 4: (0.42857142857142855, 0.0)}
"""rouge1 and rouge2 by rouge-score 0.1.2 with its stemmer; the other pairs do not move."""
# (precision, recall) of rouge-1, rouge-2, rouge-l by rouge-chinese 1.0.3, exclusive=False, by character
ROUGE_CHINESE = [
    ("今天的月亮很圆", "今天月亮真圆", (5 / 7, 5 / 6), (2 / 6, 2 / 5), (5 / 7, 5 / 6)),
    ("好好好学习", "好好学习天天向上", (4 / 5, 4 / 8), (3 / 4, 3 / 7), (4 / 5, 4 / 8)),
    ("我喜欢听音乐，你呢？", "我最喜欢和你一起听音乐。", (7 / 10, 7 / 12), (3 / 9, 3 / 11), (6 / 10, 6 / 12)),
    ("风吹过山岗", "月照着海洋", (0, 0), (0, 0), (0, 0)),
    ("哈哈哈哈", "哈哈", (2 / 4, 1), (1 / 3, 1), (2 / 4, 1)),
    ("早上好，主人！", "主人，早上好！", (1, 1), (3 / 6, 3 / 6), (4 / 7, 4 / 7)),
]
KINDS = ("rouge1", "rouge2", "rougeL", "rougeLsum")


@each_row("number", range(len(ENGLISH)))
def test_english_agrees_with_rouge_score(number: int) -> None:
    result = [rouge(*ENGLISH[number], kind).f for kind in KINDS]
    assert result == pytest.approx(ROUGE_SCORE[number], abs=1e-12)


@pytest.mark.slow
def test_english_agrees_with_rouge_score_itself() -> None:
    peer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([*KINDS, "rouge3"])
    for hypothesis, reference in ENGLISH:
        for kind, peer_result in peer.score(reference, hypothesis).items():
            result = rouge(hypothesis, reference, kind)
            assert result == pytest.approx(
                (peer_result.precision, peer_result.recall, peer_result.fmeasure), abs=1e-12
            )


@pytest.mark.slow
@each_row("number", range(len(ENGLISH)))
def test_stemmed_english_agrees_with_rouge_score(number: int) -> None:
    pytest.importorskip("nltk")
    expected = STEMMED.get(number, ROUGE_SCORE[number][:2])
    result = [rouge(*ENGLISH[number], kind, stem=True).f for kind in KINDS[:2]]
    assert result == pytest.approx(expected, abs=1e-12)


def test_stemming_without_nltk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nltk.stem.porter", None)
    from hengwen.objective.overlap import rouge as module

    module._stemmed.cache_clear()
    cached_options.cache_clear()
    with pytest.raises(PluginError, match=r"stem: true needs nltk.*hengwen\[text\]"):
        rouge("a", "a", stem=True)


@each_row("row", ROUGE_CHINESE, ids=[row[0] for row in ROUGE_CHINESE])
def test_chinese_by_character_agrees_with_rouge_chinese(row) -> None:
    hypothesis, reference, *expected = row
    for kind, ratios in zip(KINDS, expected, strict=False):
        result = rouge(hypothesis, reference, kind, tokenize="char")
        assert (result.precision, result.recall) == pytest.approx(ratios, abs=1e-12)


def test_chinese_by_character_agrees_with_rouge_chinese_itself() -> None:
    peer = pytest.importorskip("rouge_chinese").Rouge(exclusive=False)
    for hypothesis, reference, *_ in ROUGE_CHINESE:
        (peer_result,) = peer.get_scores(" ".join(hypothesis), " ".join(reference))
        for name, kind in (("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")):
            result = rouge(hypothesis, reference, kind, tokenize="char")
            assert (result.precision, result.recall) == pytest.approx(
                (peer_result[name]["p"], peer_result[name]["r"])
            )
            assert result.f == pytest.approx(peer_result[name]["f"], abs=1e-8)  # its denominator has 1e-8


@each_row(
    ("hypothesis", "reference", "kind", "expected"),
    [
        ("the the the", "the cat", "rouge1", (1 / 3, 1 / 2, 0.4)),
        ("the the", "the the cat the", "rouge1", (1, 1 / 2, 2 / 3)),
        ("abd", "a b d", "rouge1", (0, 0, 0)),
        ("风吹过", "风吹来", "rouge2", (1 / 2, 1 / 2, 1 / 2)),
        ("a c b d", "a b c d", "rougeL", (3 / 4, 3 / 4, 3 / 4)),
        ("你好", "你好，世界！", "rougeL", (1, 1 / 2, 2 / 3)),
        ("你好,世界!", "你好，世界！", "rougeL", (1, 1, 1)),
        ("a b\nc d", "c d\na b", "rougeL", (1 / 2, 1 / 2, 1 / 2)),
        ("a b\nc d", "c d\na b", "rougeLsum", (1, 1, 1)),
    ],
)
def test_by_hand(hypothesis: str, reference: str, kind: str, expected: tuple[float, float, float]) -> None:
    assert rouge(hypothesis, reference, kind) == pytest.approx(expected)


@each_row("text", ["你好呀", "好", "ありがとう", "한국어", "ok", "我爱rock"])
def test_identical_texts_have_one_in_every_script(text: str) -> None:
    assert rouge(text, text) == rouge(text, text, "rouge1") == rouge(text, text, "rougeLsum") == (1, 1, 1)


def test_beta_weighs_recall() -> None:
    result = rouge("a", "a b", beta=2)  # P 1, R 1/2: 5 * 1/2 / (1/2 + 4)
    assert result.f == pytest.approx(5 / 9)


def test_several_references_give_the_best_or_the_mean() -> None:
    references = ["a x", "a b", "b a"]
    assert rouge("a b", references) == (1, 1, 1)
    mean = rouge("a b", references, multi_ref="mean")  # 1/2, 1, 1/2
    assert mean == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_sentences_end_at_chinese_punctuation_where_asked() -> None:
    texts = "你好。再见！", "再见！你好。"
    assert rouge(*texts, "rougeLsum").f == pytest.approx(1 / 2)
    assert rouge(*texts, "rougeLsum", sentences="punctuation").f == 1


@each_row(
    ("hypothesis", "references", "kind", "message"),
    [
        ("", "你好", "rougeL", "the hypothesis is empty"),
        (" \n", "你好", "rougeL", "the hypothesis is empty"),
        ("！！😊", "你好", "rougeL", "the hypothesis has no token: it has no letter or digit"),
        ("你好", "", "rougeL", "the reference is empty"),
        ("你好", "……", "rougeL", "the reference has no token"),
        ("你好", [], "rougeL", "there is no reference"),
        ("你好", [" ", "……"], "rougeL", "reference 1 of 2 is empty"),
        ("好", "你好", "rouge2", "too short for 2-grams: the hypothesis has 1 token"),
        ("你好吗", "你好", "rouge3", "too short for 3-grams: the reference has 2 tokens"),
        ("你好吗", ["你好", ""], "rouge3", "too short for 3-grams: reference 1 of 2 has 2 tokens"),
        ("？\n！", "你好", "rougeLsum", "the hypothesis has no token"),
    ],
)
def test_what_is_not_defined_is_said(hypothesis: str, references, kind: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rouge(hypothesis, references, kind)


@each_row(
    ("options", "message"),
    [
        ({"kind": "rougeW"}, "kind must be rouge1 to rouge9, rougeL or rougeLsum, got 'rougeW'"),
        ({"tokenize": "zh"}, "tokenize must be auto, mixed, char, jieba or whitespace, got 'zh'"),
        ({"beta": 0}, "beta must be a number above 0, got 0"),
        ({"multi_ref": "all"}, "multi_ref must be best, mean or pooled"),
        ({"stem": "yes"}, "stem must be true or false"),
        ({"width": "half"}, "width must be keep or fold"),
        ({"sentences": "nltk"}, "sentences must be newline or punctuation"),
    ],
)
def test_wrong_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RougeOptions(**options)


@pytest.mark.slow
def test_a_text_of_100_000_characters_is_scored() -> None:
    text = "".join(chr(0x4E00 + i * 7919 % 3000) for i in range(100_000))
    assert rouge(text, text[10:]).recall == 1
    assert rouge(text, text[10:], "rouge2").recall == 1
    with pytest.raises(ValueError, match="too long for rougeLsum"):
        rouge(text + "\n" + text, text, "rougeLsum")
    with pytest.raises(ValueError, match="sentences of 50000 and 50000 tokens are too long for rougeLsum"):
        rouge("a " * 50_000 + "\na", "b a " * 25_000, "rougeLsum")


def slow_union(reference: list[list[str]], hypothesis: list[list[str]]) -> int:
    """The table of the longest common subsequence, walked back as rouge-score does."""

    def indices(a: list[str], b: list[str]) -> set[int]:
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a, 1):
            for j, y in enumerate(b, 1):
                table[i][j] = table[i - 1][j - 1] + 1 if x == y else max(table[i - 1][j], table[i][j - 1])
        matched, i, j = set(), len(a), len(b)
        while i and j:
            if a[i - 1] == b[j - 1]:
                matched.add(i - 1)
                i, j = i - 1, j - 1
            elif table[i][j - 1] > table[i - 1][j]:
                j -= 1
            else:
                i -= 1
        return matched

    left = Counter(token for sentence in reference for token in sentence)
    right = Counter(token for sentence in hypothesis for token in sentence)
    hits = 0
    for sentence in reference:
        for index in sorted(set().union(*(indices(sentence, other) for other in hypothesis))):
            token = sentence[index]
            if left[token] and right[token]:
                hits, left[token], right[token] = hits + 1, left[token] - 1, right[token] - 1
    return hits


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(*[st.text(alphabet="abcd好\n ", min_size=1, max_size=25)] * 2)
def test_the_summary_level_agrees_with_the_plain_table(hypothesis: str, reference: str) -> None:
    lines, reference_lines = (
        [t for line in x.split("\n") if (t := mixed_tokens(line))] for x in (hypothesis, reference)
    )
    if lines and reference_lines:
        result = rouge(hypothesis, reference, "rougeLsum")
        assert result.recall == pytest.approx(
            slow_union(reference_lines, lines) / sum(map(len, reference_lines))
        )
        assert 0 <= result.f <= 1


@each_row(("text", "count"), [("好", "1 token"), ("你好", "2 tokens")])
def test_a_text_that_is_too_short_is_counted_in_tokens(text: str, count: str) -> None:
    with pytest.raises(ValueError, match=f"too short for 3-grams: .* has {count}$"):
        rouge(text, "今晚月色真美", "rouge3")
