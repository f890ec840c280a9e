"""Who gives verdicts: a model that reads a rubric, rules that need none, panels. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.judges.panel import Panel
    from hengwen.judges.rubric_judge import RubricJudge
    from hengwen.judges.rules_judge import RulesJudge

_HOMES = {
    "Panel": "panel",
    "RubricJudge": "rubric_judge",
    "RulesJudge": "rules_judge",
}

__all__ = [
    "Panel",
    "RubricJudge",
    "RulesJudge",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
