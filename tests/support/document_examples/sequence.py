"""A short sequence with ties that falls."""

from pathlib import Path

from hengwen.documents.blocks import Document
from hengwen.documents.metrics import sequence_document
from hengwen.relevance_metrics import summarize


def example(folder: Path) -> Document:
    return sequence_document(summarize([5, 5, 4, 5, 4, 4, 5, 3, 4, 3, 3, 4, 2, 3, 2, 3, 1, 2], n_perm=99))
