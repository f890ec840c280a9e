"""``emit_results``: stored scores as OpenTelemetry's events ``gen_ai.evaluation.result``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.errors import PluginError
from hengwen.records import Score
from hengwen.runs.run_plan import opened_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.records import Run
    from hengwen.store.store import Store

EVENT = "gen_ai.evaluation.result"


def emit_results(store: Store | str, runs: Sequence[Run | str] = (), *, provider: Any = None) -> int:
    """Emit each score of single answers as an event of OpenTelemetry; a failure has an error, and no value.

    The convention is in development; the event has its required name, value, explanation and
    ``error.type``, and as attributes of Hengwen the run, checkpoint, sample, repeat and signature.

    Args:
        store: The open store, or its path or URL.
        runs: Runs, ids or names of checkpoints; default: the newest run of each checkpoint.
        provider: A ``LoggerProvider``; default: the global one.

    Returns:
        The number of events.

    Raises:
        PluginError: OpenTelemetry is not installed.

    Examples:
        >>> emit_results("hengwen.db")                                         # doctest: +SKIP
        480
    """
    try:
        from opentelemetry._logs import get_logger_provider
    except ImportError:
        raise PluginError("opentelemetry is not installed: pip install opentelemetry-sdk") from None
    logger = (provider or get_logger_provider()).get_logger("hengwen")
    count = 0
    with opened_store(store) as opened:
        chosen = [opened.find(run) for run in runs] or opened.latest()
        for row in opened.rows(chosen):
            if row.sample_id is not None and row.score.role == "answer":
                logger.emit(event_name=EVENT, attributes=_attributes(row.score.address, row.outcome, row))
                count += 1
    return count


def _attributes(address: str, outcome: Any, row: Any) -> dict[str, str | float]:
    about = {
        "gen_ai.evaluation.name": address,
        "hengwen.run": row.run_id,
        "hengwen.checkpoint": row.checkpoint,
        "hengwen.sample": row.sample_id,
        "hengwen.repeat": row.repeat,
        "hengwen.signature": outcome.signature,
    }
    if not isinstance(outcome, Score):
        return {**about, "error.type": outcome.status, "gen_ai.evaluation.explanation": outcome.message}
    explanation = {"gen_ai.evaluation.explanation": outcome.reason} if outcome.reason else {}
    return {**about, "gen_ai.evaluation.score.value": outcome.value, **explanation}
