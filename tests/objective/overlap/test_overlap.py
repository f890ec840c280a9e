"""BLEU, chrF and TER: by hand, against sacrebleu's public functions, and what is not defined."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from sacrebleu.metrics import BLEU, CHRF, TER

from hengwen.objective import bleu, chrf, corpus_bleu, corpus_chrf, corpus_ter, ter

PAIRS = [
    ("你好,世界!", ["你好，世界！"]),
    ("今晚月色真美", ["今晚月色很美", "今夜的月色真美啊"]),
    ("the cat is on the mat", ["the cat sat on the mat", "a cat is on a mat"]),
    ("我 爱 rock2024 baby", ["我爱rock2024宝贝"]),
    ("ありがとう", ["ありがとうね"]),
]
# sacrebleu 2.6.0 with effective order: (tokenizer chosen, BLEU, chrF)
SACREBLEU = [
    ("zh", 22.957488466614336, 17.77777777777778),
    ("zh", 90.36020036098454, 37.77777777777778),
    ("13a", 53.7284965911771, 61.9251512899325),
    ("zh", 46.30777161991026, 75.01098491533037),
    ("char", 81.87307530779823, 75.37154989384288),
]
TER_BY_SACREBLEU = [100 / 3, 100 / 7, 100 / 6, 40.0]


@each_row("number", range(len(PAIRS)))
def test_numbers_are_those_of_sacrebleu(number: int) -> None:
    tokenizer, expected_bleu, expected_chrf = SACREBLEU[number]
    result = bleu(*PAIRS[number])
    assert (result.tokenizer, result.score) == (tokenizer, pytest.approx(expected_bleu, abs=1e-9))
    assert chrf(*PAIRS[number]).score == pytest.approx(expected_chrf, abs=1e-9)


def test_ter_is_that_of_sacrebleu_but_for_scripts_it_does_not_split() -> None:
    for pair, expected in zip(PAIRS[:4], TER_BY_SACREBLEU, strict=False):
        assert ter(*pair).score == pytest.approx(expected, abs=1e-9)
    assert TER(normalized=True, asian_support=True).sentence_score(*PAIRS[4]).score == 100  # one token
    assert ter(*PAIRS[4]).score == pytest.approx(100 / 6)


@each_row("smooth", ["exp", "floor", "add-k", "none"])
@each_row("tokenize", ["zh", "13a", "char", "intl", "none"])
def test_every_option_reaches_sacrebleu(smooth: str, tokenize: str) -> None:
    peer = BLEU(tokenize=tokenize, smooth_method=smooth, effective_order=True, force=True)
    for hypothesis, references in PAIRS:
        result = bleu(hypothesis, references, tokenize=tokenize, smooth=smooth)
        peer_result = peer.sentence_score(hypothesis, references)
        assert result.score == pytest.approx(min(peer_result.score, 100), abs=1e-12)
        assert result.signature == f"bleu|width:keep|{peer.get_signature()}|v:1"


def test_a_corpus_is_that_of_sacrebleu_with_as_many_references_as_each_text_has() -> None:
    hypotheses, references = [pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS]
    streams = [
        [texts[0] for texts in references],
        [texts[1] if len(texts) > 1 else None for texts in references],
    ]
    for result, peer in (
        (corpus_bleu(hypotheses, references, tokenize="zh"), BLEU(tokenize="zh")),
        (corpus_chrf(hypotheses, references), CHRF()),
        (corpus_ter(hypotheses, references, tokenize="tercom"), TER(normalized=True, asian_support=True)),
    ):
        assert result.score == pytest.approx(peer.corpus_score(hypotheses, streams).score, abs=1e-9)
        assert str(peer.get_signature()) in result.signature


def test_clipping_counts_a_word_as_often_as_the_reference_has_it() -> None:
    result = bleu("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"])
    assert result.precisions[0] == pytest.approx(100 * 2 / 7)  # the example of the paper


def test_the_brevity_penalty_takes_the_closest_reference_and_the_shorter_of_two() -> None:
    result = bleu("a b c d e f", ["a b c d", "a b c d e f g h", "a"])
    assert (result.reference_length, result.brevity_penalty) == (4, 1)
    assert bleu("a b c d", ["a b c d e f"]).brevity_penalty == pytest.approx(math.exp(1 - 6 / 4))


def test_the_published_formula_by_hand() -> None:
    result = corpus_bleu(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"], smooth="none")
    # 1-grams 5 + 2 of 8, 2-grams 3 + 1 of 6, 3-grams 2 of 4, 4-grams 1 of 3; 8 tokens for 9
    assert result.precisions == pytest.approx((100 * 7 / 8, 100 * 4 / 6, 50, 100 / 3))
    expected = 100 * math.exp(1 - 9 / 8) * (7 / 8 * 4 / 6 * 1 / 2 * 1 / 3) ** 0.25
    assert result.score == pytest.approx(expected)


@each_row("text", ["你好呀", "好", "ありがとう", "한국어", "ok", "😊😊", "！！", "我爱rock"])
def test_identical_texts_are_perfect_in_every_script(text: str) -> None:
    assert bleu(text, text).score == chrf(text, text).score == 100
    assert ter(text, text).score == 0


@each_row(
    ("texts", "tokenizer"),
    [
        (("今天的月亮很大", "今天的月亮很圆"), "zh"),
        (("ありがとうね", "ありがとうよ"), "char"),
        (("한국어를", "한국어는"), "char"),
    ],
)
def test_nearly_identical_texts_are_not_zero(texts: tuple[str, str], tokenizer: str) -> None:
    result = bleu(*texts)
    assert result.tokenizer == tokenizer
    assert result.score > 50


def test_width_is_folded_where_asked() -> None:
    pair = "你好,世界!", "你好，世界！"
    assert bleu(*pair).score == pytest.approx(22.957, abs=1e-3)
    assert bleu(*pair, width="fold").score == chrf(*pair, width="fold").score == 100
    assert ter(*pair, width="fold").score == 0
    assert bleu(*pair, width="fold").signature.startswith("bleu|width:fold|nrefs:1|")


def test_words_of_jieba_can_be_compared() -> None:
    result = bleu("我喜欢听音乐", "我喜欢听歌", tokenize="jieba")
    assert (result.hypothesis_length, result.reference_length) == (4, 3)
    assert "|tok:jieba|" in result.signature


def test_the_tokenizer_is_chosen_once_for_a_corpus() -> None:
    result = corpus_bleu(
        ["the cat is here", "ありがとうございます"], ["the cat is here", "ありがとうございます"]
    )
    assert (result.tokenizer, result.score) == ("char", pytest.approx(100))


@each_row("metric", [bleu, chrf, ter])
@each_row(
    ("hypothesis", "references", "message"),
    [
        ("", "你好", "the hypothesis is empty"),
        (" \n", "你好", "the hypothesis is empty"),
        ("你好", "", "the reference is empty"),
        ("你好", [], "there is no reference"),
        ("你好", ["", "  ", None], "all 3 references are empty"),
    ],
)
def test_what_is_not_defined_is_said(metric, hypothesis: str, references, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metric(hypothesis, references)


@each_row("metric", [corpus_bleu, corpus_chrf, corpus_ter])
def test_a_corpus_that_does_not_fit_is_refused(metric) -> None:
    with pytest.raises(ValueError, match="2 hypotheses but 1 references.*one list for each set"):
        metric(["a", "b"], [["a", "b"]])
    with pytest.raises(ValueError, match="there is no hypothesis"):
        metric([], [])
    with pytest.raises(ValueError, match="every hypothesis is empty"):
        metric(["", " "], ["a", "b"])
    with pytest.raises(ValueError, match="text 2: the reference is empty"):
        metric(["a", "b"], ["a", ""])
    with pytest.raises(TypeError, match="hypotheses must be a list of texts, got 'ab'"):
        metric("ab", ["a", "b"])


def test_too_short_for_4_grams_is_said_and_no_zero() -> None:
    with pytest.raises(
        ValueError, match="too short for 4-grams: no text has 4 tokens under the tokenizer zh"
    ):
        bleu("你好呀", "你好呀", effective_order=False)
    with pytest.raises(ValueError, match="too short for 4-grams"):
        corpus_bleu(["你好", "早"], ["你好", "早"])
    assert corpus_bleu(["你好", "早"], ["你好", "早"], effective_order=True).score == 100


def test_an_empty_text_in_a_corpus_costs_length() -> None:
    full = corpus_bleu(["今晚月色真美", "今晚月色真美"], ["今晚月色真美", "今晚月色真美"])
    half = corpus_bleu(["今晚月色真美", ""], ["今晚月色真美", "今晚月色真美"])
    assert half.score == pytest.approx(full.score * math.exp(1 - 12 / 6))


@pytest.mark.slow
def test_a_long_text_is_scored_or_refused_with_the_reason() -> None:
    text = "".join(chr(0x4E00 + i * 7919 % 3000) for i in range(100_000))
    assert bleu(text, text).score == 100
    with pytest.raises(ValueError, match="100000 characters is too long for ter.*max_characters is 500"):
        ter(text, "你好")
    assert ter("a b", "a c", max_characters=3).score == 50


@each_row(
    ("options", "message"),
    [
        ({"tokenize": "spm"}, "tokenize must be auto, 13a, zh, .*, ko-mecab or flores200, got 'spm'"),
        ({"smooth": "more"}, "smooth must be exp, floor, add-k or none, got 'more'"),
        ({"width": "half"}, "width must be keep or fold, got 'half'"),
    ],
)
def test_wrong_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bleu("a", "a", **options)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    st.text(alphabet="今晚月色真美，。　—“ab c1.", min_size=1, max_size=20),
    st.lists(st.text(alphabet="今晚月色真美，。　—“ab c1.", min_size=1, max_size=20), min_size=1, max_size=3),
)
def test_scores_stay_on_their_scale_and_agree_with_sacrebleu(hypothesis: str, references: list[str]) -> None:
    if not hypothesis.strip() or not all(reference.strip() for reference in references):
        return
    result = bleu(hypothesis, references, tokenize="zh")
    peer = BLEU(tokenize="zh", effective_order=True).sentence_score(hypothesis, references)
    assert result.score == pytest.approx(min(peer.score, 100), abs=1e-9)
    assert 0 <= result.score <= 100
    assert chrf(hypothesis, references).score == pytest.approx(
        min(CHRF().sentence_score(hypothesis, references).score, 100), abs=1e-9
    )


def test_where_every_character_is_a_token_sacrebleu_says_so_too() -> None:
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

    from hengwen.objective.overlap.bleu import _ZH_CHARACTERS_ONLY, BleuOptions

    plain = "".join(filter(_ZH_CHARACTERS_ONLY.fullmatch, map(chr, range(0x10000))))
    assert len(plain) > 27_000
    assert BleuOptions().splitter("zh")(plain) == TokenizerZh()(plain).split()
