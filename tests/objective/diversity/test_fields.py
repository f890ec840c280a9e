"""Every field, default and option of the diversity scorers, on sets small enough to check by hand."""

from __future__ import annotations

import zlib
from math import log2

import pytest
from rows import each_row

from hengwen import registry
from hengwen.objective import bleu, compression_ratio, distinct_n, ngram_entropy, repetition_rate, self_bleu
from hengwen.objective.diversity.scorers import _closest_other
from hengwen.records import Response, Sample, Scale

SHARE, LOW_SHARE = Scale(low=0, high=1), Scale(low=0, high=1, higher_is_better=False)
ONE = Sample(id="1")


def answers(*texts: str) -> list[tuple[Sample, Response]]:
    return [(ONE, Response(sample_id="1", text=text, repeat=number)) for number, text in enumerate(texts, 1)]


@each_row(
    ("name", "options", "expected"),
    [
        (
            "ngram_entropy",
            {"n": 1, "scope": "repeats"},
            (
                "entropy_1.repeats",
                0.75,
                "ngram_entropy|n:1|scope:repeats|tok:mixed|v:1",
                SHARE,
                "1.500 bits",
                {"bits": 1.5},
            ),
        ),
        (
            "ngram_entropy",
            {},
            (
                "entropy_2.checkpoint",
                1.0,
                "ngram_entropy|n:2|scope:checkpoint|tok:mixed|v:1",
                SHARE,
                "1.585 bits",
                {"bits": pytest.approx(log2(3))},
            ),
        ),
        (
            "distinct_n",
            {"n": 1, "scope": "repeats"},
            ("distinct_1.repeats", 0.75, "distinct_n|n:1|scope:repeats|tok:mixed|v:2", SHARE, "", {}),
        ),
        (
            "compression",
            {},
            (
                "compression.checkpoint",
                12 / len(zlib.compress("风吹风来".encode(), 9)),
                f"compression|scope:checkpoint|utf-8|zlib:{zlib.ZLIB_RUNTIME_VERSION}|level:9|v:1",
                Scale(low=0, high=1100, higher_is_better=False),
                "",
                {},
            ),
        ),
    ],
)
def test_a_scorer_of_sets_fills_every_field(name: str, options: dict, expected: tuple) -> None:
    scorer = registry.build("scorers", name, options)
    (score,) = scorer.score_set(answers("风吹风来"))
    assert expected == (score.name, score.value, score.signature, score.scale, score.reason, score.details)
    assert scorer.names == (score.name,)


@each_row(
    ("name", "options", "expected"),
    [
        ("repetition", {}, ("repetition_4.share", 0.5, "repetition|n:4|tok:mixed|v:1", LOW_SHARE)),
        ("repetition", {"n": 2}, ("repetition_2.share", 0.75, "repetition|n:2|tok:mixed|v:1", LOW_SHARE)),
        (
            "type_token_ratio",
            {"window": 2},
            ("type_token_ratio.share", 0.5, "type_token_ratio|window:2|tok:mixed|v:1", SHARE),
        ),
        (
            "type_token_ratio",
            {},
            ("type_token_ratio.share", 0.2, "type_token_ratio|window:whole|tok:mixed|v:1", SHARE),
        ),
    ],
)
def test_a_scorer_of_answers_fills_every_field(name: str, options: dict, expected: tuple) -> None:
    scorer = registry.build("scorers", name, options)
    (score,) = scorer.score(ONE, Response(sample_id="1", text="哈哈哈哈哈"))
    assert (score.name, score.value, score.signature, score.scale) == expected
    assert (score.reason, score.details) == ("", {})


@each_row(
    ("name", "defaults"),
    [
        ("distinct_n", {"n": 2, "scope": "checkpoint"}),
        ("ngram_entropy", {"n": 2, "scope": "checkpoint"}),
        ("compression", {"scope": "checkpoint"}),
        ("repetition", {"n": 4}),
        ("type_token_ratio", {"window": None}),
        ("self_bleu", {"scope": "repeats", "tokenize": "auto", "width": "keep"}),
    ],
)
def test_scorers_have_documented_defaults(name: str, defaults: dict[str, object]) -> None:
    scorer = registry.build("scorers", name, {})
    assert {option: getattr(scorer, option) for option in defaults} == defaults


def test_functions_have_documented_defaults() -> None:
    text = "哈哈哈哈哈风"
    assert distinct_n([text]) == distinct_n([text], 2)
    assert ngram_entropy([text]) == ngram_entropy([text], 2, normalize=False)
    assert repetition_rate(text) == repetition_rate(text, 4) == pytest.approx(1 / 3)


def test_texts_are_compressed_as_lines_of_utf_8() -> None:
    raw = "风\n\ud800a".encode("utf-8", "surrogatepass")
    assert compression_ratio(["风", "\ud800a"]) == len(raw) / len(zlib.compress(raw, 9))
    varied = [chr(0x4E00 + 37 * number % 20_000) for number in range(900)]
    raw = "\n".join(varied).encode()
    assert compression_ratio(varied) == len(raw) / len(zlib.compress(raw, 9))


def test_a_blank_text_beside_another_can_be_compressed() -> None:
    assert compression_ratio(["", "a"]) == 2 / len(zlib.compress(b"\na", 9))


def test_self_bleu_takes_tokenizer_and_width() -> None:
    texts = ["ＡＢ ｃ ｄ，", "ab c d,", "ab c e,"]
    folded = ["AB c d,", "ab c d,", "ab c e,"]
    expected = [bleu(text, folded[:i] + folded[i + 1 :]).score for i, text in enumerate(folded)]
    assert self_bleu(texts, width="fold") == pytest.approx(sum(expected) / 3)
    assert self_bleu(texts, width="fold") != pytest.approx(self_bleu(texts))
    by_character = [
        bleu(text, texts[:i] + texts[i + 1 :], tokenize="char").score for i, text in enumerate(texts)
    ]
    assert self_bleu(texts, tokenize="char") == pytest.approx(sum(by_character) / 3)
    assert self_bleu(texts) == self_bleu(texts, tokenize="auto", width="keep")


def test_the_tokenizer_of_self_bleu_is_chosen_after_folding() -> None:
    texts = ["ｱﾘｶﾞﾄｳ", "ｱﾘｶﾞﾄｳね"]
    (score,) = registry.build("scorers", "self_bleu", {"width": "fold"}).score_set(answers(*texts))
    assert score.value == pytest.approx(self_bleu(["アリガトウ", "アリガトウね"], tokenize="char"))


def test_the_scorer_of_self_bleu_passes_its_options_on() -> None:
    texts = ["ＡＢ ｃ", "ab c", "ab d"]
    options = {"tokenize": "char", "width": "fold", "scope": "checkpoint"}
    scorer = registry.build("scorers", "self_bleu", options)
    (score,) = scorer.score_set(answers(*texts))
    assert (score.name, score.details) == ("self_bleu.checkpoint", {"n": 3})
    assert score.value == self_bleu(texts, tokenize="char", width="fold")
    assert "scope:checkpoint|width:fold|" in scorer.signature
    assert "|tok:char|" in scorer.signature


@each_row("lengths", [[1, 1, 2, 5], [3, 7, 7, 8], [2, 4, 6, 9, 9, 9], [5, 5], [1, 9]])
def test_the_closest_other_length_is_that_of_a_plain_search(lengths: list[int]) -> None:
    for index, length in enumerate(lengths):
        others = lengths[:index] + lengths[index + 1 :]
        assert _closest_other(lengths, length) == min(others, key=lambda x: (abs(x - length), x))
