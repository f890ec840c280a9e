"""Several writers of one database write the same prompts, samples and calls at the same time."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from score_rows import row_of

from hengwen.records import Attempt, Response, Row, Run, Sample, Score
from hengwen.store.evaluation_codec import MIN_LENGTH
from hengwen.store.store import SqlLedger, Store, open_store

pytestmark = pytest.mark.slow

WRITERS = 4
ROUNDS = 40
RUN = Run(id="r1", plan="p", plan_hash="h", checkpoint="c", started="2026-01-01")
SAMPLES = [Sample(id=f"s{number}", input="x") for number in range(30)]
PREFIXES = ["甲乙丙丁戊己庚辛壬癸"[number] * MIN_LENGTH for number in range(10)]


def attempt(writer: int, number: int, prefix: str, ending: str) -> Attempt:
    return Attempt(
        call_key=f"{number:064x}",
        cache_scope="",
        attempt_no=1,
        status="ok",
        run_id="r1",
        role="judge",
        request={"messages": (("user", prefix + ending),), "params": {}},
        raw=f"writer {writer}",
    )


def row(writer: int, sample: Sample, judge: int) -> Row:
    outcome = Score(
        name=f"j{judge}.level",
        value=0.5,
        signature=f"j{judge}|v:1",
        kind="judge",
        details={"model": f"model {judge}"},
        reason=f"reason {judge}",
    )
    return row_of(
        run_id="r1",
        task="t",
        checkpoint="c",
        sample_id=f"{writer}/{sample.id}",
        repeat=1,
        cluster=sample.id,
        outcome=outcome,
        item_hash="i",
    )


def fill(ledger: SqlLedger, writer: int, shuffled: random.Random) -> None:
    """Record the same run, samples, answers, calls and judges as the other writers, in another order."""
    ledger.begin(RUN)
    for sample in shuffled.sample(SAMPLES, 12):
        ledger.record_response("r1", sample, Response(sample_id=sample.id, text="y", task="t"))
        for judge in shuffled.sample(range(8), 3):
            ledger.record_rows([row(writer, sample, judge)])
    for number in shuffled.sample(range(10), 6):
        for ending in ("a", "b"):  # the second text with a prefix stores the prefix
            ledger.record_attempt(attempt(writer, 2 * number + (ending == "b"), PREFIXES[number], ending))


def test_writers_of_the_same_keys_never_block_each_other_for_good(store: Store) -> None:
    barrier = Barrier(WRITERS)

    def write(writer: int) -> None:
        shuffled = random.Random(writer)
        with open_store(store._engine.url.render_as_string(hide_password=False)) as opened:
            barrier.wait()
            for number in range(ROUNDS):
                ledger = opened.ledger()
                fill(ledger, writer, shuffled)
                if number % 2:
                    ledger.commit_attempts()
                ledger.commit()

    with ThreadPoolExecutor(WRITERS) as pool:
        for result in [pool.submit(write, writer) for writer in range(WRITERS)]:
            result.result()
    assert len(store.sample_hashes(RUN)) == len(SAMPLES)
    assert len(list(store.attempts(RUN))) == 20
    rows = list(store.rows([RUN]))
    assert len({(row.sample_id, row.score) for row in rows}) == len(rows) > WRITERS * len(SAMPLES)
    assert {row.outcome.reason for row in rows} == {f"reason {judge}" for judge in range(8)}
