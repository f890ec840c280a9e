"""Length, family and position bias, checked by hand, with scipy and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from scipy import stats

from hengwen.judges.trust.biases import (
    LabelledAnswer,
    family_bias,
    length_bias,
    length_of,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=3, max_size=30))
def test_rho_is_that_of_scipy_with_ties(pairs):
    lengths, scores = zip(*pairs, strict=True)
    bias = length_bias(lengths, scores)
    if len(set(lengths)) == 1 or len(set(scores)) == 1:
        assert (bias.rho, bias.interval, bias.slope, bias.adjusted) == (None, None, None, None)
        assert bias.reason
    else:
        assert bias.rho == pytest.approx(stats.spearmanr(lengths, scores).statistic, abs=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 500), st.floats(0, 1)), min_size=3, max_size=30))
def test_adjusted_scores_keep_the_mean_and_lose_the_length(pairs):
    lengths, scores = zip(*pairs, strict=True)
    bias = length_bias(lengths, scores)
    if bias.adjusted is None:
        return
    logs = np.log1p(lengths)
    line = stats.linregress(logs, scores)
    assert bias.slope == pytest.approx(line.slope, abs=1e-9)
    assert np.mean(bias.adjusted) == pytest.approx(np.mean(scores), abs=1e-9)
    assert np.cov(logs, bias.adjusted)[0, 1] == pytest.approx(0, abs=1e-9)


def test_the_interval_by_hand():
    """28 prompts, rho = .5: z = .549306, half = 1.959964 * sqrt(1.125 / 25) = .415773."""
    rng = np.random.default_rng(0)
    lengths = np.arange(28.0)
    scores = lengths + rng.normal(0, 14, 28)
    bias = length_bias(lengths, scores)
    z, half = math.atanh(bias.rho), 1.959964 * math.sqrt((1 + bias.rho**2 / 2) / 25)
    assert bias.interval == pytest.approx((math.tanh(z - half), math.tanh(z + half)), abs=1e-6)


@pytest.mark.slow
def test_the_interval_covers_what_it_promises():
    """2,000 samples of 40 normal pairs with Pearson .5: Spearman's is 6 / pi * asin(.25)."""
    rng = np.random.default_rng(7)
    truth = 6 / math.pi * math.asin(0.25)
    hits = 0
    for _ in range(2000):
        x, noise = rng.normal(size=(2, 40))
        bias = length_bias(np.exp(x), 0.5 * x + math.sqrt(0.75) * noise)
        hits += bias.interval[0] <= truth <= bias.interval[1]
    assert 0.93 <= hits / 2000 <= 0.97


