"""Raise the thresholds of the garbage collector (GC): most objects are of modules, and never garbage."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

THRESHOLDS = (50_000, 20, 50)
"""Thresholds of the three generations; Python's default for the first is 700 or 2,000 objects."""


@contextmanager
def relaxed_gc(*, freeze: bool = True) -> Iterator[None]:
    """Raise the GC thresholds and freeze existing objects (the GC then ignores them); undo this on exit."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    freeze = freeze and not gc.get_freeze_count()
    if freeze:
        gc.freeze()
    try:
        yield
    finally:
        if freeze:
            gc.unfreeze()
        gc.set_threshold(*thresholds)
