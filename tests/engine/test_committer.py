"""When records are committed, and how a failed commit is reported."""

from __future__ import annotations

import asyncio

import pytest

from hengwen.engine import metered_backend as module
from hengwen.engine.metered_backend import MAX_UNCOMMITTED_PAID, Committer
from hengwen.errors import StoreError


class Ledger:
    """Counts its commits; may fail."""

    def __init__(self) -> None:
        self.commits = self.commits_of_attempts = 0
        self.error: Exception | None = None

    def commit(self) -> None:
        if self.error is not None:
            raise self.error
        self.commits += 1

    def commit_attempts(self) -> None:
        if self.error is not None:
            raise self.error
        self.commits_of_attempts += 1


async def test_records_of_one_loop_iteration_are_one_commit() -> None:
    ledger = Ledger()
    committer = Committer(ledger)
    for _ in range(5):
        committer.schedule_commit()
    assert ledger.commits == 0
    await asyncio.sleep(0.001)
    assert ledger.commits == 1


async def test_after_a_commit_the_next_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    monkeypatch.setattr(module, "COMMIT_INTERVAL", 3600.0)
    ledger = Ledger()
    committer = Committer(ledger)
    committer.flush()
    for _ in range(99):
        committer.schedule_commit()
    await asyncio.sleep(0.01)
    assert ledger.commits == 1
    committer.flush()
    now += 3600.0
    committer.schedule_commit()
    await asyncio.sleep(0.01)
    assert ledger.commits == 3


async def test_paid_replies_are_committed_at_once_when_several_are_pending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "monotonic", lambda: 100.0)
    ledger = Ledger()
    committer = Committer(ledger)
    committer._not_before = 3700.0
    for _ in range(2 * MAX_UNCOMMITTED_PAID - 1):
        committer.schedule_commit(paid=True)
        committer.schedule_commit()
    assert ledger.commits_of_attempts == 1  # in the same turn of the loop
    committer.schedule_commit(paid=True)
    assert (ledger.commits_of_attempts, ledger.commits) == (2, 0)
    committer.schedule_commit(paid=True)
    committer.flush()  # of everything
    for _ in range(MAX_UNCOMMITTED_PAID - 1):
        committer.schedule_commit(paid=True)
    assert (ledger.commits_of_attempts, ledger.commits) == (2, 1)
    ledger.error = StoreError("the disk is full")
    with pytest.raises(StoreError, match="the disk is full"):
        committer.schedule_commit(paid=True)


async def test_the_error_of_a_failed_commit_is_raised_by_the_next_call() -> None:
    ledger = Ledger()
    committer = Committer(ledger)
    ledger.error = StoreError("the disk is full")
    committer.schedule_commit()
    await asyncio.sleep(0.001)
    ledger.error = None
    with pytest.raises(StoreError, match="the disk is full"):
        committer.schedule_commit()
    with pytest.raises(StoreError, match="the disk is full"):
        committer.flush()
    assert ledger.commits == 0


async def test_a_single_paid_reply_is_committed_in_the_same_iteration_of_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "monotonic", lambda: 100.0)
    ledger = Ledger()
    committer = Committer(ledger)
    committer._not_before = 3700.0
    committer.schedule_commit(paid=True)
    committer.schedule_commit(paid=True)
    assert (ledger.commits_of_attempts, ledger.commits) == (0, 0)
    await asyncio.sleep(0)
    assert (ledger.commits_of_attempts, ledger.commits) == (1, 0)
    committer.schedule_commit(paid=True)
    committer.flush()
    await asyncio.sleep(0)
    assert (ledger.commits_of_attempts, ledger.commits) == (1, 1)
    committer.schedule_commit()
    await asyncio.sleep(0)
    assert (ledger.commits_of_attempts, ledger.commits) == (1, 1)
