"""One fixed report that every face shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from score_rows import by_score, row_of

from hengwen.documents.answers.sources import AnswerList, AnswerRecord
from hengwen.documents.run.report import ReportData
from hengwen.records import Failure, Outcome, Row, Run, Scale, Score, Usage
from hengwen.results.score_table import ScoreTable
from hengwen.store.queries import ModelCalls

HUNDRED = Scale(low=0, high=100)
UNIT = Scale(low=0, high=1, levels=(0, 0.25, 0.5, 0.75, 1))
ERRORS = Scale(low=0, high=10, higher_is_better=False)
TOTALS = {
    "base": (60.0, 64.0, 70.0, 66.0),
    "sft": (72.0, 75.0, 80.0, 77.0),
    "rl": (81.0, 83.0, 90.0, 86.0),
    "rl-long": (74.0, 80.0, 79.0, 75.0),
}
LEVELS = {
    "base": (0.25, 0.5, 0.5, 0.25),
    "sft": (0.75, 0.75, 1.0, 0.75),
    "rl": (0.25, 0.25, 0.0, 0.25),
    "rl-long": (0.5, None, 0.5, 0.25),
}
RULES = "lyric_craft|rubric:1|rules|v:1"


def outcomes_of(checkpoint: str, prompt: int, suffix: str = "") -> tuple[Outcome, ...]:
    """All outcomes of one answer; the suffix goes wherever untrusted text could go."""
    level = LEVELS[checkpoint][prompt]
    judged: Outcome
    if level is None:
        message = f"no level in the reply{suffix}"
        judged = Failure(
            name="lyric_craft.level", status="parse_error", message=message, signature=RULES, kind="judge"
        )
    else:
        judged = Score(
            name="lyric_craft.level",
            value=level,
            scale=UNIT,
            kind="judge",
            signature=RULES,
            reason=f"段落齐全{suffix}",
        )
    code = "lyric|rules:document|v:1"
    return (
        Score(name="lyric.total", value=TOTALS[checkpoint][prompt], scale=HUNDRED, signature=code),
        Score(name=f"lyric.errors{suffix}", value=float(prompt), scale=ERRORS, signature=code),
        judged,
        Failure(
            name="lyric_craft.imagery",
            status="not_applicable",
            message="needs a model",
            signature=RULES,
            kind="judge",
        ),
    )


def rows_of(run: Run, task: str, suffix: str) -> list[Row]:
    """The rows of one run: four prompts, human labels for two, two anchors and a value of the set."""
    key: dict[str, Any] = {"run_id": run.id, "task": task, "checkpoint": run.checkpoint, "repeat": 1}
    name = run.checkpoint.removesuffix(suffix)
    rows = [
        row_of(**key, sample_id=f"p{i}", cluster=f"p{i}", outcome=outcome)
        for i in range(4)
        for outcome in outcomes_of(name, i, suffix)
    ]
    human: dict[str, Any] = {
        "name": "human.lyric_craft.level",
        "kind": "human",
        "signature": "human|v:1",
        "scale": UNIT,
    }
    anchor: dict[str, Any] = {
        "name": "anchor.lyric_craft.level",
        "kind": "judge",
        "signature": RULES,
        "scale": UNIT,
    }
    for i in range(2):
        rows.append(row_of(**key, sample_id=f"p{i}", cluster=f"p{i}", outcome=Score(value=0.5, **human)))
        rows.append(row_of(**key, sample_id=f"a{i}", cluster=f"a{i}", outcome=Score(value=i / 4, **anchor)))
    version = "1" if run.order < 2 else "2"
    whole = Score(
        name="distinct_n.distinct_2", value=0.5 + run.order / 8, signature=f"distinct_n|v:{version}"
    )
    rows.append(row_of(**{**key, "repeat": None}, sample_id=None, cluster="", outcome=whole))
    return rows


def make_data(suffix: str = "", text: str = "(verse)\n  山水之间  ") -> ReportData:
    """The fixed report; the suffix and the text stand for untrusted text."""
    runs = tuple(
        Run(
            id=f"run-{i}{suffix}",
            plan="songs",
            plan_hash="",
            checkpoint=f"{name}{suffix}",
            order=i,
            step=None if i == 0 else i * 1000,
            started=f"2026-01-0{i + 1}T08:00:00Z",
            versions={"hengwen": "0.1.0"},
            status="interrupted" if name == "rl-long" else "finished",
        )
        for i, name in enumerate(TOTALS)
    )
    task = f"lyrics{suffix}"
    answers = tuple(
        AnswerRecord(
            run_id=run.id,
            task=task,
            checkpoint=run.checkpoint,
            sample_id=f"p{i}{suffix}",
            repeat=repeat,
            input=f"写一首歌{suffix}",
            text=text,
            outcomes=by_score(*outcomes_of(run.checkpoint.removesuffix(suffix), i, suffix), task=task),
        )
        for run in runs
        for i in range(4)
        for repeat in (1, 2)
    )
    return ReportData(
        plan=f"songs{suffix}",
        runs=runs,
        table=ScoreTable(row for run in runs for row in rows_of(run, task, suffix)),
        usage={f"judge{suffix}": Usage(calls=1234, input_tokens=56789, output_tokens=10)},
        calls=(
            ModelCalls(f"judge{suffix}", f"m-1{suffix}", 1234, 2, 56789, 10, 1.25),
            ModelCalls("subject", "", 0, 3, 0, 0, None),
        ),
        warnings=(f"prompts.jsonl:3: template without sections{suffix}",),
        answers=AnswerList(answers),
        created="2026-01-05T00:00:00Z",
        version="0.1.0",
    )


def long_data(names: Sequence[str]) -> ReportData:
    """A report of many checkpoints: a score that rises and falls, and a judge of five levels."""
    runs = tuple(
        Run(id=f"r{i}", plan="long", plan_hash="", checkpoint=name, order=i, step=500 * (i + 1))
        for i, name in enumerate(names)
    )
    table = ScoreTable()
    for i, run in enumerate(runs):
        for prompt in range(12):
            form = 60 + i - i * i / len(runs) + (17 * prompt + 7 * i) % 23
            craft = (i * 4 // len(runs) + (prompt + i) % 3 // 2) / 4
            for score in (
                Score(name="lyric.total", value=form, signature="l", scale=Scale(low=0, high=110)),
                Score(name="craft.level", value=craft, signature="c", scale=UNIT, kind="judge"),
            ):
                names_of = {"checkpoint": run.checkpoint, "sample_id": f"p{prompt}", "cluster": f"p{prompt}"}
                table.add(row_of(run_id=run.id, task="t", repeat=1, outcome=score, **names_of))
    return ReportData(plan="long", runs=runs, table=table)
