"""``demo_document``: the report of the demo, whose store is deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Command
from hengwen.documents.run.document import report_document
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from hengwen.documents.blocks import Document
    from hengwen.runs.run_plan import RunResult
    from hengwen.store import Store

NEXT = Command(
    line="hengwen init my-model",
    purpose=Bilingual("下一步，用自己的回答", "next, with answers of your own"),
)


def demo_document(store: Store, result: RunResult) -> Document:
    """Return the report of the demo with the command that begins a plan of one's own.

    A test of its judges would not change the next demo, so no command for that is named.
    """
    document = report_document(store, result.runs, warnings=result.warnings, is_kept=False)
    first, *others = document.blocks
    return replace(document, blocks=(first, NEXT, *others))
