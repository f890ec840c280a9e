"""Rows that are encoded as evaluations come back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_rows import row_of

from hengwen.records import Failure, Outcome, Row, Run, Scale, Score
from hengwen.store import Store, open_store
from hengwen.store.evaluation_codec import EvaluationEncoder, hash_id

RUN = Run(id="r", plan="p", plan_hash="h", checkpoint="c", started="2026-01-01")
UNIT = Scale(low=0, high=1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


def row(outcome: Outcome, sample: str | None = "a", repeat: int | None = 1, cluster: str = "k") -> Row:
    return row_of("r", "t", "c", sample, repeat, cluster, outcome, "i" * 32)


@st.composite
def evaluations(draw: st.DrawFn) -> list[Row]:
    """Draw the rows that a scorer or judge gives one answer or one group of answers."""
    kind = draw(st.sampled_from(["scorer", "judge"]))
    sample = draw(st.sampled_from(["a", "b", None]))
    repeat = None if sample is None else draw(st.integers(1, 2))
    outcomes: list[Outcome] = []
    for name in draw(st.lists(st.sampled_from(["level", "voice", "tone"]), min_size=1, unique=True)):
        common = {"name": f"{kind}.{name}", "signature": f"{kind}|v:1", "kind": kind}
        if draw(st.booleans()):
            value = draw(st.floats(0, 1))
            details = draw(st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.none()), max_size=2))
            scale = draw(st.sampled_from([None, UNIT]))
            outcomes.append(Score(value=value, scale=scale, reason=draw(TEXTS), details=details, **common))
        else:
            status = draw(st.sampled_from(["timeout", "not_applicable", "parse_error"]))
            outcomes.append(Failure(status=status, message=draw(TEXTS), raw=draw(TEXTS), **common))
    return [row(outcome, sample, repeat, sample or "t") for outcome in outcomes]


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        yield opened


@pytest.mark.slow
@given(batches=st.lists(evaluations(), max_size=6))
def test_rows_come_back_as_they_were(batches: list[list[Row]]) -> None:
    latest: dict[object, list[Row]] = {}
    with open_store("sqlite://") as store:
        ledger = store.ledger()
        for rows in batches:
            ledger.record_rows(rows)
            ledger.commit()
            first = rows[0]
            latest[first.sample_id, first.repeat, min(row.score for row in rows)] = rows
        stored = list(store.rows([RUN]))
    assert sorted(map(repr, stored)) == sorted(repr(row) for rows in latest.values() for row in rows)


def test_a_note_that_repeats_is_stored_once() -> None:
    encoder = EvaluationEncoder()
    score = Score(name="s", value=1, signature="s|v:1", reason="the same reason")
    columns = [next(iter(encoder.encode([row(score, sample)]))) for sample in "abc"]
    notes_id = hash_id('[["the same reason",0]]')
    assert [(item["notes_id"], item["notes"]) for item in columns] == [
        (None, '[["the same reason",0]]'),
        (notes_id, ""),
        (notes_id, ""),
    ]
    assert encoder.new_notes == {notes_id: '[["the same reason",0]]'}
    encoder.forget_new()
    next(iter(encoder.encode([row(score, "d")])))
    assert encoder.new_notes == {}


def test_a_score_that_failed_at_first_keeps_one_series() -> None:
    encoder = EvaluationEncoder()
    failure = Failure(name="s", status="timeout", message="late", signature="s|v:1")
    score = Score(name="s", value=1, signature="s|v:1", scale=UNIT)
    columns = [next(iter(encoder.encode([row(outcome)]))) for outcome in (failure, score, failure)]
    assert len({item["series_id"] for item in columns}) == 1
    assert columns[0]["evaluator_id"] != columns[1]["evaluator_id"] == columns[2]["evaluator_id"]


def test_a_later_evaluation_replaces_an_earlier_one_with_its_scores_in_another_order(store: Store) -> None:
    first = Score(name="p.a", value=0.25, signature="p|v:1")
    second = Score(name="p.b", value=0.5, signature="p|v:1")
    missing = Failure(name="p.a", status="scorer_error", message="missing", signature="p|v:1")
    ledger = store.ledger()
    ledger.begin(RUN)
    for outcomes in ((second, missing), (first, second)):
        ledger.record_rows([row(outcome) for outcome in outcomes])
        ledger.commit()
    rows = [(kept.score.name, kept.outcome.value) for kept in store.rows([RUN])]
    assert sorted(rows) == [("p.a", 0.25), ("p.b", 0.5)]


def test_human_labels_are_evaluations_of_their_own(store: Store) -> None:
    label = Score(name="human.a", value=1, signature="human", kind="human")
    ledger = store.ledger()
    ledger.begin(RUN)
    ledger.record_rows([row(label)])
    ledger.commit()
    ledger.record_rows([row(replace(label, value=0)), row(replace(label, name="human.b"))])
    ledger.commit()
    values = {kept.score.name: kept.outcome.value for kept in store.rows([RUN])}
    assert values == {"human.a": 0, "human.b": 1}
