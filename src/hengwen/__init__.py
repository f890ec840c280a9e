"""Hengwen 衡文: evaluate texts of language models with deterministic scorers and rubric judges.

The names below are imported on first use, so that ``import hengwen`` is fast and loads no heavy library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen._internal.version import __version__ as __version__
    from hengwen.documents.blocks import Document as Document
    from hengwen.documents.render.write import write_document as write_document
    from hengwen.documents.run.document import report_document as report_document
    from hengwen.errors import (
        BackendError as BackendError,
        ConfigError as ConfigError,
        DataError as DataError,
        HengwenError as HengwenError,
        JudgeError as JudgeError,
        PluginError as PluginError,
        StoreBusyError as StoreBusyError,
        StoreError as StoreError,
        TimeLimitError as TimeLimitError,
        WorkerError as WorkerError,
    )
    from hengwen.monitoring.compare_runs import compare_runs as compare_runs
    from hengwen.monitoring.run_comparison import (
        RunComparison as RunComparison,
        ScoreComparison as ScoreComparison,
    )
    from hengwen.monitoring.drift.drift_report import drift_report as drift_report
    from hengwen.monitoring.drift.score_drift import DriftReport as DriftReport, ScoreDrift as ScoreDrift
    from hengwen.monitoring.gates.evaluate_gates import evaluate_gates as evaluate_gates
    from hengwen.monitoring.gates.results import GateReport as GateReport, GateResult as GateResult
    from hengwen.monitoring.judge_drift.rejudging import rejudge as rejudge
    from hengwen.monitoring.judge_drift.report import (
        JudgeDriftReport as JudgeDriftReport,
        judge_drift as judge_drift,
    )
    from hengwen.monitoring.power import (
        PlanPower as PlanPower,
        ScorePower as ScorePower,
        plan_power as plan_power,
    )
    from hengwen.plans.plan import Plan as Plan, load_plan as load_plan
    from hengwen.records import (
        Failure as Failure,
        Label as Label,
        Outcome as Outcome,
        Response as Response,
        Row as Row,
        Run as Run,
        Sample as Sample,
        Scale as Scale,
        Score as Score,
        Usage as Usage,
        Verdict as Verdict,
    )
    from hengwen.results.aggregate import Summary as Summary
    from hengwen.results.decide import Decision as Decision
    from hengwen.results.score_table import ScoreTable as ScoreTable
    from hengwen.runs.imported.record import (
        ImportedRuns as ImportedRuns,
        import_scores as import_scores,
        import_verdicts as import_verdicts,
    )
    from hengwen.runs.options import RunOptions as RunOptions
    from hengwen.runs.run_plan import RunResult as RunResult, arun_plan as arun_plan, run_plan as run_plan
    from hengwen.store import Rows as Rows, Store as Store, open_store as open_store, rows as rows

_EXPORTS = {
    "_internal.version": "__version__",
    "documents.blocks": "Document",
    "documents.render.write": "write_document",
    "documents.run.document": "report_document",
    "errors": (
        "BackendError ConfigError DataError HengwenError JudgeError PluginError StoreBusyError "
        "StoreError TimeLimitError WorkerError"
    ),
    "monitoring.compare_runs": "compare_runs",
    "monitoring.drift.drift_report": "drift_report",
    "monitoring.drift.score_drift": "DriftReport ScoreDrift",
    "monitoring.gates.evaluate_gates": "evaluate_gates",
    "monitoring.gates.results": "GateReport GateResult",
    "monitoring.judge_drift.rejudging": "rejudge",
    "monitoring.judge_drift.report": "JudgeDriftReport judge_drift",
    "monitoring.power": "PlanPower ScorePower plan_power",
    "monitoring.run_comparison": "RunComparison ScoreComparison",
    "plans.plan": "Plan load_plan",
    "records": "Failure Label Outcome Response Row Run Sample Scale Score Usage Verdict",
    "results.aggregate": "Summary",
    "results.decide": "Decision",
    "results.score_table": "ScoreTable",
    "runs.imported.record": "ImportedRuns import_scores import_verdicts",
    "runs.options": "RunOptions",
    "runs.run_plan": "RunResult arun_plan run_plan",
    "store": "Rows Store open_store rows",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
