"""The grid: prompts by checkpoints, with the difference from another checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote_plus

from starlette.routing import Route

from hengwen.errors import ConfigError
from hengwen.monitoring.compare_runs import scoring_conflict
from hengwen.objective.duplicates.similarity import near_duplicates
from hengwen.records import Run
from hengwen.results.aggregate import value_by_prompt
from hengwen.results.answers_to_read import PromptChange, disagreements, prompt_changes
from hengwen.results.comparability import run_labels
from hengwen.results.score_summaries import ScoreSummaries, task_scores
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.score_id import LEVEL
from hengwen.store import Store
from hengwen.text.numbers import interval, minus, number, signed
from hengwen.view import words
from hengwen.view.data import AnswerScore, StoreData, answer_scores, prompts, texts
from hengwen.view.page import address, chosen_runs, respond, view_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

COLUMNS = 8
"""Checkpoints beside each other: those around the chosen one, and the one it is compared with."""
ROWS = 60
SHADES = 5


class Answer(NamedTuple):
    """An answer, or several with one text, of a prompt at the chosen checkpoint."""

    share: float
    """Place of the value between the lowest and the highest seen."""
    times: int


class Cell(NamedTuple):
    """The value of a prompt at a checkpoint."""

    text: str
    shade: int
    url: str
    is_chosen: bool
    repeats: str
    """Where the answer repeats another one of the page nearly; empty if it does not."""


class Row(NamedTuple):
    """A prompt."""

    sample_id: str
    prompt: str
    cells: list[Cell]
    change: float | None
    """Change from the other checkpoint; the sign is that of the values."""
    merit: float
    """The change as a share of the largest one, negative if the score is worse."""
    text: str
    answers: list[Answer]


class Choice:
    """What the address of the page chooses."""

    def __init__(self, request: Request, data: StoreData) -> None:
        self.plan, self.runs = chosen_runs(request)
        if not self.runs:
            raise ConfigError(f"no runs in {data.store.name}; see: hengwen run")
        self.labels = run_labels(self.runs)
        query = request.query_params
        last = len(self.runs)
        self.position = min(max(_integer(query.get("n"), last), 1), last) - 1
        self.run = self.runs[self.position]
        newest = self.runs[-1]
        self.scores = data.kept("scores", [newest], lambda: answer_scores(data.store, newest))
        if not self.scores:
            raise ConfigError(f"the run {newest.id} has no scores of answers yet")
        self.score = next(
            (item for item in self.scores if item.address == query.get("score")), self.scores[0]
        )
        self.sort = query.get("sort", "drop") if query.get("sort") in words.SORTS else "drop"
        self.start = max(_integer(query.get("from"), 0), 0)
        self.marks_repeats = query.get("repeats") == "1"
        self.against = query.get("against", "before")
        self.baseline = data.store.baselines().get(self.plan)
        self.is_computing = False
        self.other = self._other(data)
        self.positions = self._positions()

    def _other(self, data: StoreData) -> int | None:
        """Return the position of the run that the chosen one is compared with; None if there is none."""
        if self.against == "best":
            summaries = data.awaited(
                ("best", self.score), self.runs, partial(_summaries_of, score=self.score)
            )
            self.is_computing = summaries is None
            means = [item.mean if item else None for item in summaries.summaries] if summaries else []
            known = [index for index, mean in enumerate(means) if mean is not None and index != self.position]
            sign = 1 if summaries is None or summaries.higher_is_better else -1
            return max(known, key=lambda index: sign * (means[index] or 0.0), default=None)
        if self.against in self.labels:
            return self.labels.index(self.against)
        if self.against == "baseline":
            return next((index for index, run in enumerate(self.runs) if run.id == self.baseline), None)
        return self.position - 1 if self.position else None

    def _positions(self) -> list[int]:
        """Return the positions of the checkpoints of the page."""
        size = COLUMNS if self.other is None else COLUMNS - 1
        start = max(0, min(self.position - size // 2, len(self.runs) - size))
        window = set(range(start, min(start + size, len(self.runs))))
        return sorted(window | ({self.other} if self.other is not None else set()))


def show(request: Request) -> Response:
    """Show the values of prompts, coloured by score."""
    data = view_of(request).data
    choice = Choice(request, data)
    runs = [choice.runs[index] for index in choice.positions]
    second = _second(choice)
    table = data.table(runs, [choice.score.id])
    summaries = _summaries(choice, data, runs)
    if summaries is None:
        raise ConfigError(f"{choice.score.address} has no scores at {choice.run.checkpoint}")
    changes, problem = _changes(choice, table, data)
    columns = {
        run.id: value_by_prompt(column)
        for run in runs
        if (column := table.series.get(SeriesKey(run.id, *choice.score)))
    }
    order = _order(choice, table, changes, second, data)
    rows = _rows(choice, data, table, summaries, columns, changes, order[choice.start : choice.start + ROWS])
    other = None if choice.other is None else choice.labels[choice.other]
    means = [
        (
            choice.labels[index],
            number(item.mean, summaries.decimals) if item else "",
            interval(item.interval, summaries.decimals) if item and item.interval else "",
            item.n if item else 0,
            index,
        )
        for index, item in zip(choice.positions, summaries.summaries, strict=True)
    ]
    merits = [change.merit for change in changes.values()]
    chosen = summaries.summaries[choice.positions.index(choice.position)]
    return respond(
        request,
        "grid.html.j2",
        title=words.PAGES["/grid"],
        plan=choice.plan,
        notes=[words.grid_size(len(order), len(choice.runs)), data.name],
        choice=choice,
        other=other,
        means=means,
        rows=rows,
        count=len(order),
        end=min(choice.start + ROWS, len(order)),
        page_size=ROWS,
        problem=problem,
        compare_url=address(
            "/compare",
            {
                "plan": choice.plan,
                "a": other,
                "b": choice.labels[choice.position],
                "score": choice.score.address,
            },
        ),
        second=second,
        sentence=words.grid_sentence(choice.labels[choice.position], other, merits) if changes else "",
        signature=" + ".join(chosen.signatures) if chosen else "",
        link=lambda **values: address("/grid", {**request.query_params, **values}),
        refreshes=choice.is_computing,
    )


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else default


def _second(choice: Choice) -> AnswerScore | None:
    """Return the score with which the chosen one may disagree: a judge's beside a scorer's."""
    others = [
        item
        for item in choice.scores
        if item.id.task == choice.score.id.task and item.kind != choice.score.kind
    ]
    return next((item for item in others if item.id.part == LEVEL), others[0] if others else None)


def _summaries(choice: Choice, data: StoreData, runs: Sequence[Run]) -> ScoreSummaries | None:
    """Return mean and interval of the chosen score at checkpoints; None if none has it."""
    return data.kept(("means", choice.score), runs, lambda: _summaries_of(data, runs, choice.score))


def _summaries_of(
    source: StoreData | Store, runs: Sequence[Run], score: AnswerScore
) -> ScoreSummaries | None:
    tasks = task_scores(runs, source.table(runs, [score.id]))
    return next((item for task in tasks for item in task.scores if item.id == score.id), None)


def _changes(choice: Choice, table: ScoreTable, data: StoreData) -> tuple[dict[str, PromptChange], str]:
    """Return the change of each prompt from the other checkpoint, or why there is none."""
    if choice.other is None or choice.other == choice.position:
        return {}, ""
    pair = choice.runs[choice.other], choice.run
    labels = choice.labels[choice.other], choice.labels[choice.position]
    summaries = _summaries(choice, data, pair)
    problem = scoring_conflict(summaries, labels) if summaries and all(summaries.summaries) else ""
    if problem:
        return {}, problem
    changes = prompt_changes(table, (pair[0].id, pair[1].id), *choice.score)
    return {item.sample_id: item for item in changes}, ""


def _order(
    choice: Choice,
    table: ScoreTable,
    changes: dict[str, PromptChange],
    second: AnswerScore | None,
    data: StoreData,
) -> list[str]:
    """Return the prompts in the order of the page; those without a value to sort by come last."""
    column = table.series.get(SeriesKey(choice.run.id, *choice.score))
    names = list(dict.fromkeys(name for name in (column.sample_ids if column else ()) if name is not None))
    if choice.sort == "disagreement" and second:
        both = data.table([choice.run], [choice.score.id, second.id])
        rows = disagreements(both, [choice.run.id], choice.score, second, by_place=True)
        first = list(dict.fromkeys(row.sample_id for row in rows))
    elif choice.sort == "spread" and column:
        answers = _answer_values(column)
        first = sorted(answers, key=lambda name: min(answers[name]) - max(answers[name]))
    elif choice.sort in ("drop", "rise") and changes:
        first = list(changes) if choice.sort == "drop" else list(reversed(changes))
    else:
        first = []
    return list(dict.fromkeys([*first, *names]))


def _answer_values(column: Column) -> dict[str, list[float]]:
    """Return the values of the answers to each prompt."""
    values: dict[str, list[float]] = {}
    for name, value in zip(column.sample_ids, column.values, strict=True):
        if name is not None and value is not None:
            values.setdefault(name, []).append(value)
    return values


def _rows(
    choice: Choice,
    data: StoreData,
    table: ScoreTable,
    summaries: ScoreSummaries,
    columns: Mapping[str, Mapping[str | None, float]],
    changes: Mapping[str, PromptChange],
    names: Sequence[str],
) -> list[Row]:
    runs = [choice.runs[index] for index in choice.positions]
    task = choice.score.id.task
    inputs = prompts(data.store, choice.run, task, names)
    answers = texts(data.store, runs if choice.marks_repeats else [choice.run], task, names)
    repeated = _repeated(choice, answers) if choice.marks_repeats else {}
    seen = [value for column in columns.values() for value in column.values()]
    low, span = min(seen, default=0.0), max(seen, default=0.0) - min(seen, default=0.0)
    largest = max((abs(change.merit) for change in changes.values()), default=0.0) or 1.0
    column = table.series.get(SeriesKey(choice.run.id, *choice.score))
    values = _answer_values(column) if column else {}
    urls = {
        run.id: address("/answer", {"run": run.id, "task": task, "score": choice.score.address})
        for run in runs
    }

    def cell(run: Run, name: str) -> Cell:
        value = columns.get(run.id, {}).get(name)
        url = f"{urls[run.id]}&sample={quote_plus(name)}"
        shade = 0 if value is None or not span else min(int((value - low) / span * SHADES), SHADES - 1)
        text = "" if value is None else number(value, summaries.decimals)
        return Cell(text, shade, url, run.id == choice.run.id, repeated.get((run.id, name), ""))

    rows = []
    for name in names:
        change = changes.get(name)
        shares = [(value - low) / span if span else 0.5 for value in values.get(name, ())]
        rows.append(
            Row(
                sample_id=name,
                prompt=inputs.get(name, name),
                cells=[cell(run, name) for run in runs],
                change=change.change if change else None,
                merit=change.merit / largest if change else 0.0,
                text=minus(signed(change.change, summaries.decimals)) if change else "",
                answers=_collapsed(shares, answers.get((choice.run.id, name), ())),
            )
        )
    return rows


def _collapsed(shares: Sequence[float], answers: Sequence[str]) -> list[Answer]:
    """Return the answers of a prompt, those with one text together."""
    if len(shares) != len(answers):  # an answer without a score has no place
        return [Answer(share, 1) for share in shares]
    counts: dict[tuple[float, str], int] = {}
    for key in zip(shares, answers, strict=True):
        counts[key] = counts.get(key, 0) + 1
    return [Answer(share, count) for (share, _), count in counts.items()]


def _repeated(choice: Choice, answers: Mapping[tuple[str, str], Sequence[str]]) -> dict[tuple[str, str], str]:
    """Return, for the cells whose answer nearly repeats that of another cell, where that stands."""
    labels = {run.id: label for run, label in zip(choice.runs, choice.labels, strict=True)}
    keys = [key for key, group in answers.items() for _ in group]
    duplicates = near_duplicates([text for group in answers.values() for text in group])
    repeated: dict[tuple[str, str], str] = {}
    for key, duplicate in zip(keys, duplicates, strict=True):
        if duplicate is not None and keys[duplicate.of] != key:
            run_id, sample_id = keys[duplicate.of]
            repeated.setdefault(key, f"{labels[run_id]} {sample_id}")
    return repeated


routes = [Route("/grid", show)]
