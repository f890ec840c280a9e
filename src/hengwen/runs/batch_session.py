"""Build the batch session of a run: backends with batch endpoints, their prices, the folder of files."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.backends.openai.backend import OpenAIBackend
from hengwen.records import digest
from hengwen.runs.batch.backend import BatchedBackend
from hengwen.runs.batch.estimate import DryBatchQueue
from hengwen.runs.batch.options import BatchOptions
from hengwen.runs.batch.queue import BatchQueue, Limits
from hengwen.runs.batch.session import BatchSession

if TYPE_CHECKING:
    from hengwen.runs.resources import RunResources


def batch_session(resources: RunResources) -> BatchSession | None:
    """Return the batch session of a run; None if no batch is requested and none is open in the store."""
    plan, options = resources.suite.plan, resources.options
    store = resources.store.batches(plan.name)
    if options.batch is None and (resources.dry or not (store.has_replies() or store.files())):
        return None
    clients = {
        name: backend
        for name, backend in resources.backends.items()
        if isinstance(backend, OpenAIBackend) and resources.specs[name].batch
    }
    backends = {
        name: BatchedBackend(
            name=name,
            lines=backend.batch_lines(),
            price=resources.batch_price(name),
            params=resources.specs[name].params,
            retries=resources.specs[name].retries,
        )
        for name, backend in clients.items()
    }
    tokens = {name: resources.specs[name].batch_tokens for name in clients}
    limits = {name: Limits.of(options.batch or BatchOptions(), tokens[name]) for name in clients}
    batch = options.batch
    spool = _spool(store.path, resources.store.name, plan.name)
    folder = spool if batch is None or batch.folder is None else batch.folder
    if resources.dry:
        queue: BatchQueue = DryBatchQueue(store, limits, folder)
    else:
        prefix = f"{resources.started_at:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        queue = BatchQueue(store, limits, folder, prefix, spool)
    return BatchSession(options.batch, queue, backends, clients, tokens, resources.budget, resources.stopping)


def _spool(path: Path | None, store: str, plan: str) -> Path:
    """Return the folder of the files to send: next to a SQLite store, otherwise a temporary folder."""
    if path is None:  # the same folder for the same plan, so that the next command deletes what a crash left
        return Path(tempfile.gettempdir()) / f"hengwen-{digest(store, plan)[:16]}.batches"
    return path.with_name(f"{path.name}.batches")
