"""distinct-n: counted by hand."""

import pytest

from hengwen.objective.diversity import DistinctN, distinct_n, tokens
from hengwen.records import Response, Sample


@pytest.mark.parametrize(
    ("texts", "n", "expected"),
    [
        (["风吹过", "风吹来"], 2, 3 / 4),
        (["风风风"], 1, 1 / 3),
        (["a b", "b c"], 2, 1.0),
        (["a b a b"], 2, 2 / 3),
        (["风，吹！过。"], 2, 1.0),
    ],
    ids=["shared pair", "one character", "no gram crosses texts", "words", "punctuation is no token"],
)
def test_the_share_of_distinct_grams_is_counted_over_all_texts(
    texts: list[str], n: int, expected: float
) -> None:
    assert distinct_n(texts, n) == pytest.approx(expected)


def test_text_without_an_n_gram_is_an_error_and_not_a_zero() -> None:
    with pytest.raises(ValueError, match="fewer than 2 tokens"):
        distinct_n(["", "啊", "！！！"], 2)


def test_scripts_mix_by_character_and_by_word() -> None:
    assert tokens("唱 K歌 はい 한국 naïve_1") == ["唱", "k", "歌", "は", "い", "한", "국", "naïve_1"]


@pytest.mark.parametrize("options", [{"n": 0}, {"n": True}, {"scope": "all"}])
def test_wrong_options_are_refused_by_name(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        DistinctN(**options)  # type: ignore[arg-type]


def test_the_scorer_scores_the_set_under_its_signature() -> None:
    items = [
        (Sample(id=i), Response(sample_id=i, text=text)) for i, text in (("a", "风吹过"), ("b", "风吹来"))
    ]
    (score,) = DistinctN().score_set(items)
    assert (score.name, score.value, score.signature) == (
        "distinct_2.checkpoint",
        0.75,
        "distinct_n|n:2|scope:checkpoint|tok:cjk-char|v:1",
    )
