"""One answer: its prompt, its text, every score and judgment, and the same prompt at all checkpoints."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from hengwen.documents.answers.all_answers import shown_text
from hengwen.documents.answers.sources import AnswerRecord, ScoreExplainer, answer_record
from hengwen.errors import ConfigError
from hengwen.prompts.render import neutralize
from hengwen.records import Attempt, Outcome, Run
from hengwen.score_id import ScoreId, caps
from hengwen.store import Store
from hengwen.store.evaluation_codec import Evaluator, evaluator_from, rows_from, storable_text
from hengwen.store.queries import Answer, select_evaluations
from hengwen.store.store import read_attempt
from hengwen.store.tables import attempt, evaluation, response
from hengwen.text.numbers import one_line, replace_surrogates
from hengwen.view import answer_parts as words
from hengwen.view.page import respond, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MAX_REPEATS = 50
"""Number of answers to a prompt that a page shows of each checkpoint."""
MAX_CALLS = 20
SNIPPET = 60
"""Characters at the end of a text by which calls are looked for; the beginning may be stored elsewhere."""
EXCERPT = 100


def show(request: Request) -> Response:
    """Show an answer: ``run``, ``task``, ``sample`` and ``repeat`` name it, ``against`` another run."""
    store = view_of(request).data.store
    run, chosen = _chosen(request, store)
    runs = store.latest(run.plan)
    if run.id not in {each.id for each in runs}:
        runs = [*runs, run]
    records = _siblings(store, runs, chosen)
    explainer = ScoreExplainer()
    score = _score(request, run, chosen)
    lyric = explainer.lyric(run, chosen)
    record = answer_record(run, chosen, explainer.explain(run, chosen), lyric)
    other = _other(store, request.query_params.get("against", ""), runs, run, records, chosen)
    if other is not None:
        other = replace(other, lyric=lyric)
    task_facts = run.facts.get("tasks", {}).get(chosen.task, {})  # type: ignore[attr-defined]
    return respond(
        request,
        "answer.html.j2",
        title=words.title_of(score, record.outcomes[score]) if score else words.ANSWER,
        plan=run.plan,
        notes=(f"{chosen.task}/{chosen.sample_id}", run.checkpoint, f"#{chosen.repeat}"),
        w=words,
        run=run,
        record=record,
        pair=words.side_by_side(other or record, record, score) if score else None,
        is_alone=other is None,
        scores=words.score_table("scores", record, other, "scorer"),
        judgments=words.score_table("judgments", record, other, "judge", "human"),
        origins=list(words.origins(run, record)),
        course=words.course(records, {each.id: each.checkpoint for each in runs}, score) if score else None,
        score=score,
        neighbours=_neighbours(store, run, chosen),
        records=records,
        excerpt=lambda text: one_line(text, EXCERPT),
        shown=shown_text,
        calls=_calls(store, run, chosen),
        endpoints=[e for judge in task_facts.get("judges", {}).values() for e in judge["endpoints"]],
    )


def text(request: Request) -> Response:
    """Return the whole text of an answer, which may be too long for a page."""
    _, answer = _chosen(request, view_of(request).data.store)
    return PlainTextResponse(replace_surrogates(answer.text))


def _chosen(request: Request, store: Store) -> tuple[Run, Answer]:
    """Return the run and the answer that the address names, else the first answer of the newest run."""
    query = request.query_params
    if "run" in query:
        run = store.find(query["run"])
    else:
        runs = store.latest(query.get("plan"))
        if not runs:
            raise ConfigError(f"no runs in {store.name}; see: hengwen run")
        run = runs[-1]
    task, sample, repeat = query.get("task", ""), query.get("sample", ""), query.get("repeat", "")
    if "sample" not in query:
        names = response.c.task, response.c.sample_id
        with store.connect() as connection:
            first = connection.execute(
                select(*names).where(response.c.run_id == run.id).order_by(*names).limit(1)
            ).first()
        task, sample = first or ("", "")
    number = int(repeat) if repeat.isdecimal() and len(repeat) < 9 else 0
    keys = {(task, sample, number)} if number else {(task, sample, n + 1) for n in range(MAX_REPEATS)}
    answer = next(iter(store.answers(run, keys)), None)
    if answer is None:
        raise ConfigError(f"run {run.id} has no answer to {task}/{sample}; see: hengwen runs show {run.id}")
    return run, answer


def _neighbours(store: Store, run: Run, chosen: Answer) -> tuple[str | None, str | None]:
    """Return the prompts before and after one in the order of their ids; None at the ends."""
    name = response.c.sample_id
    of_task = response.c.run_id == run.id, response.c.task == chosen.task
    before = select(func.max(name)).where(*of_task, name < chosen.sample_id)
    after = select(func.min(name)).where(*of_task, name > chosen.sample_id)
    with store.connect() as connection:
        return connection.execute(before).scalar(), connection.execute(after).scalar()


def _siblings(store: Store, runs: Sequence[Run], chosen: Answer) -> list[AnswerRecord]:
    """Return the answers of all runs to one prompt with their scores; of the texts only the beginnings."""
    checkpoints = {run.id: run.checkpoint for run in runs}
    outcomes: defaultdict[tuple[str, int], dict[ScoreId, Outcome]] = defaultdict(dict)
    evaluators: dict[int, Evaluator] = {}
    is_sample = evaluation.c.run_id.in_(checkpoints), evaluation.c.sample_id == chosen.sample_id
    texts = (
        select(response.c.run_id, response.c.repeat, func.substr(response.c.text, 1, 2 * EXCERPT))
        .where(
            response.c.run_id.in_(checkpoints),
            response.c.task == chosen.task,
            response.c.sample_id == chosen.sample_id,
            response.c.repeat <= MAX_REPEATS,
        )
        .order_by(response.c.repeat)
    )
    with store.connect() as connection:
        for columns in connection.execute(select_evaluations(*is_sample)).mappings():
            number = columns["evaluator_id"]
            if number not in evaluators:
                evaluators[number] = evaluator_from(columns)
            for row in rows_from(columns, evaluators[number], ""):
                if row.task == chosen.task and row.repeat is not None:
                    outcomes[row.run_id, row.repeat][row.score] = row.outcome
        answers = connection.execute(texts).all()
    order = {run_id: index for index, run_id in enumerate(checkpoints)}
    return [
        AnswerRecord(
            run_id=run_id,
            task=chosen.task,
            checkpoint=checkpoints[run_id],
            sample_id=chosen.sample_id,
            repeat=repeat,
            input=chosen.input,
            text=beginning,
            outcomes=outcomes[run_id, repeat],
        )
        for run_id, repeat, beginning in sorted(answers, key=lambda row: order[row[0]])
    ]


def _score(request: Request, run: Run, answer: Answer) -> ScoreId | None:
    """Return the score that the address names, else the first one in the order of the plan."""
    # The scores of capping rules come last: they explain a level, and seldom apply.
    name = request.query_params.get("score", "")
    order = {address: index for index, address in enumerate(run.score_order)}

    def rank(score: ScoreId) -> tuple[bool, int]:
        outcome = answer.outcomes[score]
        return outcome.kind == "scorer" and caps(outcome.signature), order.get(score.address, len(order))

    scores = sorted(answer.outcomes, key=rank)
    return next((score for score in scores if score.address == name), next(iter(scores), None))


def _other(
    store: Store, against: str, runs: Sequence[Run], run: Run, records: Iterable[AnswerRecord], chosen: Answer
) -> AnswerRecord | None:
    """Return the answer beside which this one is shown: of a named run, else of the checkpoint before."""
    index = [each.id for each in runs].index(run.id)
    others = {each.id: each for each in (*runs[:index], *runs[index + 1 :])}
    default = runs[index - 1].id if index else runs[1].id if len(runs) > 1 else ""
    of_run = [
        record for record in records if record.run_id == (against or default) and record.run_id in others
    ]
    if not of_run:
        return None
    nearest = min(of_run, key=lambda record: abs(record.repeat - chosen.repeat))
    other = others[nearest.run_id]
    keys = {(chosen.task, chosen.sample_id, nearest.repeat)}
    return next((answer_record(other, answer) for answer in store.answers(other, keys)), None)


def _calls(store: Store, run: Run, answer: Answer) -> list[Attempt]:
    """Return the calls of judges whose prompts hold this answer, and this prompt if any does."""
    if not answer.text.strip():
        return []
    answered, question = (neutralize(storable_text(part)).strip() for part in (answer.text, answer.input))
    query = (
        select(attempt).where(attempt.c.role == "judge").order_by(attempt.c.call_key, attempt.c.attempt_no)
    )
    holds = [attempt.c.request.contains(_stored(part), autoescape=True) for part in (answered, question)]
    with store.connect() as connection:
        for conditions in (
            (attempt.c.run_id == run.id, *holds),
            (attempt.c.run_id == run.id, holds[0]),
            holds,
        ):
            rows = connection.execute(query.where(*conditions).limit(MAX_CALLS)).mappings().all()
            calls = [read_attempt(connection.engine, row) for row in rows]
            matching = [
                call for call in calls if any(answered in content for _, content in call.request["messages"])
            ]
            if matching:
                return matching
    return []


def _stored(text: str) -> str:
    """Return the end of a text as a stored request has it."""
    return json.dumps(text[-SNIPPET:], ensure_ascii=False)[1:-1]


routes = [Route("/answer", show), Route("/answer/text", text)]
