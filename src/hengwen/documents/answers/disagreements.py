"""The answers on which a judge disagrees most with a scorer, or with people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.documents.answers.outcomes import answer_key
from hengwen.documents.answers.source import SourceKey
from hengwen.documents.blocks import Cell, Chart, Column, Details, Point, Sentence, Series, Table
from hengwen.results.disagreements import disagreements
from hengwen.stats.difference_interval import average_ranks
from hengwen.text.language import Bilingual
from hengwen.text.numbers import count, interval, minus, number, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.blocks import Block
    from hengwen.records import Run
    from hengwen.results.disagreements import Disagreement
    from hengwen.results.score_summaries import ScoreSummaries, TaskScores
    from hengwen.results.score_table import ScoreTable

MAX_SHOWN = 5
"""Number of answers that are shown for two scores."""
NOTE = Bilingual(
    "位次：0 为两项分数都有的回答中最差，1 为最好；差为后一项减前一项。",
    "Place: 0 is the worst of the answers that have both scores, 1 the best; the difference is the second "
    "minus the first.",
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
    largest = Table(
        key=key,
        columns=(
            Column(key="checkpoint", head=Bilingual("检查点", "checkpoint")),
            Column(key="prompt", head=Bilingual("题目", "prompt")),
            Column(key="repeat", head=Bilingual("第几次", "answer"), align="right"),
            *(Column(key=score.name, head=score.name, align="right") for score in pair),
            Column(
                key="difference",
                head=Bilingual("位次差", "difference of places")
                if by_place
                else Bilingual("差", "difference"),
                align="right",
            ),
        ),
        rows=tuple(
            (
                Cell(text=names[row.run_id]),
                Cell(
                    text=row.sample_id,
                    link=answer_key(SourceKey(row.run_id, task, row.sample_id, row.repeat)),
                ),
                Cell(text=str(row.repeat), values={"": row.repeat}),
                Cell(text=number(row.first, pair[0].decimals), values={"": row.first}),
                Cell(text=number(row.second, pair[1].decimals), values={"": row.second}),
                Cell(text=minus(signed(row.difference, decimals)), values={"": row.difference}),
            )
            for row in differing[:MAX_SHOWN]
        ),
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
        title=Bilingual(
            f"{pair[1].name}（纵）；点越大，回答越多", f"{pair[1].name} (y); a larger dot: more answers"
        ),
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
        return Bilingual(
            f"{pair[1].name} 与 {pair[0].name} 分歧最大的回答",
            f"Where {pair[1].name} and {pair[0].name} disagree most",
        )
    return Bilingual(
        f"{pair[1].name} 与人分歧最大的回答：{count(total)} 条中 {count(differing)} 条不同",
        f"Where {pair[1].name} and people disagree most: {count(differing)} of {count(total)} answers",
    )
