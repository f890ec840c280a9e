"""The judges of a plan: their tests, their agreement with people, whether they drifted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from starlette.routing import Route

from hengwen.documents.blocks import Block, Cell, Chart, Decision, Document, Point, Sentence, Series, Table
from hengwen.documents.cells import count_cell, left, right
from hengwen.documents.judge_drift import judge_drift_document
from hengwen.documents.judges.calibrate import calibrate_document
from hengwen.documents.judges.doctor import attack_words, check_words
from hengwen.documents.judges.trust import trust_verdicts
from hengwen.judges.calibration import Calibration
from hengwen.labels.calibration_data import (
    CalibrationRequest,
    calibrate_score,
    labels_for,
    merge_scores,
    pool_scores,
    read_judgments,
    select_scores,
)
from hengwen.monitoring.judge_drift.report import judge_drift
from hengwen.monitoring.judge_trust import JudgeTrust, judge_trust
from hengwen.records import Label, Run
from hengwen.store import Store
from hengwen.text.language import Bilingual, say
from hengwen.text.numbers import number, plural
from hengwen.view.data import has_labels
from hengwen.view.page import chosen_runs, respond, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

JUDGES = say("Judges")


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
    return respond(
        request,
        "judges.html.j2",
        title=JUDGES,
        plan=plan,
        document=_document(trusts),
        chosen=chosen,
        more=more,
        is_computing=is_computing,
        agreements=[(item.address, item.agreement) for item in calibrations or () if item.agreement],
        refreshes=bool(is_computing),
    )


def _drift(store: Store, runs: Sequence[Run]) -> Document:
    return judge_drift_document(judge_drift(store, plan=runs[0].plan))


def _calibrations(store: Store, runs: Sequence[Run], labels: tuple[Label, ...] | None) -> list[Calibration]:
    """Return what ``hengwen calibrate`` returns for the labels, or for those that the store has."""
    request = CalibrationRequest(runs[0].plan, labels, {})
    judgments = read_judgments(store, runs[0].plan)
    if not labels_for(request, judgments):
        return []
    scores = select_scores(request, judgments, ())
    pooled = [merge_scores(group) for group in pool_scores(scores)]
    return [calibrate_score(item, request, judgments, rubric=None) for item in [*scores, *pooled]]


def _document(judges: Sequence[JudgeTrust]) -> Document:
    """Return what is known of each judge of the newest run."""
    decision = Decision(title=_title(judges), judges=trust_verdicts(judges))
    return Document(kind="judges", title=JUDGES, blocks=(decision, *_blocks(judges)))


def _title(judges: Sequence[JudgeTrust]) -> Bilingual:
    if not judges:
        return say("The newest run has no judge.")
    n = len(judges)
    certified = sum(
        judge.agreement is not None and judge.agreement.decision == "certified" for judge in judges
    )
    return say("{certified} of {judges} certified.", certified=certified, judges=plural(n, "judge"), n=n)


def _blocks(judges: Sequence[JudgeTrust]) -> Iterator[Block]:
    charts = [_anchors(judge, index) for index, judge in enumerate(judges) if len(judge.anchors) > 1]
    yield from charts
    if charts:
        yield Sentence(
            text=say("Anchors never change: if their line moves, it is the judge that moved."),
            is_note=True,
        )
    rows = [row for judge in judges for row in _checks(judge)]
    if rows:
        yield Table(
            key="checks",
            title=say("admission tests"),
            columns=(
                left("judge", "评审", "judge"),
                left("check", "检查", "check"),
                right("passed", "通过", "passed"),
                right("decided", "判定", "decided"),
            ),
            rows=tuple(rows),
        )


def _anchors(judge: JudgeTrust, index: int) -> Chart:
    address = f"{judge.task}/{judge.judge}"
    points = tuple(
        Point(
            x=float(x),
            label=anchor.checkpoint,
            value=anchor.mean,
            text=number(anchor.mean, 2),
            hint=f"{anchor.checkpoint}: {number(anchor.mean, 3)} (n={anchor.n})",
        )
        for x, anchor in enumerate(judge.anchors)
    )
    return Chart(
        key=f"anchors-{index}",
        title=say("Mean that {address} gave the anchors", address=address),
        series=(Series(name=address, points=points),),
        description=", ".join(f"{point.hint}" for point in points),
    )


def _checks(judge: JudgeTrust) -> Iterator[tuple[Cell, ...]]:
    record = judge.admission
    if record is None:
        return
    name = Cell(text=f"{judge.task}/{judge.judge}")
    for check, (passed, n) in record.checks.items():
        failed = record.problems.get(check) == "failed"
        yield (
            name,
            Cell(text=check_words(check), tone="worse" if failed else "plain"),
            count_cell(passed),
            count_cell(n),
        )
    if record.attacks:
        words = attack_words(record.fooled, record.informative, record.attacks)
        yield name, Cell(text=words), Cell(text=""), Cell(text=str(record.attacks))


routes = [Route("/judges", show)]
