"""A stream whose mean falls, with a scale."""

from pathlib import Path

from hengwen import Monitor
from hengwen.documents.blocks import Document
from hengwen.documents.monitor import monitor_document


def example(folder: Path) -> Document:
    monitor = Monitor([0.5, 0.75, 0.75, 1.0] * 30, horizon=40, direction="down", scale=(0, 1))
    for score in [0.75, 1.0, 0.5, 0.75] * 5 + [0.25, 0.5, 0.75] * 10:
        monitor.update(score)
    return monitor_document(monitor)
