"""Where a label stands among the tokens of a reply, and how the model weighed the others."""

from __future__ import annotations

import json
from math import fsum, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.judges.rubric.judge import label_weights, verdict_weights
from hengwen.judges.rubric.model_judge import ParsedVerdict

GRADES = ["E", "D", "C", "B", "A"]


def token(text: str | bytes, share: float = 1.0, **others: float):
    raw = text.encode() if isinstance(text, str) else text
    alternatives = ((raw, log(share)), *((name.encode(), log(p)) for name, p in others.items()))
    return raw, log(share), alternatives if others else ()


def weights_of(tokens, level="B", labels=GRADES, criteria=None):
    return verdict_weights(tokens, ParsedVerdict(reason="", level=level, criteria=criteria or {}), labels)


CASES = {
    "a token of its own": (
        [token('{"reason": "x", "level": "'), token("B", 0.5, A=0.25), token('"}')],
        2 / 3,
        0.25,
    ),
    "with the quote before": (
        [token('{"level":'), (b' "B', log(0.5), ((b' "B', log(0.5)), (b' "A', log(0.5)))), token('"}')],
        0.5,
        0.0,
    ),
    "with the quote behind": (
        [token('{"level": "'), (b'B"', log(0.5), ((b'A"}', log(0.5)), (b"B+", -9.0))), token("}")],
        0.5,
        0.0,
    ),
    "with all round it": (
        [token('{"level"'), (b': "B"}', log(0.8), ((b': "B"}', log(0.8)), (b': "A"', log(0.2))))],
        0.8,
        0.0,
    ),
    "in lower case": ([token('{"level": "'), token("b", 0.5, B=0.25, a=0.25), token('"}')], 0.75, 0.0),
    "the chosen one is not listed": (
        [token('{"level": "'), (b"B", log(0.1), ((b"A", log(0.3)), (b"x", log(0.6)))), token('"}')],
        0.25,
        0.6,
    ),
    "behind a thought with a level": (
        [token('<think>{"level": "A"}</think>{"level": "'), token("B", 0.5, A=0.5), token('"}')],
        0.5,
        0.0,
    ),
}


@each_row(("tokens", "share", "off"), CASES.values())
def test_the_weights_of_a_label_are_found(tokens, share, off):
    level = weights_of(tokens)["level"]
    assert level.labels["B"] == pytest.approx(share)
    assert fsum(level.labels.values()) == pytest.approx(1)
    assert level.off_label == pytest.approx(off, abs=1e-3)


def test_labels_of_several_tokens_are_followed_to_where_they_part():
    tokens = [
        token('{"level": "'),
        token("1", 0.8, **{"5": 0.2}),
        token("0", 0.5, **{'"': 0.25, "x": 0.25}),
        token('"}'),
    ]
    level = weights_of(tokens, "10", ["1", "5", "10"])["level"]
    assert level.labels == pytest.approx({"1": 0.2 / 0.8, "5": 0.2 / 0.8, "10": 0.4 / 0.8})
    assert level.off_label == pytest.approx(0.2)


def test_a_label_of_several_words_is_told_by_its_first_token():
    tokens = [token('{"level": "'), token("Hi", 0.7, Lo=0.3), token("gh"), token('"}')]
    assert weights_of(tokens, "High", ["Low", "High"])["level"].labels == pytest.approx(
        {"Low": 0.3, "High": 0.7}
    )


def test_characters_cut_in_two_are_put_together():
    you, liang = "优".encode(), "良".encode()
    assert you[:1] != liang[:1]
    first = (you[:2], log(0.6), ((you[:2], log(0.6)), (liang[:2], log(0.4))))
    tokens = [token('{"level": "'), first, token(you[2:]), token('"}')]
    assert weights_of(tokens, "优", ["良", "优"])["level"].labels == pytest.approx({"优": 0.6, "良": 0.4})


def test_criteria_are_found_in_their_object_and_nowhere_else():
    text = '{"reason": "\\"wit\\": \\"A\\", \\"level\\": \\"A\\"", "criteria": {"reason": "'
    tokens = [
        token(text),
        token("C", 0.5, D=0.5),
        token('", "wit": "'),
        token("B", 0.9, A=0.1),
        token('"}, "level": "'),
        token("D"),
        token('"}'),
    ]
    assert json.loads(b"".join(one[0] for one in tokens))["criteria"] == {"reason": "C", "wit": "B"}
    weights = weights_of(tokens, "D", criteria={"reason": "C", "wit": "B"})
    assert weights["reason"].labels == pytest.approx({"C": 0.5, "D": 0.5})
    assert weights["wit"].labels == pytest.approx({"B": 0.9, "A": 0.1})
    assert weights["level"].labels == {"D": 1.0}


@each_row(
    "tokens",
    [
        [],
        [token("five stars")],
        [token('{"level": "'), token("A"), token('"}')],
        [token('{"\\u006cevel": "'), token("B"), token('"}')],
        [token('{"level": "'), (b"B", -9999.0, ()), token('"}')],
        [token('{"level": "')],
    ],
    ids=["no tokens", "no object", "another label", "an escaped key", "no weight at all", "no label token"],
)
def test_what_cannot_be_told_is_none(tokens):
    assert weights_of(tokens) is None


SHARES = st.lists(st.floats(0.001, 1), min_size=5, max_size=5)


@settings(deadline=None, max_examples=100)
@given(SHARES, st.integers(0, 4), st.floats(0, 0.5))
def test_weights_are_the_shares_over_their_sum(shares, chosen, off):
    total = fsum(shares)
    shares = [share / total * (1 - off) for share in shares]
    options = tuple((label.encode(), log(share)) for label, share in zip(GRADES, shares, strict=True))
    tokens = [(b'"', 0.0, ()), (*options[chosen], options), (b'"', 0.0, ())]
    weights = label_weights(tokens, 1, GRADES)
    assert weights.off_label == pytest.approx(off, abs=1e-9)
    for label, share in zip(GRADES, shares, strict=True):
        assert weights.labels[label] == pytest.approx(share / (1 - off))
    values = dict(zip(GRADES, range(5), strict=True))
    assert weights.mean(values) == pytest.approx(fsum(i * s for i, s in enumerate(shares)) / (1 - off))


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([b'"level": "', b"{", b"B", b"A", b'"', b"}", b" ", b"\xe4", b"</think>", b""]),
            st.floats(),
            st.lists(st.tuples(st.binary(max_size=3), st.floats()), max_size=3).map(tuple),
        ),
        max_size=8,
    )
)
def test_any_tokens_give_weights_that_sum_to_one_or_nothing(tokens):
    weights = weights_of(tokens)
    if weights is not None:
        assert set(weights["level"].labels) <= set(GRADES)
        assert fsum(weights["level"].labels.values()) == pytest.approx(1)
        assert 0 <= weights["level"].off_label <= 1
