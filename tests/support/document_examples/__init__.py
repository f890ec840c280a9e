"""One small document of each kind, built from a real result: a module for each kind, named as the kind.

A module has one function, ``example(folder: Path) -> Document``, which may write files into the
empty folder. The module of the kind ``judge-drift`` is ``judge_drift.py``.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from hengwen.documents.blocks import Document

KINDS = sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def example(kind: str, folder: Path) -> Document:
    """Return the example of a kind."""
    module = importlib.import_module(f"{__name__}.{kind.replace('-', '_')}")
    document: Document = module.example(folder)
    return document
