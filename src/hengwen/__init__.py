"""Hengwen 衡文: evaluate texts of language models with deterministic scorers and rubric judges.

The names below are imported on first use, so that ``import hengwen`` is fast and loads no heavy library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen._internal.version import __version__
    from hengwen.documents.blocks import Document
    from hengwen.documents.render.write import write_document
    from hengwen.documents.run.document import report_document
    from hengwen.errors import (
        BackendError,
        ConfigError,
        DataError,
        HengwenError,
        JudgeError,
        PluginError,
        StoreBusyError,
        StoreError,
        TimeLimitError,
        WorkerError,
    )
    from hengwen.monitoring.compare.compare_runs import compare_runs
    from hengwen.monitoring.compare.run_comparison import RunComparison, ScoreComparison
    from hengwen.monitoring.drift.drift_report import drift_report
    from hengwen.monitoring.drift.score_drift import DriftReport, ScoreDrift
    from hengwen.monitoring.gates.evaluate_gates import evaluate_gates
    from hengwen.monitoring.gates.results import GateReport, GateResult
    from hengwen.monitoring.judge_drift.rejudging import rejudge
    from hengwen.monitoring.judge_drift.report import JudgeDriftReport, judge_drift
    from hengwen.monitoring.monitor import Monitor
    from hengwen.monitoring.monitor_state import MonitorState
    from hengwen.monitoring.power.plan_power import PlanPower, plan_power
    from hengwen.monitoring.power.score_power import ScorePower
    from hengwen.plans.plan import Plan, load_plan
    from hengwen.records import (
        Failure,
        Label,
        Outcome,
        Response,
        Row,
        Run,
        Sample,
        Scale,
        Score,
        Usage,
        Verdict,
    )
    from hengwen.results.aggregate import Summary
    from hengwen.results.decision import Decision
    from hengwen.results.score_table import ScoreTable
    from hengwen.runs.batch.options import BatchOptions
    from hengwen.runs.imported.record import ImportedRuns, import_scores, import_verdicts
    from hengwen.runs.options import RunOptions
    from hengwen.runs.run_plan import RunResult, arun_plan, run_plan
    from hengwen.store import Rows, Store, open_store, rows

_EXPORTS = {
    "BackendError": "errors",
    "BatchOptions": "runs.batch.options",
    "ConfigError": "errors",
    "DataError": "errors",
    "Decision": "results.decision",
    "Document": "documents.blocks",
    "DriftReport": "monitoring.drift.score_drift",
    "Failure": "records",
    "GateReport": "monitoring.gates.results",
    "GateResult": "monitoring.gates.results",
    "HengwenError": "errors",
    "ImportedRuns": "runs.imported.record",
    "JudgeDriftReport": "monitoring.judge_drift.report",
    "JudgeError": "errors",
    "Label": "records",
    "Monitor": "monitoring.monitor",
    "MonitorState": "monitoring.monitor_state",
    "Outcome": "records",
    "Plan": "plans.plan",
    "PlanPower": "monitoring.power.plan_power",
    "PluginError": "errors",
    "Response": "records",
    "Row": "records",
    "Rows": "store",
    "Run": "records",
    "RunComparison": "monitoring.compare.run_comparison",
    "RunOptions": "runs.options",
    "RunResult": "runs.run_plan",
    "Sample": "records",
    "Scale": "records",
    "Score": "records",
    "ScoreComparison": "monitoring.compare.run_comparison",
    "ScorePower": "monitoring.power.score_power",
    "ScoreDrift": "monitoring.drift.score_drift",
    "ScoreTable": "results.score_table",
    "Store": "store",
    "StoreBusyError": "errors",
    "StoreError": "errors",
    "Summary": "results.aggregate",
    "TimeLimitError": "errors",
    "Usage": "records",
    "Verdict": "records",
    "WorkerError": "errors",
    "__version__": "_internal.version",
    "arun_plan": "runs.run_plan",
    "compare_runs": "monitoring.compare.compare_runs",
    "drift_report": "monitoring.drift.drift_report",
    "evaluate_gates": "monitoring.gates.evaluate_gates",
    "import_scores": "runs.imported.record",
    "import_verdicts": "runs.imported.record",
    "judge_drift": "monitoring.judge_drift.report",
    "load_plan": "plans.plan",
    "open_store": "store",
    "plan_power": "monitoring.power.plan_power",
    "rejudge": "monitoring.judge_drift.rejudging",
    "report_document": "documents.run.document",
    "rows": "store",
    "run_plan": "runs.run_plan",
    "write_document": "documents.render.write",
}

__all__ = [
    "BackendError",
    "BatchOptions",
    "ConfigError",
    "DataError",
    "Decision",
    "Document",
    "DriftReport",
    "Failure",
    "GateReport",
    "GateResult",
    "HengwenError",
    "ImportedRuns",
    "JudgeDriftReport",
    "JudgeError",
    "Label",
    "Monitor",
    "MonitorState",
    "Outcome",
    "Plan",
    "PlanPower",
    "PluginError",
    "Response",
    "Row",
    "Rows",
    "Run",
    "RunComparison",
    "RunOptions",
    "RunResult",
    "Sample",
    "Scale",
    "Score",
    "ScoreComparison",
    "ScoreDrift",
    "ScorePower",
    "ScoreTable",
    "Store",
    "StoreBusyError",
    "StoreError",
    "Summary",
    "TimeLimitError",
    "Usage",
    "Verdict",
    "WorkerError",
    "__version__",
    "arun_plan",
    "compare_runs",
    "drift_report",
    "evaluate_gates",
    "import_scores",
    "import_verdicts",
    "judge_drift",
    "load_plan",
    "open_store",
    "plan_power",
    "rejudge",
    "report_document",
    "rows",
    "run_plan",
    "write_document",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
