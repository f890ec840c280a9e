"""The Ray actor of a run: it divides the limits of endpoints, counts progress, and lets workers stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.engine.limits.limit_pool import Demand, EndpointLimits, Grant, LimitPool

if TYPE_CHECKING:
    from collections.abc import Mapping

Progress = dict[str, tuple[int, int]]
"""Samples done and samples in total, by checkpoint."""


class Coordinator:
    """State that the workers of a run share; its methods are quick, because it serves one call at a time."""

    def __init__(self, limits: Mapping[str, EndpointLimits]) -> None:
        self._pool = LimitPool(limits)
        self._progress: Progress = {}
        self._is_stopping = False

    def sync(self, worker: str, endpoint: str, demand: Demand) -> Grant:
        """Return what a worker may use of an endpoint; see ``LimitPool.sync``."""
        return self._pool.sync(worker, endpoint, demand)

    def forget(self, worker: str) -> None:
        """Let the other workers use the slots of a worker that has ended or was killed."""
        self._pool.forget(worker)

    def report(self, progress: Progress) -> bool:
        """Record the progress that a worker sees; return whether the worker should stop."""
        for checkpoint, (done, total) in progress.items():
            known, _ = self._progress.get(checkpoint, (0, 0))
            self._progress[checkpoint] = (max(known, done), total)
        return self._is_stopping

    def progress(self) -> Progress:
        """Return the progress of all workers together."""
        return self._progress

    def stop(self) -> None:
        """Let all workers stop: they make no new call, and store the replies to calls that were sent."""
        self._is_stopping = True
