"""What the records refuse, and what their hashes see."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import pytest
from rows import each_row

from hengwen.records import Failure, Request, Sample, Scale, Score, digest


@each_row("value", [math.nan, math.inf, -math.inf])
def test_a_score_is_a_finite_number(value: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        Score(name="x", value=value, signature="x")


def test_a_score_off_its_scale_is_refused_and_not_clamped() -> None:
    with pytest.raises(ValueError, match="off its scale"):
        Score(name="x", value=1.2, signature="x", scale=Scale(low=0, high=1))
    with pytest.raises(ValueError, match="off its scale"):
        Score(name="x", value=0.3, signature="x", scale=Scale(low=0, high=1, levels=(0, 0.5, 1)))


def test_a_failure_has_a_known_status() -> None:
    with pytest.raises(ValueError, match="unknown failure status 'oops'"):
        Failure(name="x", status="oops", message="", signature="x")


@each_row(("low", "high"), [(1, 1), (2, 1), (math.nan, 1), (0, math.inf)])
def test_a_scale_needs_two_ends(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="finite low < high"):
        Scale(low=low, high=high)


def test_a_scale_with_levels_is_discrete_also_after_the_levels_are_left_out() -> None:
    levels = Scale(low=0, high=1, levels=(0, 0.5, 1))
    assert levels.discrete
    assert dataclasses.replace(levels, levels=None).discrete
    assert not Scale(low=0, high=1).discrete


def test_the_cluster_of_a_sample_is_its_id_unless_it_is_named() -> None:
    assert Sample(id="a").cluster == "a"
    assert Sample(id="a", cluster="song").cluster == "song"


def test_the_hash_of_a_sample_sees_what_a_score_may_depend_on() -> None:
    base = Sample(id="a", input="x")
    assert base.hash == Sample(id="a", input="x", task="t", cluster="c").hash
    others = [
        Sample(id="b", input="x"),
        Sample(id="a", input="y"),
        Sample(id="a", input="x", references=("r",)),
        Sample(id="a", input="x", metadata={"template": "(verse)"}),
        Sample(id="a", input=(("user", "x"),)),
    ]
    assert len({base.hash, *(other.hash for other in others)}) == 6


def test_the_call_key_does_not_see_the_fence_but_sees_all_that_may_change_the_reply() -> None:
    base = Request(messages=(("user", "fence-1 x"),), identity="fence x", signature="s")
    assert base.key("e") == Request(messages=(("user", "fence-2 x"),), identity="fence x", signature="s").key(
        "e"
    )
    others = [
        Request(messages=base.messages, identity="fence y", signature="s"),
        Request(messages=base.messages, identity="fence x", signature="t"),
        Request(messages=base.messages, identity="fence x", signature="s", repeat=2),
        Request(messages=base.messages, identity="fence x", signature="s", params={"temperature": 1}),
        Request(messages=base.messages, identity="fence x", signature="s", schema={"type": "object"}),
    ]
    keys = {base.key("e"), base.key("other"), *(other.key("e") for other in others)}
    assert len(keys) == 7


def test_the_digest_takes_text_that_is_no_valid_unicode() -> None:
    assert digest("\ud800") != digest("\ud801")


@each_row(
    ("call", "message"),
    [
        (lambda: Score(name="s", value="1", signature="s"), "value must be a number, got '1'"),
        (lambda: Score(name="s", value=True, signature="s"), "value must be a number, got True"),
        (lambda: Score(name=None, value=1, signature="s"), "name must be text, got None"),
        (lambda: Score(name="s", value=1, signature=2), "signature must be text, got 2"),
        (lambda: Sample(id=7), "id must be text, got 7"),
        (lambda: Sample(id="a", references="月光"), "references must be a list of texts, got '月光'"),
    ],
)
def test_a_wrong_type_that_would_change_a_number_or_a_key_is_refused(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        call()
