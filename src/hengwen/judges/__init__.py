"""Who gives verdicts: a model that reads a rubric, and rules that need none. Names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hengwen.judges.rubric_judge import RubricJudge
    from hengwen.judges.rules_judge import RulesJudge

_HOMES = {
    "RubricJudge": "hengwen.judges.rubric_judge",
    "RulesJudge": "hengwen.judges.rules_judge",
}

__all__ = ["RubricJudge", "RulesJudge"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
