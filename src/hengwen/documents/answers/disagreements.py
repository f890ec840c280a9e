"""The answers on which a judge disagrees most with a scorer, or with people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.documents.answers.outcomes import answer_key
from hengwen.documents.answers.sources import SourceKey
from hengwen.documents.blocks import Cell, Chart, Column, Details, Point, Sentence, Series
from hengwen.documents.cells import count_cell, left, number_cell, right, table_of
from hengwen.results.answers_to_read import disagreements
from hengwen.stats.difference_interval import average_ranks
from hengwen.text.language import Bilingual, say
from hengwen.text.numbers import count, interval, minus, number, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.blocks import Block
    from hengwen.records import Run
    from hengwen.results.answers_to_read import Disagreement
    from hengwen.results.score_summaries import ScoreSummaries, TaskScores
    from hengwen.results.score_table import ScoreTable

MAX_SHOWN = 5
"""Number of answers that are shown for two scores."""
NOTE = say(
    "Place: 0 is the worst of the answers that have both scores, 1 the best; the difference is "
    "the second minus the first."
)


def disagreement_details(
    tasks: Sequence[TaskScores], runs: Sequence[Run], labels: Sequence[str], table: ScoreTable
) -> Iterator[Details]:
    """Yield, for each judge and scorer and for each judge and people, the answers with the largest gap."""
    for task in tasks:
        judged = [score for score in task.tested if score.kind == "judge"]
        scored = [score for score in task.tested if score.kind == "scorer"]
        people = [group[-1] for group in task.human_pairs]
        for pair in [(scorer, other) for other in (*judged, *people) for scorer in scored]:
            yield from _details(task.name, pair, runs, labels, table, by_place=True)
        for group in task.human_pairs:
            *given, human = group
            for judge in given:
                yield from _details(task.name, (human, judge), runs, labels, table, by_place=False)


def _details(
    task: str,
    pair: tuple[ScoreSummaries, ScoreSummaries],
    runs: Sequence[Run],
    labels: Sequence[str],
    table: ScoreTable,
    *,
    by_place: bool,
) -> Iterator[Details]:
    first, second = ((score.id, score.kind) for score in pair)
    rows = disagreements(table, [run.id for run in runs], first, second, by_place=by_place)
    differing = [row for row in rows if row.difference]
    is_constant = 1 in (len({row.first for row in rows}), len({row.second for row in rows}))
    if not differing or (by_place and is_constant):  # equal values have no places
        return
    names = {run.id: label for run, label in zip(runs, labels, strict=True)}
    decimals = 2 if by_place else pair[1].decimals
    key = f"{pair[1].address}/against/{pair[0].name}"

    def prompt(row: Disagreement) -> Cell:
        answer = SourceKey(row.run_id, task, row.sample_id, row.repeat)
        return Cell(text=row.sample_id, link=answer_key(answer))

    def difference(row: Disagreement) -> Cell:
        return Cell(text=minus(signed(row.difference, decimals)), values={"": row.difference})

    values = [Column(key=score.name, head=score.name, align="right") for score in pair]
    head = ("位次差", "difference of places") if by_place else ("差", "difference")
    largest = table_of(
        differing[:MAX_SHOWN],
        (left("checkpoint", "检查点", "checkpoint"), lambda row: Cell(text=names[row.run_id])),
        (left("prompt", "题目", "prompt"), prompt),
        (right("repeat", "第几次", "answer"), lambda row: count_cell(row.repeat)),
        (values[0], lambda row: number_cell(row.first, pair[0].decimals)),
        (values[1], lambda row: number_cell(row.second, pair[1].decimals)),
        (right("difference", *head), difference),
        key=key,
        notes=(NOTE,) if by_place else (),
    )
    yield Details(
        title=_title(pair, len(differing), len(rows), by_place),
        blocks=(*_scatter(key, pair, rows), largest),
        is_open=False,
        key=f"{key}/part",
    )


def _scatter(
    key: str, pair: tuple[ScoreSummaries, ScoreSummaries], rows: Sequence[Disagreement]
) -> Iterator[Block]:
    """Yield the rank correlation of two scores of the same answers, and their values as a scatter."""
    from hengwen.judges.trust.biases import length_bias

    first, second = [row.first for row in rows], [row.second for row in rows]
    signs = [1 if score.higher_is_better else -1 for score in pair]
    ranks = average_ranks(np.array(first) * signs[0]).tolist()
    bias = length_bias(
        ranks, [value * signs[1] for value in second], clusters=[row.sample_id for row in rows]
    )
    zh, en = "没有相关可言：一项的值全部相同", "no correlation: all values of one score are equal"
    if bias.rho is not None:
        ends = f" {minus(interval(bias.interval, 2))}" if bias.interval else ""
        zh = en = f"Spearman {minus(number(bias.rho, 2))}{ends}"
    text = Bilingual(
        f"{zh}；{count(bias.n)} 条回答，{count(bias.clusters)} 题，各检查点合在一起。",
        f"{en}; {count(bias.n)} answers to {count(bias.clusters)} prompts, all checkpoints together.",
    )
    yield Sentence(text=text)
    yield Chart(
        key=f"{key}/scatter",
        title=say("{name} (y); a larger dot: more answers", name=pair[1].name),
        series=(
            Series(
                name="",
                points=tuple(Point(x=row.first, label=row.sample_id, value=row.second) for row in rows),
            ),
        ),
        description=text,
        is_in_table=True,
        x_title=pair[0].name,
    )


def _title(
    pair: tuple[ScoreSummaries, ScoreSummaries], differing: int, total: int, by_place: bool
) -> Bilingual:
    if by_place:
        return say("Where {name} and {name2} disagree most", name=pair[1].name, name2=pair[0].name)
    return say(
        "Where {name} and people disagree most: {differing} of {total} answers",
        name=pair[1].name,
        differing=count(differing),
        total=count(total),
    )
