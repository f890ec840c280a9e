"""``judge_trust``: what is known of each judge, such as its admission test and its agreement with people."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from shlex import join
from typing import Any, Literal, NamedTuple

from hengwen.judges.calibration.agreement import Agreement, WithinAgreement, measure_agreement, measure_within
from hengwen.judges.calibration.certify import (
    THRESHOLD,
    Calibration,
    Decision,
    decide,
    is_stale,
    rubric_hash_of,
)
from hengwen.judges.calibration.joining import JudgedAnswer, RatedAnswer, rounded
from hengwen.judges.calibration.statistics import RESAMPLES, Estimate
from hengwen.judges.trust.admission_report import AdmissionDecision, AdmissionRecord, judge_key
from hengwen.plans.endpoints import ENDPOINTS
from hengwen.records import Run
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.score_id import IMPORTED_TAG, LEVEL, Role, ScoreId
from hengwen.store import Store
from hengwen.text.numbers import one_line

CONFIDENCE = 0.95
MAX_PATH = 4096
"""Maximum length of a path in a command; a cut command could not be copied."""
JudgeKind = Literal["rules", "model", "imported", "pairs", "named"]
"""``imported``: another tool gave the scores. ``pairs``: a model that compares two answers; its
admission test is that of the same model and rubric on single answers. ``named``: only its name is known."""

_RUBRIC = re.compile(r"\|rubric:(\d+\.[0-9a-f]{8})")
_PANEL = re.compile(r"\|panel:.*?\|\[(.*)\]\|v:")
_MODEL = re.compile(r"\|([a-z_]+/[^|\];]+)")
_BY_NAME = re.compile(r"rubric:[^|]+\|lang:(zh|en)\|[^|]+\|temp:0\|v:\d+")
"""Key of a judge with the settings of ``hengwen doctor --judge PROVIDER/MODEL``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgreement:
    """Agreement of a judge with people."""

    decision: Decision
    n: int
    """Number of labelled answers."""
    kappa: Estimate
    """Quadratic kappa over all answers."""
    within: Estimate | None
    """Quadratic kappa within checkpoints; None if all labels are of one checkpoint."""


class AnchorMean(NamedTuple):
    """Mean of the judge's values for the anchors (frozen answers) in one run."""

    checkpoint: str
    mean: float
    n: int


