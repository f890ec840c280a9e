"""Defaults, ends of ranges, and the way of each setting from a call or a plan to the value."""

from __future__ import annotations

from rows import each_row

from hengwen import registry
from hengwen.objective import (
    bleu,
    chrf,
    corpus_bleu,
    corpus_chrf,
    corpus_ter,
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
