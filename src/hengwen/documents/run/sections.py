"""The sections of the document of runs: what got worse, course, tables, judges and calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hengwen.documents.answers.pairs import KEY_END, WorsePrompts
from hengwen.documents.blocks import Block, Cell, Details, Sentence, Table
from hengwen.documents.cells import left, number_cell, right, score_names, thousands_cell
from hengwen.documents.run.courses import score_chart
from hengwen.documents.run.failures import failure_details
from hengwen.documents.run.report import Report
from hengwen.documents.run.tables import level_table, score_table, trajectory_table
from hengwen.engine.metered_backend import Price
from hengwen.monitoring.judge_trust import JudgeTrust
from hengwen.records import Usage
from hengwen.relevance_metrics.sequence_metrics import MAIN_METRICS
from hengwen.relevance_metrics.trajectory import MIN_WINDOWS
from hengwen.results.decide import ScoreDecision
from hengwen.results.score_summaries import ScoreSummaries, TaskScores
from hengwen.store.queries import ModelCalls
from hengwen.text.language import LIST_COMMA, say
from hengwen.text.numbers import NOTHING, number

CHANGES = say("Changes by prompt")
"""Title where no score is shown to have fallen."""
COST_NOTE = say(
    "Cost at the prices that the run knew (plan, --price or list), as single calls; batches cost less."
)
HUMAN_NOTE = say(
    "Human columns contain only the labelled answers, judge columns all answers; the line of the "
    "judge above says how well they agree."
)
ANCHOR_NOTE = say(
    "Anchors are fixed answers that are judged again in every run: a change in this column is a "
    "change of the judge, not of the model."
)
COURSE_NOTE = say(
    "x: training step at true distances, or the order where steps are not known. y: the range of "
    "the intervals seen of this score, so the band fills the height: a line that stays inside "
    "its band is no news. ◆ best seen, ○ newest, ▼ fallen from the best seen before."
)


def worse_details(report: Report) -> Iterator[Details]:
    """Yield the part of a report on what got worse; nothing if no two checkpoints share a prompt."""
    data = report.data
    prompts = WorsePrompts(data.answers, data.table, report.answers.size, report.answers.command)
    fallen: list[Block] = []
    others: list[Block] = []
    for task in report.tasks:
        for score in task.tested:
            compared = _compared(report, report.decisions.get(score.address))
            if compared is None or score.kind == "human":
                continue
            has_fallen = compared[2]
            blocks = prompts.blocks(
                score,
                (data.runs[compared[0]].id, data.runs[compared[1]].id),
                (report.labels[compared[0]], report.labels[compared[1]]),
                task.scores,
                has_fallen=has_fallen,
            )
            (fallen if has_fallen else others).extend(blocks)
    title = say("What got worse") if fallen else CHANGES
    if fallen or others:
        yield Details(title=title, blocks=(*fallen, *others), key="changes")


def change_links(changes: Sequence[Details]) -> Mapping[str, str]:
    """Return the key of the part on each score, by the address of the score."""
    keys = [block.key for part in changes for block in part.blocks if isinstance(block, Details)]
    return {key.removesuffix(KEY_END): key for key in keys if key.endswith(KEY_END)}


def _compared(report: Report, decision: ScoreDecision | None) -> tuple[int, int, bool] | None:
    """Return the best run seen, else the baseline or the first; the newest; and whether that is worse."""
    last = len(report.labels) - 1
    if last < 1:
        return None
    if decision is not None and decision.peak:
        return report.labels.index(decision.peak), last, decision.newest == "worse"
    ids = [run.id for run in report.data.runs]
    first = ids.index(report.data.baseline) if report.data.baseline in ids[:-1] else 0
    return first, last, False


def course_section(report: Report) -> Iterator[Details]:
    """Yield the courses of the headline scores, if there are several checkpoints."""
    scores = [score for task in report.tasks for score in task.headlines]
    if len(report.data.runs) < 2 or not scores:
        return
    names = score_names((score.address for score in report.scores), report.data.runs)
    blocks: list[Block] = [
        Sentence(text=COURSE_NOTE, is_note=True),
        *(
            score_chart(
                f"{score.address}/chart", score, names[score.address].head, report, _anchor(score, report)
            )
            for score in scores
        ),
    ]
    if any(_anchor(score, report) for score in scores):
        blocks.append(Sentence(text=ANCHOR_NOTE, is_note=True))
    blocks += _order(report)
    yield Details(title=say("Course"), blocks=tuple(blocks), key="course")


def _anchor(score: ScoreSummaries, report: Report) -> ScoreSummaries | None:
    """Return what the judge of a score gave to the anchors."""
    if score.kind != "judge":
        return None
    frozen = score.id.about("anchor")
    return next((item for item in report.scores if item.id == frozen and item.kind == "judge"), None)


def _order(report: Report) -> Iterator[Block]:
    """Yield what the order of the means says, or that there are too few checkpoints to say it."""
    paths = [path for path in report.trajectories.values() if path.is_compared]
    if not paths or all(path.too_short for path in paths):
        n, symbols = len(report.data.runs), [metric.symbol for metric in MAIN_METRICS]
        yield Sentence(
            text=say(
                "The order of the means ({symbols}) says nothing with {n} checkpoints: {min_windows} windows "
                "are needed.",
                symbols=LIST_COMMA.join(symbols),
                n=n,
                min_windows=MIN_WINDOWS,
            ),
            is_note=True,
        )


def tables_section(report: Report) -> Details:
    """Return the tables of scores, those of each task together."""
    tasks = tuple(_task(task, report) for task in report.tasks)
    return Details(title=say("Tables"), blocks=tasks, key="tables")


def _task(task: TaskScores, report: Report) -> Details:
    blocks: list[Block] = []
    if task.headlines:
        blocks.append(score_table(f"{task.name}/headline", task.headlines, report))
        judged = [score for score in task.headlines if score.kind == "judge"]
        blocks += [table for score in judged if (table := level_table(score, report)) is not None]
        if len(report.data.runs) > 1:
            title = say("Order of the means")
            table = trajectory_table(f"{task.name}/trajectory", task.headlines, report)
            blocks.append(Details(title=title, blocks=(table,), is_open=False))
    blocks += [_restated(score) for score in task.scores if score.restates]
    if task.others:
        blocks.append(_others(task, report))
    return Details(title=say("{name} task", name=task.name), blocks=tuple(blocks))


def _restated(score: ScoreSummaries) -> Sentence:
    """Say that a score is shown once, because another one is the same number."""
    scale = f"{score.scale.low:g}–{score.scale.high:g}" if score.scale else ""
    text = say(
        "{name} is the same number as {restates}, on {scale}; it is among the other scores.",
        name=score.name,
        restates=score.restates,
        scale=scale,
    )
    return Sentence(text=text, is_note=True)


def judges_section(report: Report) -> Details:
    """Return how judges compare with people and with themselves, what failed, and what it cost."""
    blocks = (block for task in report.tasks for block in _judged(task, report))
    return Details(
        title=say("Judges"),
        blocks=(*blocks, failure_details(report), *call_details(report)),
        key="judges",
    )


def _judged(task: TaskScores, report: Report) -> Iterator[Block]:
    if task.human_pairs:
        pairs = [score for pair in task.human_pairs for score in pair]
        title = say("Judge versus humans")
        yield score_table(f"{task.name}/human", pairs, report, title)
        yield Sentence(text=HUMAN_NOTE, is_note=True)
    if task.anchors:
        yield score_table(f"{task.name}/anchors", task.anchor_heads, report, say("Anchors"))
        yield Sentence(text=ANCHOR_NOTE, is_note=True)
    further = [score for score in task.anchors if score not in task.anchor_heads]
    if further:
        title = say("Other anchor scores · {further}", further=len(further))
        table = score_table(f"{task.name}/other-anchors", further, report)
        yield Details(title=title, blocks=(table,), is_open=False)


def _others(task: TaskScores, report: Report) -> Details:
    """Return the scores that are not in the first table, in one table for each scorer or judge."""
    sources: dict[str, list[ScoreSummaries]] = {}
    for score in task.others:
        sources.setdefault(score.id.source, []).append(score)
    tables = [
        score_table(f"{task.name}/{source}", scores, report, source) for source, scores in sources.items()
    ]
    if len(report.data.runs) > 1:
        tables.append(trajectory_table(f"{task.name}/other-trajectories", task.others, report))
    title = say("Other scores · {others}", others=len(task.others))
    return Details(title=title, blocks=tuple(tables), is_open=False)


def call_details(report: Report) -> Iterator[Details]:
    """Yield the table of calls, if there were any."""
    if not report.data.calls:
        return
    rows = tuple(_cells(item, report) for item in report.data.calls)
    table = Table(
        key="usage",
        columns=(
            left("role", "角色", "role"),
            left("judges", "评审", "judges"),
            left("model", "模型", "model"),
            right("calls", "调用", "calls"),
            right("failed_attempts", "失败的尝试", "failed attempts"),
            right("input_tokens", "输入", "input tokens"),
            right("output_tokens", "输出", "output tokens"),
            right("cost", "费用", "cost"),
            right("seconds", "平均用时，秒", "mean latency, s"),
        ),
        rows=rows,
        notes=(COST_NOTE,) if any(row[-2].text != NOTHING for row in rows) else (),
    )
    yield Details(title=say("Calls, cost and latency"), blocks=(table,))


def _cells(item: ModelCalls, report: Report) -> tuple[Cell, ...]:
    judges = [judge for judge in report.judges if item.role == "judge" and item.model in judge.models]
    price = _price(item, judges, report.data.runs[-1].facts)
    usage = Usage(calls=item.calls, input_tokens=item.input_tokens, output_tokens=item.output_tokens)
    cost = None if price is None else price.cost(usage)
    unit = f" {price.currency}" if price and price.currency else ""
    return (
        Cell(text=item.role),
        Cell(text=", ".join(f"{judge.task}/{judge.judge}" for judge in judges) or NOTHING),
        Cell(text=item.model or NOTHING),
        *map(thousands_cell, (item.calls, item.failed, item.input_tokens, item.output_tokens)),
        Cell(
            text=NOTHING if cost is None else f"{number(cost, 2 if cost >= 1 else 4)}{unit}",
            values={"": cost, "currency": price.currency if price else None},
        ),
        number_cell(item.seconds, 2),
    )


def _price(item: ModelCalls, judges: Sequence[JudgeTrust], facts: Mapping[str, Any]) -> Price | None:
    """Return the price that the judges of these calls had; None if they had none, or several."""
    prices: set[Price | None] = set()
    for judge in judges:
        settings = facts.get("tasks", {}).get(judge.task, {}).get("judges", {}).get(judge.judge, {})
        of_judge = list(zip(settings.get("models", ()), settings.get("prices", ()), strict=False))
        # a server may return a longer name, with the date of the model; of a panel, only its own price counts
        own = [price for model, price in of_judge if len(of_judge) == 1 or item.model.startswith(model)]
        prices.update(Price(**price) if price else None for price in own or (None,))
    return prices.pop() if len(prices) == 1 else None
