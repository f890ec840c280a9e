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
def rare_collections() -> Iterator[None]:
    """Set the thresholds, and those of before at the end.

    Examples:
        >>> before = gc.get_threshold()
        >>> with rare_collections():
        ...     gc.get_threshold()
        (50000, 20, 50)
        >>> gc.get_threshold() == before
        True
    """
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
