"""The judges of a plan: their tests, their agreement with people, whether they drifted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.routing import Route

from hengwen.documents.judge_drift import judge_drift_document
from hengwen.documents.judges.calibrate import calibrate_document
from hengwen.documents.viewer import judges as words
from hengwen.documents.viewer.judges import judges_document
from hengwen.labels.calibration_data import (
    CalibrationRequest,
    calibrate_series,
    labels_for,
    merge_series,
    pool_series,
    read_judgments,
    select_series,
)
from hengwen.monitoring.judge_drift.report import judge_drift
from hengwen.monitoring.judge_trust import judge_trust
from hengwen.view.data import has_labels
from hengwen.view.page import chosen_runs, respond, view_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from hengwen.documents.blocks import Document
    from hengwen.judges.calibration import Calibration
    from hengwen.records import Label, Run
    from hengwen.store import Store


def show(request: Request) -> Response:
    """Show the judges; ``show=calibration`` and ``show=drift`` add what takes seconds to compute."""
    view = view_of(request)
    store, data = view.data.store, view.data
    plan, runs = chosen_runs(request)
    trusts = data.kept(("judges", plan), runs, lambda: judge_trust(store, runs) if runs else ())
    chosen = request.query_params.get("show", "")
    calibrations: Sequence[Calibration] | None = ()
    more: Document | None = None
    if runs and chosen == "calibration":
        labels = (tuple(view.desk.file.labels()) or None) if view.desk and view.desk.plan == plan else None
        compute = partial(_calibrations, labels=labels)
        if labels or has_labels(store):
            calibrations = data.awaited(("calibration", plan, labels), runs, compute)
        more = calibrate_document(calibrations, trusts) if calibrations else None
    elif runs and chosen == "drift":
        more = data.awaited(("drift", plan), runs, _drift)
    is_computing = calibrations is None or (runs and chosen == "drift" and more is None)
    response = respond(
        request,
        "judges.html.j2",
        title=words.JUDGES,
        plan=plan,
        w=words,
        document=judges_document(trusts),
        chosen=chosen,
        more=more,
        is_computing=is_computing,
        agreements=[(item.address, item.agreement) for item in calibrations or () if item.agreement],
    )
    if is_computing:
        response.headers["Refresh"] = "1"
    return response


def _drift(store: Store, runs: Sequence[Run]) -> Document:
    return judge_drift_document(judge_drift(store, plan=runs[0].plan))


def _calibrations(store: Store, runs: Sequence[Run], labels: tuple[Label, ...] | None) -> list[Calibration]:
    """Return what ``hengwen calibrate`` returns for the labels, or for those that the store has."""
    request = CalibrationRequest(runs[0].plan, labels, {})
    judgments = read_judgments(store, runs[0].plan)
    if not labels_for(request, judgments):
        return []
    series = select_series(request, judgments, ())
    pooled = [merge_series(group) for group in pool_series(series)]
    return [calibrate_series(item, request, judgments, rubric=None) for item in [*series, *pooled]]


routes = [Route("/judges", show)]
