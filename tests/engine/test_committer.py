"""When things are committed, and what becomes of a commit that fails."""

from __future__ import annotations

import asyncio

import pytest

from hengwen.engine import committer as module
from hengwen.engine.committer import Committer
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


async def test_what_one_turn_brought_is_one_commit() -> None:
    ledger = Ledger()
    committer = Committer(ledger)  # type: ignore[arg-type]
    for _ in range(5):
        committer.touch()
    assert ledger.commits == 0
    await asyncio.sleep(0.001)
    assert ledger.commits == 1


async def test_after_a_commit_the_next_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    monkeypatch.setattr(module, "PAUSE", 3600.0)
    ledger = Ledger()
    committer = Committer(ledger)  # type: ignore[arg-type]
    committer.finish()
    for _ in range(99):
        committer.touch()
    await asyncio.sleep(0.01)
    assert ledger.commits == 1
    committer.finish()
    now += module.PAUSE
    committer.touch()
    await asyncio.sleep(0.01)
    assert ledger.commits == 3


async def test_answers_that_were_bought_do_not_wait_when_they_are_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "monotonic", lambda: 100.0)
    ledger = Ledger()
    committer = Committer(ledger)  # type: ignore[arg-type]
    committer._not_before = 3700.0
    for _ in range(2 * module.MOST_BOUGHT - 1):
        committer.touch(bought=True)
        committer.touch()
    assert ledger.commits_of_attempts == 1  # in the same turn of the loop
    committer.touch(bought=True)
    assert (ledger.commits_of_attempts, ledger.commits) == (2, 0)
    committer.touch(bought=True)
    committer.finish()  # of everything
    for _ in range(module.MOST_BOUGHT - 1):
        committer.touch(bought=True)
    assert (ledger.commits_of_attempts, ledger.commits) == (2, 1)
    ledger.error = StoreError("the disk is full")
    with pytest.raises(StoreError, match="the disk is full"):
        committer.touch(bought=True)


async def test_a_commit_that_failed_is_told_to_whoever_comes_next() -> None:
    ledger = Ledger()
    committer = Committer(ledger)  # type: ignore[arg-type]
    ledger.error = StoreError("the disk is full")
    committer.touch()
    await asyncio.sleep(0.001)
    ledger.error = None
    with pytest.raises(StoreError, match="the disk is full"):
        committer.touch()
    with pytest.raises(StoreError, match="the disk is full"):
        committer.finish()
    assert ledger.commits == 0
