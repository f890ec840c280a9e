"""Execute the job of one run, and record how it ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Literal

from hengwen._internal.version import installed_versions
from hengwen.engine.executor import execute
from hengwen.engine.job import Job
from hengwen.engine.metered_backend import Committer
from hengwen.errors import StoreError
from hengwen.protocols import Ledger
from hengwen.records import Run
from hengwen.runs.resources import RunResources
from hengwen.store.store import Store

PACKAGES = (
    *("hengwen", "numpy", "scipy", "jieba", "opencc", "pypinyin", "rapidfuzz"),
    *("openai", "aiohttp", "langchain-core", "langchain-openai"),
)
"""Packages whose versions a run records, because they can change a score."""


async def run_job(
    job: Job,
    ledger: Ledger,
    committer: Committer,
    resources: RunResources,
    *,
    record_more: Callable[[], None] | None = None,
) -> Run:
    """Execute a job and return its run, with the status with which the run ended."""
    run, progress = job.run, resources.options.progress
    status: Literal["finished", "interrupted", "failed"] = "failed"
    has_error = True
    try:
        await execute(
            job,
            ledger,
            committer,
            concurrency=resources.options.concurrency,
            stopping=resources.stopping,
            pool=resources.pool,
            progress=None if progress is None else partial(progress, run.checkpoint),
        )
        if record_more is not None:
            record_more()
        status = "failed" if _has_only_failures(resources.store, run) else "finished"
        has_error = False
    except (asyncio.CancelledError, KeyboardInterrupt):
        status = "interrupted"
        raise
    finally:
        run = replace(run, status=status)
        ledger.begin(run)
        if has_error and status == "failed":
            with suppress(StoreError):  # the error that is being raised may itself come from the store
                ledger.commit()
        else:
            committer.flush()
    return run


def _has_only_failures(store: Store, run: Run) -> bool:
    """Return whether all results of scorers and judges are failures; labels and anchors are ignored."""
    counts: Counter[str] = Counter()
    for score, statuses in store.statuses([run]).items():
        if score.is_of_run:
            counts.update(statuses)
    return bool(counts) and not counts["ok"] and not counts["not_applicable"]


@cache
def package_versions() -> Mapping[str, str]:
    """Return the versions of the installed ``PACKAGES``."""
    return installed_versions(PACKAGES)
