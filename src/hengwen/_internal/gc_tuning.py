"""The garbage collector looks less often: it would walk all that is imported, and find nothing."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

THRESHOLDS = (50_000, 20, 50)
"""Objects that came since the last look, and looks before older ones are seen. Python's: 700 or 2,000."""


@contextmanager
def relaxed_gc(*, freeze: bool = True) -> Iterator[None]:
    """Set the thresholds and pass over what is there already; as before at the end. Also a decorator.

    Args:
        freeze: Whether to pass over it; not where most is still to be imported. What others froze stays so.

    Examples:
        >>> before = gc.get_threshold()
        >>> with relaxed_gc():
        ...     gc.get_threshold(), gc.get_freeze_count() > 0
        ((50000, 20, 50), True)
        >>> gc.get_threshold() == before, gc.get_freeze_count()
        (True, 0)
    """
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    freeze = freeze and not gc.get_freeze_count()
    if freeze:
        gc.freeze()
    try:
        yield
    finally:
        if freeze:
            gc.unfreeze()
        gc.set_threshold(*before)
