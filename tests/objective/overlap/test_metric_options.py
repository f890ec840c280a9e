"""Options of several metrics at once, and tokenizers that need further packages."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from hengwen import registry
from hengwen.errors import HengwenError, PluginError
from hengwen.objective import bleu
from hengwen.objective.overlap import sacre


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
