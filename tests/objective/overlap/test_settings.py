"""Defaults, ends of ranges, and the way of each setting from a call or a plan to the value."""

from __future__ import annotations

import inspect

from rows import each_row

from hengwen import registry
from hengwen.objective import (
    bleu,
    chrf,
    corpus_bleu,
    corpus_chrf,
    corpus_scores,
    corpus_ter,
    rouge,
    self_bleu,
    ter,
)
from hengwen.records import Response, Sample

NUMBERS = [17 * number % 31 for number in range(40)]
REFERENCES = [f"今晚月色很美{number}" for number in NUMBERS]
HYPOTHESES = [f"今晚月色真美{number % 7}" for number in NUMBERS]
ITEMS = [
    (Sample(id=str(index), references=(reference,)), Response(sample_id=str(index), text=text))
    for index, (reference, text) in enumerate(zip(REFERENCES, HYPOTHESES, strict=True))
]
BLEU_DEFAULTS = {"tokenize": "auto", "smooth": "exp", "lowercase": False, "width": "keep"}
CHRF_DEFAULTS = {"word_order": 0, "beta": 2, "lowercase": False, "width": "keep"}
TER_DEFAULTS = {"tokenize": "auto", "case_sensitive": False, "width": "keep", "max_characters": 500}
ROUGE_DEFAULTS = {
    "kind": "rougeL",
    "tokenize": "auto",
    "beta": 1.0,
    "multi_ref": "best",
    "stem": False,
    "width": "keep",
    "sentences": "newline",
}
INTERVAL_DEFAULTS = {"level": 0.95, "resamples": 1000, "seed": 0, "scope": "checkpoint"}


@each_row(
    ("function", "defaults"),
    [
        (bleu, BLEU_DEFAULTS | {"effective_order": True}),
        (corpus_bleu, BLEU_DEFAULTS | {"effective_order": False}),
        (chrf, CHRF_DEFAULTS),
        (corpus_chrf, CHRF_DEFAULTS),
        (ter, TER_DEFAULTS),
        (corpus_ter, TER_DEFAULTS),
        (rouge, ROUGE_DEFAULTS),
        (self_bleu, {"tokenize": "auto", "width": "keep"}),
        (
            corpus_scores,
            {
                "metrics": ("bleu", "chrf", "rougeL"),
                "tokenize": "auto",
                "width": "keep",
                "clusters": None,
                "options": None,
                "confidence": 0.95,
                "resamples": 1000,
                "seed": 0,
            },
        ),
    ],
)
def test_functions_have_documented_defaults(function, defaults: dict[str, object]) -> None:
    parameters = inspect.signature(function).parameters
    assert {name: parameters[name].default for name in defaults} == defaults


@each_row(
    ("name", "defaults"),
    [
        ("bleu", BLEU_DEFAULTS | {"effective_order": True}),
        ("corpus_bleu", BLEU_DEFAULTS | {"effective_order": False} | INTERVAL_DEFAULTS),
        ("chrf", CHRF_DEFAULTS),
        ("corpus_chrf", CHRF_DEFAULTS | INTERVAL_DEFAULTS),
        ("ter", TER_DEFAULTS),
        ("corpus_ter", TER_DEFAULTS | INTERVAL_DEFAULTS),
        ("rouge", ROUGE_DEFAULTS),
        ("self_bleu", {"scope": "repeats", "tokenize": "auto", "width": "keep"}),
    ],
)
def test_scorers_have_documented_defaults(name: str, defaults: dict[str, object]) -> None:
    scorer = registry.build("scorers", name, {})
    assert {option: getattr(scorer, option) for option in defaults} == defaults


@each_row("metric", ["bleu", "chrf", "ter"])
def test_a_call_without_settings_is_a_call_with_the_defaults(metric: str) -> None:
    single = {"bleu": bleu, "chrf": chrf, "ter": ter}[metric]
    whole = {"bleu": corpus_bleu, "chrf": corpus_chrf, "ter": corpus_ter}[metric]
    defaults = {"bleu": BLEU_DEFAULTS, "chrf": CHRF_DEFAULTS, "ter": TER_DEFAULTS}[metric]
    texts = "The CAT sat，on the mat today", "the cat sat,on a mat today"
    assert single(*texts) == single(*texts, **defaults)
    assert whole([texts[0]], [texts[1]]) == whole([texts[0]], [texts[1]], **defaults)


