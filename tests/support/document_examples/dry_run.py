"""A run that asks a model and a judge with a price."""

from pathlib import Path

from hengwen.documents.blocks import Document
from hengwen.documents.dry_run import dry_run_document
from hengwen.engine.metered_backend import Price
from hengwen.records import Usage
from hengwen.runs.run_plan import CostEstimate

LISTED = Price(input=3, output=23.6, currency="USD", source="2026-11-23")


def example(folder: Path) -> Document:
    paid = Usage(calls=1200, input_tokens=345678, output_tokens=9012)
    return dry_run_document(
        [
            CostEstimate(backend="poet", role="subject", usage=Usage(calls=3), cost=None, price=None),
            CostEstimate(backend="jury", role="judge", usage=paid, cost=1.25, price=LISTED),
        ]
    )
