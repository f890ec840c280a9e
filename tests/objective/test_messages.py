"""Every message of the scorers, whole: what is wrong, where, and how to fix it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rows import each_row

from hengwen import objective, registry
from hengwen.errors import DataError
from hengwen.objective import checks
from hengwen.objective.duplicates.training_set import read_answers
from hengwen.objective.lyrics.rules import LyricRules, build_options, resolve_rules
from hengwen.objective.lyrics.score_lyric import MAX_CHARACTERS
from hengwen.objective.overlap import rouge
from hengwen.objective.overlap.scorers import corpus_interval
from hengwen.objective.text import split_tokens
from hengwen.records import Sample

NO_WORD = "words must be one or more, none of them empty"


RULES = "must be a finite number of at least 0"


@each_row(
    ("call", "message"),
    [
        (partial(LyricRules, bonus=True), f"bonus {RULES}, got True"),
        (partial(LyricRules, rhyme=None), f"rhyme {RULES}, got None"),
        (partial(LyricRules, no_rhyme=-1e-9), f"no_rhyme {RULES}, got -1e-09"),
        (partial(LyricRules, full=float("inf")), f"full {RULES}, got inf"),
        (partial(LyricRules, bonus=0), "full and bonus must be above 0, got 100.0 and 0"),
        (partial(LyricRules, band_low=0.9), "band_low must not be above band_high, got 0.9 and 0.8"),
        (partial(LyricRules, near_bonus=1.01), "near_bonus must be at most 1, got 1.01"),
        (partial(LyricRules, no_rhyme=2), "no_rhyme must be at most 1, got 2"),
        (
            partial(LyricRules, overall=0.1 + 1e-8),
            "overall, structure, counts and rhyme must sum to 1, got 1.00000001",
        ),
        (partial(LyricRules, line_share=0.3), "section_share and line_share must sum to 1, got 0.95"),
        (partial(LyricRules, reading="x"), "unknown reading 'x'; known: document, muchin"),
        (partial(resolve_rules, None), "rules must be one of document, muchin or a LyricRules, got None"),
        (partial(build_options, "document", 1), "carry_phase1 must be true or false, got 1"),
        (
            partial(objective.score_lyric, "月光", " \n"),
            "the template is empty, it needs lines of c and R under tags like (verse)",
        ),
        (
            partial(objective.score_lyric, "c" * (MAX_CHARACTERS + 1), "c"),
            "the lyric has 200001 characters, at most 200000 can be scored",
        ),
        (
            partial(objective.score_lyric, "c", "c" * (MAX_CHARACTERS + 1)),
            "the template has 200001 characters, at most 200000 can be scored",
        ),
        (
            partial(objective.score_lyrics, [("月", "(verse)\nc"), ("月", "")]),
            "pair 1: the template is empty, it needs lines of c and R under tags like (verse)",
        ),
        (partial(objective.score_lyrics, [], workers=0), "workers must be a whole number >= 1, got 0"),
        (partial(objective.rhyme_class, "风", scheme="x"), "unknown rhyme scheme 'x'; known: eighteen"),
        (partial(objective.bleu, " ", "好"), "the hypothesis is empty: no overlap is defined"),
        (partial(objective.bleu, "好", []), "there is no reference to compare with"),
        (partial(objective.chrf, "好", "\n"), "the reference is empty"),
        (partial(objective.ter, "好", [" "]), "the reference is empty"),
        (
            partial(objective.bleu, "你好呀", "你好呀", effective_order=False),
            "too short for 4-grams: no text has 4 tokens under the tokenizer zh; "
            "effective_order=True skips the missing orders",
        ),
        (
            partial(objective.bleu, "<skipped>", "a"),
            "the hypothesis has no token under the tokenizer 13a",
        ),
        (
            partial(objective.ter, "abcd", "ab", max_characters=3),
            "a text of 4 characters is too long for ter, whose time grows with the square; "
            "max_characters is 3",
        ),
        (
            partial(objective.corpus_bleu, ["a", "b"], ["a"]),
            "2 hypotheses but 1 references; give each hypothesis its references "
            "(sacrebleu takes one list for each set of references instead)",
        ),
        (partial(objective.corpus_bleu, [], []), "there is no hypothesis"),
        (
            partial(objective.corpus_ter, [" ", ""], ["a", "b"]),
            "every hypothesis is empty: no overlap is defined",
        ),
        (partial(objective.corpus_chrf, ["a", "b"], ["a", [""]]), "text 2: the reference is empty"),
        (partial(objective.rouge, "你好", []), "there is no reference to compare with"),
        (partial(objective.rouge, "", "你好"), "the hypothesis is empty"),
        (partial(objective.rouge, "！", "你好"), "the hypothesis has no token: it has no letter or digit"),
        (partial(objective.rouge, "你好", "！"), "the reference has no token: it has no letter or digit"),
        (
            partial(objective.rouge, "你", "你好", "rouge2"),
            "too short for 2-grams: the hypothesis has 1 token",
        ),
        (
            partial(objective.rouge, "你好啊", "你好", "rouge3"),
            "too short for 3-grams: the reference has 2 tokens",
        ),
        (
            partial(split_tokens, "words"),
            "tokenize must be auto, mixed, char, jieba, whitespace, got 'words'",
        ),
        (partial(corpus_interval, [[1.0]], sum, ["a", "b"]), "1 statistics but 2 clusters"),
        (partial(corpus_interval, [[1.0]], sum, ["a"], resamples=0), "resamples must be at least 1, got 0"),
        (partial(corpus_interval, [[1.0]], sum, ["a"], confidence=0), "confidence must lie in (0, 1), got 0"),
        (partial(objective.distinct_n, ["好"]), "no 2-gram: every answer has fewer than 2 tokens"),
        (partial(objective.distinct_n, ["好"], 0), "n must be a whole number >= 1, got 0"),
        (
            partial(objective.ngram_entropy, ["好的"], normalize=True),
            "there is only one 2-gram: its normalised entropy is not defined",
        ),
        (partial(objective.type_token_ratio, "好", window=0), "window must be a whole number >= 1, got 0"),
        (
            partial(objective.type_token_ratio, "好", window=2),
            "the text has 1 tokens, fewer than the window of 2",
        ),
        (partial(objective.compression_ratio, ["", " "]), "every text is empty: nothing to compress"),
        (partial(objective.self_bleu, ["好"]), "self-BLEU needs two texts or more, got 1"),
        (partial(objective.self_bleu, ["好", " "]), "text 2 of 2 is empty: its self-BLEU is not defined"),
        (partial(objective.near_duplicates, [], 1.01), "threshold must be above 0 and at most 1, got 1.01"),
        (partial(objective.TrainingSet, ["！"]), "the training set has no turn with a letter or digit"),
        (partial(objective.TrainingSet, ["好"], near=0), "near must be above 0 and at most 1, got 0"),
        (partial(objective.TrainingSet, ["好"], near=1.01), "near must be above 0 and at most 1, got 1.01"),
        (
            partial(objective.TrainingSet(["好"]).find, "！"),
            "the answer has no letter or digit: leakage is not assessed",
        ),
        (partial(checks.exact, "好", []), "there is no reference to compare with"),
        (partial(checks.exact, "好", ["好", " "]), "a reference is empty: every empty text would equal it"),
        (partial(checks.json_fault, "[" * 100_000), "the JSON is nested too deep to be parsed"),
        (
            partial(checks.matches, "a" * 5000 + "b", "(a|aa)+$", seconds=0.01),
            "the pattern '(a|aa)+$' took longer than 0.01 s on a text of 5001 characters",
        ),
    ],
)
def test_what_cannot_be_computed_is_explained(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


@each_row(
    ("metadata", "message"),
    [
        (
            {},
            "sample 'x7' has no template, add it as metadata 'template', "
            "or score with repetition, distinct_n or length",
        ),
        ({"template": 3}, "the template of sample 'x7' must be a string, got int"),
        ({"template": " "}, "the template of sample 'x7' is empty, it needs lines of c and R under (tags)"),
    ],
)
def test_a_sample_without_template_is_named(metadata: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        registry.build("scorers", "lyric", {}).check_sample(Sample(id="x7", metadata=metadata))


@each_row(
    ("name", "options", "sample", "message"),
    [
        ("exact", {}, Sample(id="x7"), "there is no reference to compare with"),
        (
            "exact",
            {"normalize": "words"},
            Sample(id="x7", references=("！",)),
            "a reference is empty: every empty text would equal it",
        ),
        ("contains", {"field": "must"}, Sample(id="x7"), NO_WORD),
        (
            "contains",
            {"field": "must"},
            Sample(id="x7", metadata={"must": 7}),
            "metadata 'must' of sample 'x7' must be a list of strings, got 7",
        ),
        (
            "contains",
            {"field": "must", "normalize": "words"},
            Sample(id="x7", metadata={"must": ["！"]}),
            NO_WORD,
        ),
        ("bleu", {}, Sample(id="x7", references=(" ",)), "the reference is empty"),
    ],
)
def test_a_sample_that_cannot_be_scored_is_refused_before_the_run(
    name: str, options: dict[str, object], sample: Sample, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        registry.build("scorers", name, options).check_sample(sample)


def test_sentences_too_long_for_rouge_lsum_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rouge, "MAX_CELLS", 6)
    assert rouge.lcs_indices("abc", "ab") == [1, 0]
    message = "sentences of 4 and 2 tokens are too long for rougeLsum, split them into lines or use rougeL"
    with pytest.raises(ValueError, match=f"^{message}$"):
        rouge.lcs_indices("abcd", "ab")


ANSWER_KEYS = "conversations, messages, output, label, response, completion, answer, chosen"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"output": "a"}\n\n{"text": "b"}', f"{{}}:3: no answer in this row; known: {ANSWER_KEYS}"),
        ('[{"output": "a"}, 7]', f"{{}}:2: no answer in this row; known: {ANSWER_KEYS}"),
        (
            '{"output": "a"}\n{',
            "{}:2: not valid JSON: Expecting property name enclosed in double quotes: line 1 "
            "column 2 (char 1)",
        ),
        ("[7", "{}: not valid JSON: Expecting ',' delimiter: line 1 column 3 (char 2)"),
    ],
)
def test_a_training_file_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_answers([str(path)])
    assert str(caught.value) == message.format(path)


def test_a_training_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(b"\xff")
    with pytest.raises(DataError) as caught:
        read_answers([str(path)])
    assert str(caught.value).startswith(f"{path}: the training file cannot be read: ")
    with pytest.raises(DataError) as caught:
        read_answers([str(tmp_path / "absent")])
    assert str(caught.value).startswith(f"{tmp_path / 'absent'}: the training file cannot be read: ")
