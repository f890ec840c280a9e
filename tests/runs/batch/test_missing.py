"""The provider does not give the state of a batch, or its replies, at once or at all."""

from __future__ import annotations

from itertools import count

import pytest

from hengwen import BackendError, Score

pytestmark = pytest.mark.slow


def scores(store, run) -> list[bool]:
    return [isinstance(row.outcome, Score) for row in store.rows([run])]


def without_replies(batch_server, times: int | None = None) -> None:
    """Let batches end without the file of their replies, at the first ``times`` polls or always."""
    original = batch_server.advance
    delays = iter(range(times)) if times is not None else count()

    def advance(batch):
        ended = original(batch)
        is_late = ended["status"] == "completed" and next(delays, None) is not None
        return {**ended, "output_file_id": None} if is_late else ended

    batch_server.advance = advance


def test_a_batch_whose_state_cannot_be_read_for_a_while_is_asked_for_again(
    judged, run, store, batch_server
) -> None:
    failures = iter(range(15))
    batch_server.on_request = lambda method, path: (
        b"" if method == "GET" and path.startswith("/batches/") and next(failures, None) is not None else None
    )
    sentences: list[str] = []
    (stored,) = run(judged(1), report=sentences.append).runs
    assert all(scores(store, stored))
    assert any("no usable answer from" in sentence for sentence in sentences)


def test_the_patience_with_missing_replies_is_a_time_and_not_a_number_of_polls(
    judged, run, store, batch_server, clock
) -> None:
    without_replies(batch_server, times=100)
    (stored,) = run(judged(2)).runs
    assert all(scores(store, stored))
    assert len(batch_server.sent) == 2


def test_calls_whose_replies_do_not_come_are_not_sent_again(judged, run, store, batch_server, clock) -> None:
    original, plan = batch_server.advance, judged(2)
    without_replies(batch_server)

    def wait(method, path):
        clock[0] += 400.0

    batch_server.on_request = wait
    with pytest.raises(BackendError, match="its replies are not there yet; the same command looks for them"):
        run(plan)
    batch_server.advance = original
    (stored,) = run(plan).runs
    assert all(scores(store, stored))
    assert len(batch_server.sent) == 2


def test_a_batch_that_the_provider_lost_does_not_keep_others_from_their_replies(
    judged, run, store, batch_server
) -> None:
    def lose_the_first(method, path):
        if len(batch_server.batches) == 3:
            del batch_server.batches[next(iter(batch_server.batches))]

    batch_server.on_request = lose_the_first
    plan = judged(3)
    with pytest.raises(BackendError, match="is unknown to the provider"):
        run(plan, max_requests=1)
    assert [file.state for file in store.batches("p").files()] == ["created"]
    batch_server.on_request = lambda method, path: None
    run(plan, action="cancel")
    (stored,) = run(plan).runs
    assert all(scores(store, stored))
    assert len(batch_server.sent) == 3  # two batches, and the lost call again


def test_replies_that_come_after_the_end_of_their_batch_are_awaited(judged, run, store, batch_server) -> None:
    without_replies(batch_server, times=3)
    (stored,) = run(judged(2)).runs
    assert all(scores(store, stored))
    assert len(batch_server.sent) == 2


def test_calls_whose_replies_the_provider_has_deleted_are_sent_again(
    judged, run, store, batch_server
) -> None:
    original = batch_server.finish

    def lose_the_first(batch, status):
        ended = original(batch, status)
        if len(batch_server.batches) == 1:
            ended["output_file_id"] = "file-deleted"
        return ended

    batch_server.finish = lose_the_first
    result = run(judged(2))
    assert all(scores(store, result.runs[0]))
    assert len(batch_server.sent) == 4
    assert "file file-deleted is lost: the endpoint answered 404" in result.warnings[0]


def test_a_batch_that_the_provider_does_not_know_can_be_given_up(judged, run, store, batch_server) -> None:
    plan = judged(1)
    batch_server.on_request = lambda method, path: b"" if path.endswith("/content") else None
    with pytest.raises(BackendError):
        run(plan)
    batch_server.on_request = lambda method, path: None
    batch_server.batches.clear()
    with pytest.raises(BackendError, match="unknown to the provider; give it up with: hengwen batch cancel"):
        run(plan)
    assert "is given up" in run(plan, action="cancel").warnings[0]
    assert run(plan).runs[0].status == "finished"
