"""Print the output of ``--dry-run``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hengwen.cli.ui.language import choose_language
from hengwen.cli.ui.output import show
from hengwen.documents.dry_run import dry_run_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.runs.estimate_plan import CostEstimate


def show_estimates(estimates: Sequence[CostEstimate], *, as_json: bool, lang: str | None = None) -> None:
    """Print the estimated calls, tokens and cost of a run."""
    show(
        dry_run_document(estimates),
        (),
        language=choose_language(lang or os.environ.get("HENGWEN_LANG")),
        as_json=as_json,
        quiet=False,
    )
