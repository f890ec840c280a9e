"""Options of several metrics at once, and tokenizers that need further packages."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from rows import each_row

from hengwen import registry
from hengwen.errors import HengwenError, PluginError
from hengwen.objective import bleu, corpus_scores
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap.corpus_rows import METRICS, options_by_metric


def test_an_option_is_for_every_metric_that_has_it_and_a_prefix_for_one() -> None:
    settings = {"lowercase": True, "multi_ref": "pooled", "chrf.lowercase": False, "tokenize": "char"}
    options = options_by_metric(METRICS, settings)
    assert (options["bleu"].lowercase, options["chrf"].lowercase) == (True, False)
    assert options["rouge1"].multi_ref == options["rougeL"].multi_ref == "pooled"
    assert {options[name].tokenize for name in ("bleu", "ter", "rougeLsum")} == {"char"}
    assert options["bleu"].effective_order is False


@each_row(
    ("settings", "message"),
    [
        ({"width": "wide"}, "width must be keep or fold"),
        ({"bta": 1}, "unknown option 'bta' of bleu, rougeL; did you mean 'beta'"),
        ({"kind": "rouge2"}, "unknown option 'kind' of bleu, rougeL"),
        ({"bleu.beta": 1}, "unknown option 'beta' of bleu"),
        ({"ter.width": "fold"}, "option 'ter.width': 'ter' is not among the metrics bleu, rougeL"),
        ({"tokenize": "zhh"}, "tokenize must be auto"),
        ({"rougeL.tokenize": "zh"}, "tokenize must be auto, mixed"),
    ],
)
def test_wrong_options_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        options_by_metric(["bleu", "rougeL"], settings)


def test_a_corpus_takes_options_and_uses_a_tokenizer_where_it_is_known() -> None:
    bleu_score, rouge_score, ter_score = corpus_scores(
        ["a b c d"], ["a b c e"], metrics=["bleu", "rougeL", "ter"], tokenize="intl", options={"beta": 2.0}
    )
    assert (bleu_score.tokenizer, rouge_score.tokenizer, ter_score.tokenizer) == ("intl", "mixed", "tercom")
    assert "|beta:2|" in rouge_score.signature
    with pytest.raises(ValueError, match="unknown option 'tokenize' of chrf"):
        corpus_scores(["a"], ["a"], metrics=["chrf"], options={"tokenize": "jieba"})
    (chrf_score,) = corpus_scores(["a"], ["a"], metrics=["chrf"], tokenize="jieba")
    assert chrf_score.tokenizer == "character n-grams"


@pytest.mark.parametrize(
    ("tokenizer", "command"),
    [
        ("ja-mecab", r"needs the package MeCab, install it with pip install 'sacrebleu\[ja\]'"),
        ("ko-mecab", r"needs the package mecab_ko, install it with pip install 'sacrebleu\[ko\]'"),
        ("flores200", "needs the package sentencepiece, install it with pip install sentencepiece"),
    ],
)
def test_a_tokenizer_that_is_not_installed_names_the_command(
    tokenizer: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sacre, "find_spec", lambda name: None)
    with pytest.raises(PluginError, match=f"tokenize {tokenizer} {command}"):
        bleu("a", "a", tokenize=tokenizer)
    with pytest.raises(HengwenError, match=f"tokenize {tokenizer} {command}"):
        registry.build("scorers", "corpus_bleu", {"tokenize": tokenizer})


def test_the_model_of_flores200_is_never_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sacre, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    with pytest.raises(PluginError, match=r"flores200 needs its model .*flores200sacrebleuspm, download it"):
        bleu("a", "a", tokenize="flores200")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "flores200sacrebleuspm").write_bytes(b"")
    sacre.check_installed("flores200")


def test_a_tokenizer_of_sacrebleu_is_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tagger:
        """Stands for the tokenizer of MeCab: splits before は."""

        def __call__(self, line: str) -> str:
            return line.replace("は", " は ")

        def signature(self) -> str:
            return "ja-mecab-1-IPA"

    monkeypatch.setattr(sacre, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_ja_mecab.TokenizerJaMecab", Tagger)
    result = bleu("今日は雨", "今日は晴", tokenize="ja-mecab", lowercase=True)
    assert (result.tokenizer, result.hypothesis_length) == ("ja-mecab", 3)
    assert "|tok:ja-mecab-1-IPA|" in result.signature
