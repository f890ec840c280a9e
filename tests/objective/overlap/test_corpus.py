"""Values of a corpus: the value, its interval, its signature."""

from __future__ import annotations

import random

import numpy as np
import pytest
from rows import each_row
from sacrebleu.metrics import BLEU, CHRF

from hengwen.objective import corpus_scores, rouge
from hengwen.objective.overlap.corpus import corpus_interval

RNG = random.Random(7)
REFERENCES = ["".join(RNG.choice("今晚月色真美我想和你走在风里看海") for _ in range(12)) for _ in range(60)]
CUTS = [RNG.randint(2, 10) for _ in REFERENCES]
HYPOTHESES = [
    text[:cut] + "的了"[: cut % 3] + text[cut + 1 :] for cut, text in zip(CUTS, REFERENCES, strict=True)
]


def test_values_are_those_of_the_peers_and_lie_in_their_intervals() -> None:
    bleu, chrf, ter, rouge_l = corpus_scores(
        HYPOTHESES, REFERENCES, metrics=["bleu", "chrf", "ter", "rougeL"]
    )
    assert bleu.value == pytest.approx(BLEU(tokenize="zh").corpus_score(HYPOTHESES, [REFERENCES]).score)
    assert chrf.value == pytest.approx(CHRF().corpus_score(HYPOTHESES, [REFERENCES]).score)
    assert ter.value == pytest.approx(100 * sum(max(1, cut % 3) for cut in CUTS) / 720)
    pairs = zip(HYPOTHESES, REFERENCES, strict=True)
    assert rouge_l.value == pytest.approx(sum(rouge(*pair).f for pair in pairs) / 60)
    assert [s.name for s in (bleu, chrf, ter, rouge_l)] == [
        "bleu.corpus",
        "chrf.corpus",
        "ter.corpus",
        "rouge_l.mean",
    ]
    for score in (bleu, chrf, ter, rouge_l):
        assert score.interval is not None
        assert score.interval[0] <= score.value <= score.interval[1]
        assert score.n == 60
        assert score.scale.holds(score.value)


def test_the_interval_is_near_that_of_sacrebleu() -> None:
    (score,) = corpus_scores(HYPOTHESES, REFERENCES, metrics=["bleu"])
    peer_score = BLEU(tokenize="zh").corpus_score(HYPOTHESES, [REFERENCES], n_bootstrap=1000)
    half = (score.interval[1] - score.interval[0]) / 2
    assert half == pytest.approx(peer_score._ci, rel=0.15)


def test_the_same_seed_gives_the_same_interval() -> None:
    (a,), (b,), (c,) = (corpus_scores(HYPOTHESES, REFERENCES, metrics=["bleu"], seed=s) for s in (1, 1, 2))
    assert a == b
    assert a.interval != c.interval


def test_one_text_has_no_interval() -> None:
    (score,) = corpus_scores(HYPOTHESES[:1], REFERENCES[:1], metrics=["chrf"])
    assert score.interval is None


def test_texts_of_one_cluster_are_drawn_together() -> None:
    doubled = HYPOTHESES * 2, REFERENCES * 2
    clusters = [str(i % 60) for i in range(120)]
    (alone,) = corpus_scores(HYPOTHESES, REFERENCES, metrics=["bleu"])
    (apart,) = corpus_scores(*doubled, metrics=["bleu"])
    (together,) = corpus_scores(*doubled, metrics=["bleu"], clusters=clusters)
    width = [score.interval[1] - score.interval[0] for score in (alone, apart, together)]
    assert width[1] < 0.85 * width[0]
    assert width[2] == pytest.approx(width[0])


def test_rouge_counts_texts_without_a_token_as_failures() -> None:
    (score,) = corpus_scores(["你好", "！！", "再见"], ["你好", "你好", "再见"], metrics=["rougeL"])
    assert (score.value, score.n, score.failures) == (1, 2, 1)
    assert "text 2: the hypothesis has no token" in score.details["first_failure"]
    with pytest.raises(ValueError, match="no text has a ROUGE: text 1"):
        corpus_scores(["！"], ["你好"], metrics=["rougeL"])


def test_a_wrong_metric_is_told_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="unknown metric 'blue'; did you mean 'bleu'"):
        corpus_scores(["a"], ["a"], metrics=["blue"])


def test_below_30_clusters_the_jackknife_of_a_mean_is_the_textbook_interval() -> None:
    rows = [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]
    bounds = corpus_interval(rows, lambda sums: sums[0] / sums[1], ["a", "b", "c"])
    assert bounds == (pytest.approx(-0.4841, abs=1e-4), pytest.approx(4.4841, abs=1e-4))


def test_from_30_clusters_on_the_bootstrap_of_a_mean_is_close_to_normal() -> None:
    values = np.random.default_rng(3).normal(size=400)
    bounds = corpus_interval([[v, 1.0] for v in values], lambda s: s[0] / s[1], [str(i) for i in range(400)])
    half = 1.96 * values.std() / 20
    assert bounds == (
        pytest.approx(values.mean() - half, abs=0.02),
        pytest.approx(values.mean() + half, abs=0.02),
    )


@each_row(
    ("options", "message"),
    [({"confidence": 1}, "confidence must lie in"), ({"resamples": 0}, "resamples must be at least 1")],
)
def test_wrong_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corpus_scores(HYPOTHESES, REFERENCES, metrics=["bleu"], **options)
