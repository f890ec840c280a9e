"""Four checkpoints with a scorer, a judge, human labels, anchors, failures and answers."""

from pathlib import Path

from fixed_report import make_data

from hengwen.documents.blocks import Document
from hengwen.documents.run.document import run_document


def example(folder: Path) -> Document:
    return run_document(make_data())
