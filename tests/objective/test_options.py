"""Options of the scorers that plans name: the message for each wrong value, and the ends of each range."""

from __future__ import annotations

from typing import get_args

import pytest
from rows import each_row

from hengwen import registry
from hengwen.errors import ConfigError
from hengwen.objective.overlap.rouge import MultiRef
from hengwen.objective.overlap.ter import Split
from hengwen.objective.text import BLEU_TOKENIZERS


def listed(*choices: str) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


NO_WORD = "words must be one or more, none of them empty"
WIDTH = ({"width": "half"}, "width must be keep or fold, got 'half'")
TOKENIZE = "tokenize must be {}, got 'words'"
BLEU_CHOICES = listed("auto", *BLEU_TOKENIZERS)
OPTIONS: dict[str, list[tuple[dict[str, object], str]]] = {
    "bleu": [
        ({"effective_order": 1}, "effective_order must be true or false, got 1"),
        ({"lowercase": "no"}, "lowercase must be true or false, got 'no'"),
        ({"tokenize": "words"}, TOKENIZE.format(BLEU_CHOICES)),
        ({"smooth": "more"}, "smooth must be exp, floor, add-k or none, got 'more'"),
        WIDTH,
    ],
    "chrf": [
        ({"word_order": -1}, "word_order must be a whole number >= 0, got -1"),
        ({"word_order": 0.5}, "word_order must be a whole number >= 0, got 0.5"),
        ({"beta": 0}, "beta must be a whole number >= 1, got 0"),
        ({"beta": True}, "beta must be a whole number >= 1, got True"),
        ({"lowercase": 0}, "lowercase must be true or false, got 0"),
        WIDTH,
    ],
    "ter": [
        ({"tokenize": "words"}, TOKENIZE.format(listed("auto", *get_args(Split)))),
        ({"case_sensitive": None}, "case_sensitive must be true or false, got None"),
        ({"max_characters": 0}, "max_characters must be a whole number >= 1, got 0"),
        WIDTH,
    ],
    "rouge": [
        ({"kind": "rouge0"}, "kind must be rouge1 to rouge9, rougeL or rougeLsum, got 'rouge0'"),
        ({"kind": 1}, "kind must be rouge1 to rouge9, rougeL or rougeLsum, got 1"),
        ({"beta": 0}, "beta must be a number above 0, got 0"),
        ({"beta": True}, "beta must be a number above 0, got True"),
        ({"beta": "1"}, "beta must be a number above 0, got '1'"),
        ({"beta": float("inf")}, "beta must be a number above 0, got inf"),
        ({"stem": 1}, "stem must be true or false, got 1"),
        ({"tokenize": "words"}, TOKENIZE.format("auto, mixed, char, jieba or whitespace")),
        ({"multi_ref": "all"}, f"multi_ref must be {listed(*get_args(MultiRef))}, got 'all'"),
        ({"sentences": "dot"}, "sentences must be newline or punctuation, got 'dot'"),
        WIDTH,
    ],
    "corpus_bleu": [
        ({"scope": "repeats"}, "scope must be checkpoint, got 'repeats'"),
        ({"level": 0}, "level must lie in (0, 1), got 0"),
        ({"level": 1}, "level must lie in (0, 1), got 1"),
        ({"level": True}, "level must lie in (0, 1), got True"),
        ({"resamples": 0}, "resamples must be a whole number >= 1, got 0"),
        ({"smooth": "more"}, "smooth must be exp, floor, add-k or none, got 'more'"),
    ],
    "corpus_chrf": [({"beta": 0}, "beta must be a whole number >= 1, got 0")],
    "corpus_ter": [({"max_characters": 0}, "max_characters must be a whole number >= 1, got 0")],
    "distinct_n": [
        ({"n": 0}, "n must be a whole number >= 1, got 0"),
        ({"scope": "all"}, "scope must be repeats or checkpoint, got 'all'"),
    ],
    "compression": [({"scope": "all"}, "scope must be repeats or checkpoint, got 'all'")],
    "repetition": [({"n": 0}, "n must be a whole number >= 1, got 0")],
    "type_token_ratio": [({"window": 0}, "window must be a whole number >= 1, got 0")],
    "self_bleu": [
        ({"scope": "all"}, "scope must be repeats or checkpoint, got 'all'"),
        ({"tokenize": "words"}, TOKENIZE.format(BLEU_CHOICES)),
        WIDTH,
    ],
    "near_duplicates": [
        ({"scope": "all"}, "scope must be repeats or checkpoint, got 'all'"),
        ({"threshold": 0}, "threshold must be above 0 and at most 1, got 0"),
        ({"threshold": 1.5}, "threshold must be above 0 and at most 1, got 1.5"),
    ],
    "leakage": [({"corpus": []}, "corpus must name a training file: without one leakage is not assessed")],
    "exact": [({"normalize": "all"}, "normalize must be none, strip, fold or words, got 'all'")],
    "contains": [
        ({}, "contains needs either words or field, the name of a list in each sample's metadata"),
        (
            {"words": ["a"], "field": "b"},
            "contains needs either words or field, the name of a list in each sample's metadata",
        ),
        ({"words": 7}, "words must be a list of strings, got 7"),
        ({"words": ["a", 7]}, "words must be a list of strings, got ['a', 7]"),
        ({"words": ["！"], "normalize": "words"}, NO_WORD),
        ({"words": [" "], "normalize": "strip"}, NO_WORD),
        ({"words": ["a"], "normalize": "all"}, "normalize must be none, strip, fold or words, got 'all'"),
        ({"field": "a", "normalize": "all"}, "normalize must be none, strip, fold or words, got 'all'"),
    ],
    "regex": [
        ({"pattern": ""}, "pattern must be a regular expression, got ''"),
        ({"pattern": "("}, "pattern '(' is not a regular expression: missing ) at position 1"),
        ({"pattern": "a", "seconds": 0}, "seconds must be above 0 and at most 60, got 0"),
    ],
    "json_valid": [({"keys": {"a": 1}}, "keys must be a list of strings, got {'a': 1}")],
    "length": [
        ({"least": -1}, "least must be a whole number >= 0, got -1"),
        ({"most": -1}, "most must be a whole number >= 0, got -1"),
        ({"unit": "bytes"}, "unit must be characters or words, got 'bytes'"),
        ({"least": 2, "most": 1}, "least must not be above most, got 2 and 1"),
    ],
    "lyric": [
        ({"carry_phase1": 1}, "carry_phase1 must be true or false, got 1"),
        ({"strict_count": "no"}, "strict_count must be true or false, got 'no'"),
        ({"rhyme_scope": "all"}, "rhyme_scope must be matched or whole, got 'all'"),
        ({"parse": "loose"}, "parse must be exact or lenient, got 'loose'"),
        (
            {"rules": "muchin", "strict_count": True},
            "strict_count does not exist in the rules 'muchin', use rules 'document'",
        ),
        (
            {"rules": "muchin", "rhyme_scope": "whole"},
            "rhyme_scope 'whole' does not exist in the rules 'muchin', use rules 'document'",
        ),
        ({"rules": "other"}, "rules must be one of document, muchin or a LyricRules, got 'other'"),
        ({"rules": {"overal": 1}}, "rules have no field 'overal'; did you mean 'overall'?"),
    ],
}