class PanelMember(NamedTuple):
    """A judge of a panel."""

    name: str
    """Judge as ``hengwen doctor --judge`` names it."""
    verdict: AdmissionDecision | None
    """Verdict of its newest admission test; None if it was never tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrust:
    """What is known of one judge of a task."""

    task: str
    judge: str
    """Name of the judge; with a part of its verdict if it gives no level and only this part has labels."""
    kind: JudgeKind
    models: tuple[str, ...]
    """Names of the models as their server returned them; empty for a rules judge."""
    doctor_name: str
    """Judge as ``hengwen doctor --judge`` names it; empty if it cannot be named."""
    doctor_options: str
    """Words after ``hengwen doctor`` that test the judge as it is set; ``PLAN`` if only its plan says how."""
    members: tuple[PanelMember, ...]
    """Judges of a panel (several judges whose levels are combined); empty for a single judge."""
    rubric: str
    """Version and hash of the rubric; empty if unknown."""
    rubric_source: str
    """Rubric as the plan names it; empty if unknown."""
    admission: AdmissionRecord | None
    """Newest admission test of this judge; None if it was never tested."""
    agreement: KnownAgreement | None
    """Agreement with people; None if no labelled answer has a value of this judge."""
    is_stale: bool
    """Whether a calibration is left out because the judge or its rubric has changed."""
    anchors: tuple[AnchorMean, ...]
    """Mean over the anchors in each run that judged some."""


def judge_trust(
    store: Store,
    runs: Sequence[Run],
    calibrations: Sequence[Calibration] = (),
    *,
    used: Collection[str] | None = None,
) -> tuple[JudgeTrust, ...]:
    """Return what is known of each judge of the newest run (the last), in the order of the plan."""
    # Where there is no calibration, the agreement is computed from the labels that are stored with the
    # newest runs of the plan. With `used`, only the judges of these addresses are meant.
    newest = runs[-1]
    scores = [score for score in store.statuses([newest], kind="judge") if score.is_of_run]
    judges = {score.with_part(LEVEL) for score in scores if used is None or score.address in used}
    levels = [score for score in _verdicts(scores) if score.with_part(LEVEL) in judges]
    if not levels:
        return ()
    known = {run.id for run in runs}
    others = [run for run in store.latest(newest.plan) if run.id not in known]
    roles: tuple[Role, ...] = ("human", "anchor")
    table = store.table([*others, *runs], [score.about(role) for score in levels for role in roles])
    labelled = {key.run_id for key in table.series if key.score.is_human}
    read = [run for run in (*others, *runs) if run.id in labelled or run is newest]
    table.series |= store.table(read, levels).series
    return trust_of(runs, table, store.admissions(), calibrations, others=others)


def trust_of(
    runs: Sequence[Run],
    table: ScoreTable,
    admissions: Mapping[str, Mapping[str, object]],
    calibrations: Sequence[Calibration] = (),
    *,
    others: Sequence[Run] = (),
) -> tuple[JudgeTrust, ...]:
    """Return what is known of each judge whose levels a table holds; labels of ``others`` count too."""
    by_address = {calibration.address: calibration for calibration in calibrations}
    given = [key.score for key in table.series if key.kind == "judge" and key.score.role == "answer"]
    labelled = {key.score.about("answer") for key in table.series if key.score.role == "human"}
    labelled |= {score for score in given if score.address in by_address}
    columns: dict[ScoreId, list[tuple[Run, Column]]] = {}
    for score in _one_of_each_judge(_verdicts(given), labelled):
        of_runs = columns.setdefault(score, [])
        for run in (*others, *runs):
            column = table.series.get(SeriesKey(run.id, score, "judge"))
            if column is not None and column.has_scores:
                of_runs.append((run, column))
    return tuple(
        _trust(score, of_runs, runs, table, admissions, by_address)
        for score, of_runs in columns.items()
        if of_runs
    )


def pair_judge_trust(
    admissions: Mapping[str, Mapping[str, object]],
    judge: str,
    *,
    task: str = "",
    models: Sequence[str] = (),
    signature: str = "",
    rubric_source: str = "",
    endpoint: str = "",
) -> JudgeTrust:
    """Return what is known of a judge that compares two answers; without a signature, it is its name only."""
    # The signature is that of the judge of single answers with the same model and rubric.
    rubric, model, admission = _of_signature(signature, admissions)
    endpoints = [endpoint] if endpoint else []
    name = _doctor_name(model, endpoints)
    return JudgeTrust(
        task=task,
        judge=judge,
        kind="pairs" if signature else "named",
        models=tuple(models),
        doctor_name=name,
        doctor_options=_doctor_options(signature, name, rubric_source, endpoints),
        members=(),
        rubric=rubric,
        rubric_source=rubric_source,
        admission=admission,
        agreement=None,
        is_stale=False,
        anchors=(),
    )


def _verdicts(scores: Iterable[ScoreId]) -> list[ScoreId]:
    """Return the levels of judges; of a judge without one, as another tool may have, all parts."""
    scores = dict.fromkeys(scores)
    return [
        score
        for score in scores
        if score.part == LEVEL or (score.with_part(LEVEL) not in scores and not score.is_derived)
    ]


def _one_of_each_judge(verdicts: Sequence[ScoreId], labelled: Collection[ScoreId]) -> Iterator[ScoreId]:
    """Yield the parts with labels of each judge; of a judge without labels, its first part."""
    judges: dict[ScoreId, list[ScoreId]] = {}
    for score in verdicts:
        judges.setdefault(score.with_part(LEVEL), []).append(score)
    for parts in judges.values():
        yield from [score for score in parts if score in labelled] or parts[:1]


def _trust(
    score: ScoreId,
    columns: Sequence[tuple[Run, Column]],
    runs: Sequence[Run],
    table: ScoreTable,
    admissions: Mapping[str, Mapping[str, object]],
    calibrations: Mapping[str, Calibration],
) -> JudgeTrust:
    newest_run, newest = columns[-1]
    signature = min(newest.signatures).partition("|repeats:")[0]
    by_rules, is_imported = newest.judged_by_rules, IMPORTED_TAG in signature
    rubric, model, admission = _of_signature(signature, admissions)
    calibration = calibrations.get(score.address)
    stale = calibration is not None and bool(is_stale(calibration, signature, rubric_hash_of(signature)))
    run_facts: Mapping[str, Any] = newest_run.facts
    facts = run_facts.get("tasks", {}).get(score.task, {}).get("judges", {}).get(score.evaluator, {})
    if calibration is not None and not stale:
        agreement = _calibrated(calibration)
    else:
        agreement = _computed(
            score, [item for item in columns if item[1].signatures == newest.signatures], table
        )
    models = {value for _, column in columns for part, value in column.provenance if part == "model"}
    endpoints = [str(endpoint) for endpoint in facts.get("endpoints", ())]
    name = "rules" if by_rules else _doctor_name(model, endpoints)
    return JudgeTrust(
        task=score.task,
        judge=score.evaluator if score.part == LEVEL or agreement is None else score.base,
        kind="rules" if by_rules else "imported" if is_imported else "model",
        models=() if by_rules else tuple(sorted(models)),
        doctor_name=name,
        doctor_options=_doctor_options(signature, name, str(facts.get("rubric", "")), endpoints),
        members=tuple(_members(signature, admissions)),
        rubric=rubric,
        rubric_source=str(facts.get("rubric", "")),
        admission=admission,
        agreement=agreement,
        is_stale=stale,
        anchors=tuple(_anchor_means(score, runs, table)),
    )


def _doctor_name(model: str, endpoints: Sequence[str]) -> str:
    """Return PROVIDER/MODEL with the provider whose address the judge has."""
    providers = [name for name, known in ENDPOINTS.items() if [known.base_url] == endpoints]
    return f"{providers[0]}/{model.partition('/')[2]}" if providers and model.startswith("openai/") else model


def _doctor_options(signature: str, name: str, rubric_source: str, endpoints: Sequence[str]) -> str:
    from hengwen.backends.openai import DEFAULT_BASE_URL

    settings = _BY_NAME.fullmatch(judge_key(signature))
    if name and name != "rules" and settings is None:
        return "PLAN"
    words = ["--judge", name or "PROVIDER/MODEL"]
    if rubric_source:
        words += ["--rubric", rubric_source]
    if settings and settings[1] == "en":
        words += ["--prompt-lang", "en"]
    if endpoints and name.startswith("openai/") and not endpoints[0].startswith(DEFAULT_BASE_URL):
        words += ["--base-url", endpoints[0]]
    return join(one_line(word, MAX_PATH) for word in words)


def _of_signature(
    signature: str, admissions: Mapping[str, Mapping[str, object]]
) -> tuple[str, str, AdmissionRecord | None]:
    """Return the rubric of a judge, its model as ``hengwen doctor`` names it, and its admission test."""
    rubric, model = _RUBRIC.search(signature), _MODEL.search(signature)
    admission = admissions.get(judge_key(signature))
    return (
        rubric[1] if rubric else "",
        model[1] if model else "",
        None if admission is None else AdmissionRecord.from_json(admission),
    )


def _members(signature: str, admissions: Mapping[str, Mapping[str, object]]) -> Iterator[PanelMember]:
    """Yield the judges of a panel with the verdicts of their admission tests."""
    panel = _PANEL.search(signature)
    for member in panel[1].split("; ") if panel else ():
        _, model, record = _of_signature(member, admissions)
        yield PanelMember(model or "rules", None if record is None else record.verdict)


def _calibrated(calibration: Calibration) -> KnownAgreement | None:
    agreement, within = calibration.agreement, calibration.within
    if agreement is None:
        return None
    return _known(calibration.decision, agreement, within)


def _computed(
    score: ScoreId, columns: Sequence[tuple[Run, Column]], table: ScoreTable
) -> KnownAgreement | None:
    """Return the agreement with the labels that are stored with the runs."""
    pairs = [pair for run, column in columns for pair in _pairs(score, run, column, table)]
    scale = next((column.scale for _, column in columns if column.scale), None)
    if not pairs or scale is None:
        return None
    levels = scale.levels or (scale.low, scale.high)
    if scale.levels is None:
        pairs = list(rounded(pairs, scale.low, scale.high))
    settings: dict[str, Any] = {"levels": levels, "resamples": RESAMPLES, "confidence": CONFIDENCE, "seed": 0}
    agreement = measure_agreement(
        [pair.human for pair in pairs],
        [pair.value for pair in pairs],
        is_continuous=scale.levels is None,
        clusters=[pair.answer.prompt for pair in pairs],
        **settings,
    )
    within = measure_within(pairs, **settings)
    return _known(decide(agreement, within, THRESHOLD)[0], agreement, within)


def _known(decision: Decision, agreement: Agreement, within: WithinAgreement | None) -> KnownAgreement:
    return KnownAgreement(
        decision=decision,
        n=agreement.n,
        kappa=agreement.quadratic_kappa,
        within=None if within is None else within.quadratic_kappa,
    )


def _pairs(score: ScoreId, run: Run, column: Column, table: ScoreTable) -> Iterator[RatedAnswer]:
    """Yield the answers of a run that both people and the judge gave a value."""
    people = table.series.get(SeriesKey(run.id, score.about("human"), "human"))
    if people is None:
        return
    human = people.by_answer()
    for sample, repeat, cluster, _, value in column.rows():
        label = human.get((sample, repeat))
        if sample is not None and value is not None and label is not None:
            answer = JudgedAnswer(
                task=score.task,
                id=sample,
                checkpoint=run.checkpoint,
                repeat=repeat or 1,
                value=value,
                cluster=cluster,
            )
            yield RatedAnswer(answer, value, label, ())


def _anchor_means(score: ScoreId, runs: Sequence[Run], table: ScoreTable) -> Iterator[AnchorMean]:
    for run in runs:
        anchors = table.series.get(SeriesKey(run.id, score.about("anchor"), "judge"))
        values = [] if anchors is None else [value for value in anchors.values if value is not None]
        if values:
            yield AnchorMean(run.checkpoint, fsum(values) / len(values), len(values))
