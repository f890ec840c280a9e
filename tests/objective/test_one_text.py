"""One text where a list of texts belongs: its characters never count as texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from hengwen import objective


@pytest.mark.parametrize(
    "call",
    [
        partial(objective.distinct_n, "一首诗"),
        partial(objective.ngram_entropy, "一首诗"),
        partial(objective.compression_ratio, "一首诗"),
        partial(objective.self_bleu, "一首诗"),
        partial(objective.near_duplicates, "一首诗"),
        partial(objective.TrainingSet, "一首诗"),
        partial(objective.corpus_bleu, "一首诗", ["一", "首", "诗"]),
        partial(objective.corpus_chrf, ["一", "首", "诗"], "一首诗"),
        partial(objective.corpus_ter, "一首诗", ["一", "首", "诗"]),
        partial(objective.corpus_scores, "一首诗", ["一", "首", "诗"]),
    ],
    ids=lambda call: call.func.__name__,
)
def test_one_text_is_no_list_of_texts(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="must be a list of texts, got '一首诗'"):
        call()