PAIR = "The CAT sat，on the mat", "the cat sat,on a mat"


@each_row(
    ("name", "options", "part"),
    [
        ("bleu", {"lowercase": True}, "case:lc"),
        ("bleu", {"width": "fold"}, "width:fold"),
        ("bleu", {"smooth": "floor"}, "smooth:floor"),
        ("bleu", {"tokenize": "char"}, "tok:char"),
        ("bleu", {"effective_order": False}, "eff:no"),
        ("chrf", {"lowercase": True}, "case:lc"),
        ("chrf", {"width": "fold"}, "width:fold"),
        ("chrf", {"beta": 3}, "beta:3"),
        ("chrf", {"word_order": 2}, "nw:2"),
        ("ter", {"case_sensitive": True}, "case:mixed"),
        ("ter", {"width": "fold"}, "width:fold"),
        ("ter", {"tokenize": "char"}, "split:char"),
    ],
)
def test_each_setting_changes_text_corpus_and_plan_alike(name: str, options: dict, part: str) -> None:
    single, whole = {
        "bleu": (bleu, corpus_bleu),
        "chrf": (chrf, corpus_chrf),
        "ter": (ter, corpus_ter),
    }[name]
    result = single(*PAIR, **options)
    assert result.score != single(*PAIR).score or options == {"effective_order": False}
    common = {"effective_order": True} if name == "bleu" else {}
    assert whole([PAIR[0]], [PAIR[1]], **common | options) == result
    scorer = registry.build("scorers", name, options)
    sample = Sample(id="1", references=(PAIR[1],))
    (score,) = scorer.score(sample, Response(sample_id="1", text=PAIR[0]))
    assert (score.value, score.details["signature"]) == (result.score, result.signature)
    assert f"|{part}" in result.signature
    assert f"|{part}|" in scorer.signature


@each_row(
    ("metric", "options", "value"),
    [
        ("bleu", {"tokenize": "char", "width": "fold"}, corpus_bleu),
        ("chrf", {"width": "fold"}, corpus_chrf),
        ("ter", {"tokenize": "char", "width": "fold"}, corpus_ter),
    ],
)
def test_settings_of_corpus_scores_reach_the_metric(metric: str, options: dict, value) -> None:
    texts = [PAIR[0]], [PAIR[1]]
    (score,) = corpus_scores(*texts, metrics=[metric], **options)
    assert (score.value, score.signature) == (
        value(*texts, **options).score,
        value(*texts, **options).signature,
    )
    assert score.value != corpus_scores(*texts, metrics=[metric])[0].value


@each_row(
    ("tokenize", "ter_tokenizer", "rouge_tokenizer"),
    [
        ("char", "char", "char"),
        ("auto", "tercom", "mixed"),
        ("jieba", "tercom", "jieba"),
    ],
)
def test_a_tokenizer_is_used_by_the_metrics_that_know_it(
    tokenize: str, ter_tokenizer: str, rouge_tokenizer: str
) -> None:
    scores = corpus_scores(["今晚月色"], ["今晚月亮"], metrics=["ter", "rouge1"], tokenize=tokenize)
    assert [score.tokenizer for score in scores] == [ter_tokenizer, rouge_tokenizer]


@each_row("metric", ["bleu", "chrf", "ter"])
def test_seed_samples_and_level_reach_the_interval_of_a_plan(metric: str) -> None:
    settings = {"resamples": 50, "seed": 3}
    (expected,) = corpus_scores(HYPOTHESES, REFERENCES, metrics=[metric], confidence=0.8, **settings)
    (other,) = corpus_scores(HYPOTHESES, REFERENCES, metrics=[metric], confidence=0.8, resamples=50)
    (score,) = registry.build("scorers", f"corpus_{metric}", {"level": 0.8, **settings}).score_set(ITEMS)
    assert score.details["ci"] == list(expected.interval)
    assert (score.details["level"], score.details["clusters"], score.details["n"]) == (0.8, 40, 40)
    assert expected.interval != other.interval
    assert other.confidence == 0.8


def test_intervals_do_not_leave_the_scale() -> None:
    texts = ["今晚月色真美", "你好世界"], ["今晚月色真美", "我爱大山"]
    for score in corpus_scores(*texts, metrics=["bleu", "chrf", "ter", "rougeL"]):
        assert score.interval[0] == 0
        assert score.interval[1] == score.scale.high or score.name == "ter.corpus"
