"""Write the plan of an imported Muice suite as YAML text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.personas.plan_text import JUDGE_YAML, SUBJECT_YAML, plan_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.importers.muice.options import MuiceOptions
    from hengwen.personas.plan_text import PlannedTask


def suite_plan(
    source: str, planned: Sequence[PlannedTask], topics: Sequence[Mapping[str, Any]], options: MuiceOptions
) -> str:
    """Return the text of the plan."""
    selected = ", ".join(row["input"] for row in topics if not row["id"].startswith("post-"))
    head = [
        f"The persona tasks of {source}, weighed by its scoring tables; the published scores are 0..10.",
        f"Where it is open: topics={options.topics}, subchoice={options.subchoice}: {selected};",
        "suites with other topic prompts are not comparable.",
        f'Its "default parameters" are the sampling preset {options.preset}; no prompt has a history.',
        "The .md.j2 files say who she is in words of ours: put there what your model was trained with.",
        "What was mended and what deserves a look: repairs.json.",
        "",
        "  hengwen validate plan.yaml",
        "  hengwen run plan.yaml --dry-run        # what it would cost",
        "  hengwen run plan.yaml -o report.html",
    ]
    tail = f"{SUBJECT_YAML}  {JUDGE_YAML} # costs money; any other will do\n"
    return plan_text(name="muice", head=head, tasks=planned, tail=tail)