@each_row(
    ("name", "options", "message"),
    [(name, *case) for name, cases in OPTIONS.items() for case in cases],
)
def test_a_wrong_option_of_a_scorer_is_named_with_its_value(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.build("scorers", name, options)
    assert str(caught.value) == f"scorer {name!r}: {message}"


LIMITS: dict[str, list[dict[str, object]]] = {
    "bleu": [{"effective_order": False, "lowercase": True}],
    "chrf": [{"word_order": 0, "beta": 1}],
    "ter": [{"max_characters": 1}],
    "rouge": [{"kind": "rouge1", "beta": 1e-9}, {"kind": "rouge9", "beta": 5}],
    "corpus_bleu": [{"level": 1e-9, "resamples": 1}, {"level": 0.999}],
    "distinct_n": [{"n": 1}],
    "repetition": [{"n": 1}],
    "type_token_ratio": [{"window": 1}],
    "near_duplicates": [{"threshold": 1}, {"threshold": 1e-9}],
    "length": [{"least": 0, "most": 0}, {"least": 2, "most": 2}],
    "regex": [{"pattern": "a", "seconds": 1e-9}, {"pattern": "a", "seconds": 60}],
}


@each_row(("name", "options"), [(name, case) for name, cases in LIMITS.items() for case in cases])
def test_the_ends_of_a_range_are_allowed(name: str, options: dict[str, object]) -> None:
    scorer = registry.build("scorers", name, options)
    assert {option: getattr(scorer, option) for option in options} == options