def test_repeats_of_a_prompt_do_not_narrow_the_interval():
    rng = np.random.default_rng(1)
    lengths = rng.integers(10, 200, 60)
    scores = rng.choice([0, 0.25, 0.5, 0.75, 1], 60)
    alone = length_bias(lengths, scores)
    grouped = length_bias(lengths, scores, clusters=[str(i // 3) for i in range(60)])
    assert (grouped.n, grouped.clusters, grouped.rho) == (60, 20, alone.rho)
    assert np.ptp(grouped.interval) > 1.6 * np.ptp(alone.interval)


@each_row(
    ("lengths", "scores", "rho", "reason"),
    [
        ([], [], None, "0 answers: a correlation needs two"),
        ([5], [1.0], None, "1 answers: a correlation needs two"),
        ([5, 5, 5], [0, 1, 0.5], None, "all answers are equally long"),
        ([5, 6, 7], [0.5] * 3, None, "all scores are the same"),
        ([5, 6, 7], [1, 0.5, 0], -1.0, "3 prompts: an interval needs 10"),
        (
            range(12),
            range(12),
            1.0,
            "no interval: lengths and scores have exactly the same or the opposite order",
        ),
    ],
)
def test_an_undefined_correlation_has_a_reason(lengths, scores, rho, reason):
    bias = length_bias(lengths, scores)
    assert bias.rho == (None if rho is None else pytest.approx(rho))
    assert bias.interval is None
    assert bias.reason.startswith(reason)


@each_row(
    ("lengths", "scores", "clusters", "message"),
    [
        ([1], [1, 2], None, "1 lengths, 2 scores and 1 clusters do not fit"),
        ([1, 2], [1, 2], ["a"], "2 lengths, 2 scores and 1 clusters"),
        ([1, float("nan")], [1, 2], None, "must be finite"),
        ([1, -1], [1, 2], None, "not negative"),
        ([1, 2], [1, float("inf")], None, "must be finite"),
    ],
)
def test_inputs_that_do_not_fit_raise(lengths, scores, clusters, message):
    with pytest.raises(ValueError, match=message):
        length_bias(lengths, scores, clusters=clusters)


def test_a_length_leaves_out_whitespace():
    assert length_of(" a b\n\u3000山") == 3


def labelled(target, gaps, prompts):
    return [
        LabelledAnswer(target=target, judge=0.5 + gap, human=0.5, cluster=prompt)
        for gap, prompt in zip(gaps, prompts, strict=True)
    ]


def test_preference_is_paired_by_prompt_where_both_answered():
    """Differences .3, .1, .2, .2: mean .2, sd .0816, t(3) = 3.1824, half = .1299."""
    family = labelled("gpt-4o", [0.4, 0.3, 0.2, 0.3, 9.0], "abcdx")
    others = labelled("glm-4", [0.1, 0.2, 0.0, 0.1], "abcd")
    bias = family_bias("openai/gpt-4o-mini", [*family, *others])
    assert bias.preference == pytest.approx(0.2)
    assert bias.interval == pytest.approx((0.2 - 0.12992, 0.2 + 0.12992), abs=1e-4)
    assert bias.targets["gpt-4o"].n == 5
    assert [bias.targets[name].same_family for name in ("gpt-4o", "glm-4")] == [True, False]


def test_preference_without_shared_prompts_is_welchs():
    family, others = [0.4, 0.3, 0.2, 0.3], [0.1, 0.2, 0.0]
    bias = family_bias("gpt-4o", [*labelled("gpt-4", family, "abcd"), *labelled("qwen2", others, "efg")])
    expected = stats.ttest_ind(family, others, equal_var=False).confidence_interval(0.95)
    assert bias.preference == pytest.approx(0.2)
    assert bias.interval == pytest.approx((expected.low, expected.high))


def test_better_answers_of_the_own_family_are_no_bias():
    rows = [
        LabelledAnswer(target="gpt-4o", judge=1.0, human=1.0, cluster="a"),
        LabelledAnswer(target="gpt-4o", judge=0.75, human=0.75, cluster="b"),
        LabelledAnswer(target="glm-4", judge=0.25, human=0.25, cluster="a"),
        LabelledAnswer(target="glm-4", judge=0.0, human=0.0, cluster="b"),
    ]
    bias = family_bias("gpt-4o", rows)
    assert (bias.preference, bias.interval) == (0.0, None)
    assert bias.reason.startswith("no interval: the difference is the same for every prompt")


def test_repeats_count_as_one_prompt():
    bias = family_bias("gpt-4o", labelled("gpt-4o", [0.0, 0.2, 0.5], "aab")).targets["gpt-4o"]
    assert (bias.n, bias.clusters, bias.mean) == (3, 2, pytest.approx(0.3))


def test_welchs_interval_takes_a_side_without_any_spread():
    family, others = [0.3, 0.3, 0.3], [0.1, 0.2, 0.0]
    bias = family_bias("gpt-4o", [*labelled("gpt-4", family, "abc"), *labelled("qwen2", others, "efg")])
    half = stats.t.ppf(0.975, 2) * stats.sem(others)
    assert bias.interval == pytest.approx((0.2 - half, 0.2 + half))


@each_row(
    ("judge", "reason"),
    [
        ("gpt-4o", "no labelled answer of a model of another family"),
        ("glm-4", "no labelled answer of a model of its own family"),
        ("tiny", "no labelled answer of a model of its own family"),
    ],
)
def test_a_preference_needs_both_sides(judge, reason):
    bias = family_bias(judge, labelled("gpt-4o", [0.1, 0.2], "ab"))
    assert (bias.preference, bias.interval) == (None, None)
    assert bias.reason.startswith(reason)
    assert bias.targets["gpt-4o"].interval is not None


def test_one_prompt_has_no_interval():
    rows = [*labelled("gpt-4o", [0.1], "a"), *labelled("glm-4", [0.0], "b")]
    bias = family_bias("gpt-4o", rows)
    assert (bias.preference, bias.interval) == (pytest.approx(0.1), None)
    assert bias.targets["glm-4"].interval is None
    assert bias.reason == "an interval needs two prompts on each side"
