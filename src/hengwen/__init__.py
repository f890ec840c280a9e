"""Hengwen 衡文: weigh what language models write, by objective scorers and rubric judges, over checkpoints.

The names below are imported on first use, so that ``import hengwen`` is quick and loads no heavy library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

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
    "BackendError": "errors",
    "ConfigError": "errors",
    "DataError": "errors",
    "Failure": "records",
    "HengwenError": "errors",
    "JudgeError": "errors",
    "Outcome": "records",
    "Plan": "plan",
    "PluginError": "errors",
    "Response": "records",
    "Row": "records",
    "Run": "records",
    "RunResult": "runner",
    "Sample": "records",
    "Scale": "records",
    "Score": "records",
    "ScoreTable": "table",
    "Store": "store",
    "StoreError": "errors",
    "Summary": "aggregate",
    "Usage": "records",
    "Verdict": "records",
    "build_view": "reports",
    "collect_view": "reports.collect",
    "load_plan": "plan",
    "open_store": "store",
    "run_plan": "runner",
    "write_report": "reports",
}

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
