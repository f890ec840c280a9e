"""Hengwen 衡文: weigh what language models write, by objective scorers and rubric judges, over checkpoints.

The names below are imported on first use, so that ``import hengwen`` is quick and loads no heavy library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hengwen.aggregate import Summary
    from hengwen.errors import (
        BackendError,
        ConfigError,
        DataError,
        HengwenError,
        JudgeError,
        PluginError,
        StoreError,
    )
    from hengwen.plan import Plan, load_plan
    from hengwen.records import Failure, Outcome, Response, Row, Run, Sample, Scale, Score, Usage, Verdict
    from hengwen.reports import build_view, write_report
    from hengwen.reports.collect import collect_view
    from hengwen.runner import RunResult, run_plan
    from hengwen.store import Store, open_store
    from hengwen.table import ScoreTable

_HOMES = {
    "aggregate": ("Summary",),
    "errors": (
        "BackendError",
        "ConfigError",
        "DataError",
        "HengwenError",
        "JudgeError",
        "PluginError",
        "StoreError",
    ),
    "plan": ("Plan", "load_plan"),
    "records": (
        "Failure",
        "Outcome",
        "Response",
        "Row",
        "Run",
        "Sample",
        "Scale",
        "Score",
        "Usage",
        "Verdict",
    ),
    "reports": ("build_view", "write_report"),
    "reports.collect": ("collect_view",),
    "runner": ("RunResult", "run_plan"),
    "store": ("Store", "open_store"),
    "table": ("ScoreTable",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BackendError",
    "ConfigError",
    "DataError",
    "Failure",
    "HengwenError",
    "JudgeError",
    "Outcome",
    "Plan",
    "PluginError",
    "Response",
    "Row",
    "Run",
    "RunResult",
    "Sample",
    "Scale",
    "Score",
    "ScoreTable",
    "Store",
    "StoreError",
    "Summary",
    "Usage",
    "Verdict",
    "build_view",
    "collect_view",
    "load_plan",
    "open_store",
    "run_plan",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
